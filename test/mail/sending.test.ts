// Letters leave: each once, by the server that is set, in the commit order of what they tell; a server that is away loses none.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { keepVerification } from '../../src/journal/background-verification.ts';
import { timeOrderedFloor } from '../../src/lib/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/lib/time.ts';
import { SmtpTransport } from '../../src/mail/smtp.ts';
import { addPerson } from '../support/admin.ts';
import { freePort } from '../support/free-ports.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { assertSameWords, lettersOf, type StoredLetter, startMailServer } from '../support/mail-server.ts';
import { editOutside, insertOutside } from '../support/outside.ts';
import { eventually, until } from '../support/waiting.ts';

const CUSTOMER = { customer: { name: 'Ada', email: 'ada@example.com' } };
/** Longer than the worker waits between two looks. Nothing is asserted of what happens meanwhile but that no letter is written. */
const WORKER_LOOKS_MS = 600;

/** Does what a customer, a reviewer or the clock would do with a test payment. */
const act = async (harness: Harness, id: string, trial: string) => {
  const isTrial = trial !== 'send_link' && trial !== 'cancel';
  const path = `/v1/${isTrial ? 'test/' : ''}payments/${id}/${trial}`;
  const answer = await harness.request(path, { method: 'POST' });
  assert.equal(answer.status, 200, answer.text);
  return answer;
};

const letterIs = (harness: Harness, wanted: Partial<StoredLetter>) =>
  until(
    async () => (await lettersOf(harness))[0],
    (one) =>
      one !== undefined &&
      Object.entries(wanted).every(([name, value]) => one[name as keyof StoredLetter] === value),
    wanted,
  );

describe('letters of payments', () => {
  const LIVES: [acts: string[], subjects: RegExp[]][] = [
    [['send_link'], [/payment request for/]],
    [['submit'], [/details received/]],
    [
      ['submit', 'approve'],
      [/details received/, /receipt for/],
    ],
    [['record'], [/: .*49\.90.* received/]],
    [
      ['submit', 'reject'],
      [/details received/, /not accepted/],
    ],
    [['cancel'], [/payment of .* cancelled/]],
  ];
  test('each act has its customer written to, once', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', { configuration: server.configuration });
    for (const [acts, subjects] of LIVES) {
      const wanted = { ...CUSTOMER, merchant_reference: 'ORDER-1', description: 'Two loaves' };
      const { id } = await harness.create(wanted);
      const taken = [];
      for (const one of acts) {
        await act(harness, id, one);
        taken.push(...(await server.next()));
      }
      for (const [i, { letter, to, from }] of taken.entries()) {
        assert.deepEqual(to, ['ada@example.com']);
        assert.equal(from, 'pay@shop.example');
        assert.match(letter.subject!, subjects[i]!);
        assert.match(letter.subject!, /^Development Shop: .*\(ORDER-1\)$/);
        assert.equal(letter.from!.value[0]!.name, 'Development Shop');
        assert.equal(letter.headers.get('auto-submitted'), 'auto-generated');
        assert.equal(letter.headers.has('list'), false);
        assert.ok(
          letter.text!.includes(`payment_id=${id}`) && (letter.html as string).includes('Two loaves'),
        );
        assertSameWords(letter);
        assert.ok(Buffer.byteLength(letter.html as string) < 60_000);
      }
      await letterIs(harness, { about: id, status: 'sent', attempts: 1, answer: '250 taken, thank you' });
      const all = (await lettersOf(harness)).filter(({ about }) => about === id);
      assert.equal(all.length, acts.length, acts.join(', '));
    }
    await harness.verify();
  });
});

describe('a server that does not take a letter', () => {
  const TABLE = [
    [{ code: 550, at: 'recipient', words: 'no such user' }, 'failed', /no such user/],
    [{ code: 554, at: 'text' }, 'failed', /no text today/],
    [{ code: 451, at: 'recipient', words: 'greylisted' }, 'retrying', /greylisted/],
    [{ code: 550, at: 'sender', words: 'who are you' }, 'retrying', /who are you/],
    [{ code: 421, at: 'greeting' }, 'retrying', /421/],
    ['drop', 'retrying', /./],
  ] as const;
  test('its words decide whether the letter is tried again, and are kept', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', { configuration: server.configuration });
    let taken = 0;
    for (const [behaviour, status, words] of TABLE) {
      server.behave(behaviour);
      const { id: about } = await harness.create(CUSTOMER);
      await act(harness, about, 'send_link');
      const letter = await letterIs(harness, { about, status, attempts: 1 });
      assert.match(letter!.answer!, words);
      server.behave('take');
      harness.clock.advance(2 * MINUTE_MS);
      if (status === 'failed') assert.equal(letter!.due_at, null);
      else {
        await server.next();
        await letterIs(harness, { about, status: 'sent', attempts: 2 });
        assert.equal(server.taken.at(-1)!.letter.messageId, `<${letter!.id}@shop.example>`);
        taken++;
      }
    }
    assert.equal(server.taken.length, taken);
  });
});

describe('the conversation with the server', () => {
  const message = {
    ...{
      id: 'ltr_1',
      logo: null,
      from: { name: 'Shop', address: 'pay@shop.example' },
      to: 'ada@example.com',
      at: 0,
    },
    ...{ replyTo: null, unsubscribeUrl: null, subject: 'Hello', html: '<p>Hello</p>', text: 'Hello' },
  };
  const reached = (port: number, user: string | null = null, password: string | null = null) =>
    ({ host: '127.0.0.1', port, tls: 'none', user, password, bounces: null }) as const;

  const SIGN_IN = [
    [undefined, null, null, 'sent', /250/],
    ['ana:right', 'ana', 'right', 'sent', /250/],
    ['ana:right', 'ana', 'wrong', 'away', /535 wrong name or password/],
    ['ana:right', null, null, 'away', /530/],
  ] as const;
  for (const [auth, user, password, is, words] of SIGN_IN)
    test(`where ${auth ?? 'nobody'} must sign in, ${user ?? 'nobody'} with ${password}: ${is}`, async () => {
      await using server = await startMailServer({ auth });
      const steps: string[] = [];
      const transport = new SmtpTransport(reached(server.port, user, password));
      const answer = await transport.send(message, { trace: (line) => steps.push(line) });
      assert.equal(answer.is, is);
      assert.match(answer.words, words);
      assert.match(steps.join('\n'), words);
      const password64 = Buffer.from(`\0${user}\0${password}`).toString('base64');
      if (password) assert.ok(!steps.some((line) => line.includes(password64)), 'no password in the steps');
      assert.equal(server.taken.length, is === 'sent' ? 1 : 0);
      assert.equal((await transport.look()) === undefined, is === 'sent' || user === null);
    });

  test('what stands in the way is named, and the server is greeted by the name that was set', async () => {
    await using server = await startMailServer();
    const steps: string[] = [];
    const named = new SmtpTransport({ ...reached(server.port), name: 'shop.example' });
    await named.send(message, { trace: (line) => steps.push(line) });
    assert.match(steps.join('\n'), /EHLO shop\.example/);
    for (const [server_, words] of [
      [reached(await freePort()), /^The mail server refused the connection$/],
      [
        { ...reached(server.port), tls: 'implicit' },
        /^The connection to the mail server was lost: .*(wrong version|SSL)/i,
      ],
    ] as const)
      assert.match((await new SmtpTransport(server_).look())!, words);
  });

  test('an attempt that takes too long loses its connection, so that its letter cannot leave later', async () => {
    await using server = await startMailServer();
    server.behave('stall');
    const answer = await new SmtpTransport(reached(server.port), 500).send(message);
    assert.deepEqual(answer, { is: 'away', words: 'The mail server did not answer in time' });
    await eventually(() => server.open() === 0);
  });
});

test('a letter that cannot be written keeps up no other', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  const { id } = await addPerson(harness, 'administrator');
  await insertOutside(harness.store, 'letters', {
    ...{ id: timeOrderedFloor('ltr_', Date.now()), kind: 'backup_old', about: 'no such alert' },
    ...{ recipient: id, once: 'broken', status: 'pending', attempts: 0 },
    ...{ created_at: Date.now(), due_at: Date.now() },
  });
  await letterIs(harness, { status: 'retrying', answer: 'It could not be written: the log says why' });
  await act(harness, (await harness.create(CUSTOMER)).id, 'send_link');
  await server.next();
});

test('a server that is away for 24 hours loses nothing, and each letter comes once', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  server.behave({ code: 421, at: 'greeting' });
  harness.clock.stop();
  const ids: string[] = [];
  for (let i = 0; i < 20; i++)
    ids.push((await harness.create({ customer: { email: `ada${i}@example.com` } })).id);
  for (const id of ids) await act(harness, id, 'submit');
  // An attempt is over when it is written down: only then may the clock go on.
  const attempts = async () => (await lettersOf(harness)).reduce((sum, one) => sum + one.attempts, 0);
  await eventually(async () => (await attempts()) === 1);
  for (let hours = 2; hours <= 24; hours += 2) {
    harness.clock.advance(2 * HOUR_MS);
    await eventually(async () => (await attempts()) === 1 + hours / 2);
  }
  assert.equal(server.taken.length, 0);
  server.behave('take');
  harness.clock.advance(HOUR_MS + 5 * MINUTE_MS);
  await server.next(20);
  const paid = server.taken.map(({ letter }) => /payment_id=(pay_\w+)/.exec(letter.text!)![1]!);
  assert.deepEqual([...paid].sort(), [...ids].sort());
});

test('the first start with mail tells what it is asked for from its first request on, however slow its database is', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('postgres', { configuration: server.configuration });
  await harness.stop();
  const holder = new pg.Client(harness.store.database_url!);
  await holder.connect();
  await holder.query('delete from letter_queues');
  await holder.query('begin; lock table letter_queues in access exclusive mode');
  await harness.start();
  const { id } = await harness.create(CUSTOMER);
  await act(harness, id, 'cancel');
  await holder.end();
  const [{ letter }] = (await server.next()) as [(typeof server.taken)[0]];
  assert.match(letter.subject!, /cancelled/);
});

test('what waits behind the lease of a node that was killed leaves when that ends, though nothing else happens', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  harness.clock.stop();
  const { id } = await harness.create(CUSTOMER);
  await harness.service.journal.commitAside((transaction) =>
    transaction.measure(
      "update letter_queues set leased_by = 'node_killed', leased_until = ?",
      harness.clock.now() + 10 * SECOND_MS,
    ),
  );
  await act(harness, id, 'send_link');
  await setTimeout(WORKER_LOOKS_MS);
  assert.deepEqual(await lettersOf(harness), []);
  harness.clock.advance(10 * SECOND_MS);
  await server.next();
});

test('a node that stood still for most of its lease renews it, and cuts no letter that is on its way', async (context) => {
  await using server = await startMailServer();
  await using harness = await startHarness('postgres', { configuration: server.configuration });
  let now = performance.now();
  const held = context.mock.method(performance, 'now', () => now);
  const over = Promise.withResolvers<void>();
  server.behave({ silentUntil: over.promise });
  const leasedUntil = async () => {
    const sql = 'select leased_until from letter_queues';
    return Number((await harness.service.database.query<{ leased_until: number }>(sql))[0]!.leased_until);
  };
  await act(harness, (await harness.create(CUSTOMER)).id, 'send_link');
  await eventually(() => server.open() === 1);
  const before = await leasedUntil();
  now += 14 * SECOND_MS; // of 16
  await eventually(async () => (await leasedUntil()) > before);
  over.resolve();
  await letterIs(harness, { status: 'sent', attempts: 1 });
  assert.equal(server.taken.length, 1);
  held.mock.restore();
});

test('what the clock asks for while the store cannot be read is written as soon as it can', async (context) => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  harness.clock.stop();
  await addPerson(harness, 'administrator');
  await act(harness, (await harness.create(CUSTOMER)).id, 'send_link');
  await server.next();
  let now = performance.now();
  const held = context.mock.method(performance, 'now', () => now); // no minute passes after which it would be looked at anyway
  keepVerification(harness.store.storage, { at: Date.now(), intact: false, acknowledged: 0 });
  await editOutside(harness.store, 'alter table administrators rename to away');
  harness.clock.advance(2 * MINUTE_MS);
  await eventually(() => harness.logged.some((line) => line.includes('letters cannot be sent for now')));
  await editOutside(harness.store, 'alter table away rename to administrators');
  now += 2 * SECOND_MS;
  const [{ letter }] = (await server.next()) as [(typeof server.taken)[0]];
  assert.equal(letter.subject, 'The history does not verify');
  held.mock.restore();
});

test('a letter that fails for 48 hours is given up', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  harness.clock.stop();
  server.behave({ code: 451, at: 'recipient' });
  const { id } = await harness.create(CUSTOMER);
  await act(harness, id, 'send_link');
  await letterIs(harness, { status: 'retrying' });
  harness.clock.advance(48 * HOUR_MS);
  await letterIs(harness, { status: 'failed', attempts: 2, due_at: null });
});

test('mail that is off sends nothing and says so', async () => {
  await using harness = await startHarness('sqlite', { environment: 'production' });
  const { LIVE_KEY } = await import('../support/harness.ts');
  const { id } = await harness.create(CUSTOMER, { key: LIVE_KEY });
  const answer = await harness.request(`/v1/payments/${id}/send_link`, { method: 'POST', key: LIVE_KEY });
  assert.equal(answer.status, 409);
  assert.match(answer.json.error.message, /Mail is off/);
  assert.deepEqual(await lettersOf(harness), []);
});

test('old letters are removed also where mail was switched off', async () => {
  await using harness = await startHarness('sqlite', { environment: 'production' });
  for (const days of [31, 29])
    await insertOutside(harness.store, 'letters', {
      ...{ id: timeOrderedFloor('ltr_', Date.now() - days * DAY_MS), kind: 'receipt', about: 'pay_1' },
      ...{ recipient: 'customer', once: `receipt ${days}`, status: 'failed', created_at: 1, attempts: 1 },
    });
  await harness.stop();
  await harness.start();
  await eventually(async () => (await lettersOf(harness)).length === 1);
});
