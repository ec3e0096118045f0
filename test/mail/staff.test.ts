// The letters to merchants and to administrators: each leaves once, to whom it is for, with the words it is for, and as chosen.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { keepVerification } from '../../src/journal/background-verification.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/time.ts';
import { keepChoices } from '../../src/mail/choices.ts';
import { addPerson } from '../support/admin.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import {
  assertSameWords,
  lettersOf,
  type MailServer,
  startMailServer,
  type Taken,
} from '../support/mail-server.ts';
import { editOutside } from '../support/outside.ts';
import { sayOf } from '../support/store-merchant.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually, until } from '../support/waiting.ts';
import { answering, WebhookReceiver } from '../support/webhook-receiver.ts';

const MERCHANT = 'owner@corner.example';
const SHOP = { business_name: 'Corner Shop', email: MERCHANT, website: null };

const digestsOf = async (harness: Harness) =>
  (await lettersOf(harness)).filter(({ kind }) => kind === 'queue_digest');

/** Waits until the worker has looked at the history and at the clock, as they are now, and has sent what is due. */
async function settled(harness: Harness, server: MailServer): Promise<void> {
  const to = `settled-${server.taken.length}-${Math.random()}@example.com`;
  const { id } = await harness.create({ customer: { email: to }, expires_in: 30 * 86_400 });
  await harness.request(`/v1/payments/${id}/send_link`, { method: 'POST' });
  await eventually(() => server.taken.some((one) => one.to[0] === to));
  const now = harness.clock.now();
  await eventually(async () => (await lettersOf(harness)).every(({ due_at }) => (due_at ?? now + 1) > now));
}

const lettersTo = (server: MailServer, address: string): Taken[] =>
  server.taken.filter(({ to }) => to[0] === address);

/** The letters, and what each comes of. */
const TO_MERCHANTS: {
  kind: string;
  subject: RegExp;
  says: RegExp[];
  act(harness: Harness, key: string, receiver: WebhookReceiver): Promise<unknown>;
}[] = [
  {
    kind: 'needs_attention',
    subject: /^A payment waits for its review: €49\.90 \(ORDER-1\)$/,
    says: [/Two loaves/, /An administrator of this installation decides/],
    act: async (harness, key) => {
      const asked = {
        currency: 'EUR',
        merchant_reference: 'ORDER-1',
        description: 'Two loaves',
        expires_in: 30 * 86_400,
      };
      const { id } = await harness.create(asked, { key });
      await harness.request(`/v1/test/payments/${id}/submit`, { method: 'POST', key });
    },
  },
  {
    kind: 'link_requested',
    subject: /^A customer asks for a new link: €49\.90 \(ORDER-2\)$/,
    says: [/Create a payment with the same reference/],
    act: async (harness, key) => {
      const { id } = await harness.create({ currency: 'EUR', merchant_reference: 'ORDER-2' }, { key });
      for (const one of ['expire', 'request_link'])
        await harness.request(`/v1/test/payments/${id}/${one}`, { method: 'POST', key });
    },
  },
  {
    kind: 'key_made',
    subject: /^A new test API key was made$/,
    says: [/Name: Cash desk/, /revoke the key at once/],
    act: (harness, key) =>
      harness.request('/v1/api_keys', { method: 'POST', key, body: { name: 'Cash desk' } }),
  },
  {
    kind: 'webhook_failing',
    subject: /^Your webhook endpoint fails$/,
    says: [/Every delivery since .* has failed/, /deliveries tells what your server answered/],
    act: async (harness, key, receiver) => {
      receiver.reply = answering(500);
      const path = '/v1/webhook_endpoints';
      const known = (await harness.request(path, { key })).json.data.length > 0;
      if (!known) await harness.request(path, { method: 'POST', key, body: { url: receiver.url() } });
      await harness.create({ expires_in: 30 * 86_400 }, { key });
      const { database } = harness.service;
      const failing = 'select failing_since from webhook_queues where failing_since > 0';
      await until(
        () => database.query(failing),
        ({ length }) => length > 0,
      );
      harness.clock.advance(31 * MINUTE_MS);
    },
  },
];

describe('letters to merchants', () => {
  test('each leaves once, to the address of the merchant alone, and none that it does not want', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', { configuration: server.configuration });
    const receiver = await WebhookReceiver.start();
    try {
      const made = await harness.request('/register', { method: 'POST', key: null, body: SHOP });
      const { merchant, api_key: key } = made.json.data;
      await sayOf(harness, merchant.id, { letters_off: TO_MERCHANTS.map(({ kind }) => kind) });
      for (const { act } of TO_MERCHANTS) await act(harness, key, receiver);
      await settled(harness, server);
      assert.deepEqual(
        lettersTo(server, MERCHANT),
        [],
        'neither of what it does not want nor of its first key',
      );
      await sayOf(harness, merchant.id, { letters_off: [] });
      for (const { kind, subject, says, act } of TO_MERCHANTS) {
        const found = () => lettersTo(server, MERCHANT).filter(({ letter }) => subject.test(letter.subject!));
        await act(harness, key, receiver);
        await eventually(() => found().length > 0);
        for (const minutes of [2, 60]) {
          harness.clock.advance(minutes * MINUTE_MS);
          await settled(harness, server);
        }
        const [{ letter } = { letter: undefined }, ...more] = found();
        assert.deepEqual(more, [], `${kind} once`);
        assert.equal(letter!.from!.value[0]!.name, 'Counterfoil');
        assert.equal(letter!.headers.has('list'), false);
        for (const wanted of [...says, /address is that of the merchant Corner Shop/])
          assert.match(letter!.text!, wanted, kind);
        assertSameWords(letter!);
      }
      assert.equal(lettersTo(server, MERCHANT).length, TO_MERCHANTS.length);
    } finally {
      await receiver.close();
    }
  });
});

/** A harness at noon; without backups and with a fault in its last verification, if asked for. */
async function installation(server: MailServer, { isWrong = false } = {}): Promise<Harness> {
  const store = await temporaryStore('sqlite');
  const backups = join(store.storage, 'no-backups');
  const configuration = server.configuration + (isWrong ? `backups: ${backups}\n` : '');
  if (isWrong) keepVerification(store.storage, { at: Date.now(), intact: false, acknowledged: 0 });
  const harness = await startHarness('sqlite', { store, configuration });
  harness.clock.stop();
  // Noon of the next day: later than any hour that letters wait for.
  harness.clock.advance(DAY_MS - (harness.clock.now() % DAY_MS) + 12 * HOUR_MS);
  await settled(harness, server); // the worker has seen that while there is nobody to write to
  return harness;
}

async function waiting(harness: Harness, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { id } = await harness.create({ currency: 'EUR', expires_in: 30 * 86_400 });
    await harness.request(`/v1/test/payments/${id}/submit`, { method: 'POST' });
  }
}

describe('letters to administrators', () => {
  test('alerts come once a day to administrators alone, for as long as something is wrong', async () => {
    await using server = await startMailServer();
    await using harness = await installation(server, { isWrong: true });
    const [ana, reviewer, off] = [
      await addPerson(harness, 'administrator'),
      await addPerson(harness, 'reviewer'),
      await addPerson(harness, 'administrator'),
    ];
    await harness.service.journal.commit((of) =>
      keepChoices(
        of,
        off.id,
        { digest: 'day', hour: 8, least: 1, alerts: false, language: 'en' },
        'req_choices',
      ),
    );
    const moved = await addPerson(harness, 'administrator');
    await editOutside(
      harness.store,
      `update administrators set email = 'spy@evil.example' where id = '${moved.id}'`,
    );
    for (let day = 1; day <= 2; day++) {
      for (let looks = 0; looks < 3; looks++) {
        harness.clock.advance(2 * MINUTE_MS);
        await settled(harness, server);
      }
      assert.deepEqual(
        lettersTo(server, ana.email)
          .slice(-2)
          .map(({ letter }) => letter.subject)
          .sort(),
        ['The history does not verify', 'The newest backup is old'],
      );
      assert.equal(lettersTo(server, ana.email).length, 2 * day);
      harness.clock.advance(DAY_MS);
    }
    const [letter] = lettersTo(server, ana.email);
    assert.match(letter!.letter.text!, /Open the health/);
    assert.match(letter!.letter.text!, /console\/account\/letters/);
    for (const { letter } of lettersTo(server, ana.email)) assertSameWords(letter);
    for (const silent of [reviewer.email, off.email, moved.email, 'spy@evil.example'])
      assert.deepEqual(lettersTo(server, silent), [], silent);
  });

  test('a digest comes once a day with how many wait, and ends by one click of the mail program', async () => {
    await using server = await startMailServer();
    await using harness = await installation(server);
    const reviewer = await addPerson(harness, 'reviewer');
    const auditor = await addPerson(harness, 'auditor');
    const many = await addPerson(harness, 'reviewer');
    await harness.service.journal.commit((of) =>
      keepChoices(
        of,
        many.id,
        { digest: 'hour', hour: 8, least: 3, alerts: true, language: 'de' },
        'req_choices',
      ),
    );
    await waiting(harness, 2);
    for (let looks = 0; looks < 3; looks++) {
      harness.clock.advance(2 * MINUTE_MS);
      await settled(harness, server);
    }
    const [digest, ...more] = lettersTo(server, reviewer.email);
    assert.deepEqual(more, []);
    assert.equal(digest!.letter.subject, '2 payments to review');
    assert.match(digest!.letter.text!, /EUR, test: 2 payments, €99\.80/);
    assertSameWords(digest!.letter);
    assert.deepEqual([lettersTo(server, auditor.email), lettersTo(server, many.email)], [[], []]);

    const { url } = (digest!.letter.headers.get('list') as unknown as { unsubscribe: { url: string } })
      .unsubscribe;
    assert.match(digest!.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const path = url.slice(new URL(url).origin.length);
    // RFC 8058 (3.1): either type of form.
    const ONE_CLICK = {
      'application/x-www-form-urlencoded': 'List-Unsubscribe=One-Click',
      'multipart/form-data; boundary=x':
        '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
    };
    const ended = (at: string, type: keyof typeof ONE_CLICK = 'multipart/form-data; boundary=x') =>
      harness.request(at, {
        ...{ method: 'POST', headers: { 'content-type': type } },
        ...{ key: null, body: ONE_CLICK[type] },
      });
    for (const type of Object.keys(ONE_CLICK) as (keyof typeof ONE_CLICK)[])
      assert.equal(
        (
          await ended(
            path.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
            type,
          )
        ).status,
        404,
        type,
      );
    assert.equal((await harness.request(path, { key: null })).status, 200);
    assert.equal((await digestsOf(harness)).length, 1);
    assert.equal((await ended(path)).status, 200);
    await waiting(harness, 1);
    for (const hours of [1, 1, 24]) {
      harness.clock.advance(hours * HOUR_MS);
      await settled(harness, server);
    }
    assert.equal(lettersTo(server, reviewer.email).length, 1, 'none after it was ended');
    const german = lettersTo(server, many.email).map(({ letter }) => letter.subject);
    assert.deepEqual(german, Array(3).fill('3 Zahlungen zu prüfen'), 'each hour, from three on');
    await harness.verify();
  });

  test('a digest waits for a server that is away, and those of the days between are replaced by the newest', async () => {
    await using server = await startMailServer();
    await using harness = await installation(server);
    const reviewer = await addPerson(harness, 'reviewer');
    server.behave({ code: 421, at: 'greeting' });
    await waiting(harness, 1);
    const digests = () => digestsOf(harness);
    const attempts = async () => (await lettersOf(harness)).reduce((sum, one) => sum + one.attempts, 0);
    for (let days = 1; days <= 3; days++) {
      harness.clock.advance(DAY_MS);
      await eventually(async () => (await digests()).length === days);
      // Further looks find the same digest.
      for (let hours = 0; hours < 2; hours++) {
        const tries = await attempts();
        harness.clock.advance(HOUR_MS);
        await eventually(async () => (await attempts()) > tries);
      }
      assert.equal((await digests()).filter(({ due_at }) => due_at !== null).length, 1);
    }
    server.behave('take');
    harness.clock.advance(HOUR_MS);
    await settled(harness, server);
    assert.equal(lettersTo(server, reviewer.email).length, 1);
    assert.deepEqual(
      (await digests()).map(({ status }) => status),
      ['sent', 'withdrawn', 'withdrawn'],
    );
  });
});
