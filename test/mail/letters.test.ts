// What letters say and to whom: nothing that strangers wrote forges a header or becomes a link, nobody is told twice, late or in vain.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { html } from '../../src/lib/html.ts';
import { DAY_MS, dateIn, HOUR_MS } from '../../src/lib/time.ts';
import { bounceOf } from '../../src/mail/bounce.ts';
import { letterHtml, letterText } from '../../src/mail/letters/markup.ts';
import { letterLimit, linkLimit } from '../../src/mail/link-limit.ts';
import { isSendable, type Message } from '../../src/mail/message.ts';
import { SmtpTransport } from '../../src/mail/smtp.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { open as openPage, send, TYPED } from '../support/customer.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { lettersOf, startMailServer } from '../support/mail-server.ts';
import { editOutside } from '../support/outside.ts';
import { erase } from '../support/payments.ts';
import { createAt, SHOP } from '../support/shop.ts';
import { addMerchant, sayOf } from '../support/store-merchant.ts';
import { eventually } from '../support/waiting.ts';

const post = (harness: Harness, path: string, key?: string) =>
  harness.request(path, { method: 'POST', ...(key && { key }) });
const CUSTOMER = { customer: { email: 'ada@example.com' } };

const SERVER = { host: '127.0.0.1', tls: 'none', user: null, password: null, bounces: null } as const;

const STARTS = ['Corner', 'Ünï', '商店', 'متجر', ''];
const FORGERIES = [
  '\r\nBcc: victim@example.com',
  '\nSubject: forged\n\nbody',
  '\r\n\r\n.\r\nMAIL FROM:<a@b.example>',
  '" <evil@example.com>, "',
  '<evil@example.com>',
  'a@b.example, c@d.example',
  '=?utf-8?q?=0d=0aBcc:_x@y.example?=',
  '\u2028Bcc: x@y.example',
  '\u0000\u001b[2J',
  '(comment) group: a@b.example;',
];
const ENDS = ['', ' Ltd', '\r', '\u202e', '"'];

test('200 names, descriptions and references forge no header, recipient or sender', async () => {
  await using server = await startMailServer();
  const transport = new SmtpTransport({ ...SERVER, port: server.port });
  const texts = STARTS.flatMap((start) =>
    FORGERIES.flatMap((forged) => ENDS.map((end) => start + forged + end)),
  );
  assert.ok(texts.length >= 200);
  /** Tries again where the server did not answer in time, as a worker does: this machine may stand still meanwhile. */
  const sent = async (message: Message) => {
    const { is, words } = await transport.send(message);
    if (is === 'away') await sent(message);
    else assert.equal(is, 'sent', words);
  };
  // Some at a time: the server greets each connection only after a tenth of a second.
  for (let i = 0; i < texts.length; i += 25)
    await Promise.all(texts.slice(i, i + 25).map((text, j) => sent(forgedMessage(text, i + j))));
  assert.equal(new Set(server.taken.map(({ letter }) => letter.messageId)).size, texts.length);
  for (const { letter, from, to, raw } of server.taken) {
    const text = JSON.stringify(texts[Number(/ltr_(\d+)/.exec(letter.messageId!)![1])]);
    assert.deepEqual([from, to], ['pay@shop.example', ['ada@example.com']], text);
    assert.deepEqual(
      [...letter.headers.keys()].sort(),
      ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'],
      text,
    );
    const senders = letter.from!.value.map(({ address }) => address);
    assert.deepEqual(senders, ['pay@shop.example'], text);
    const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
    assert.doesNotMatch(head, /^(bcc|cc|reply-to|sender):/im, text);
  }
});

/** A letter that has `text` wherever other people's words stand. */
function forgedMessage(text: string, number: number): Message {
  const content = {
    ...{ language: { tag: 'en', direction: 'ltr' } as const, brand: text, subject: `${text}: receipt` },
    ...{ heading: html`${text}`, paragraphs: [], notes: [], quotes: [{ from: html`From`, text }] },
  };
  return {
    ...{ id: `ltr_${number}`, to: 'ada@example.com', replyTo: text, logo: null, unsubscribeUrl: null, at: 0 },
    from: { name: text, address: 'pay@shop.example' },
    subject: content.subject,
    html: letterHtml(content),
    text: letterText(content),
  };
}

test('no crafted address reaches the library, and the attempt fails without a connection', async () => {
  await using server = await startMailServer();
  const transport = new SmtpTransport({ ...SERVER, port: server.port });
  for (const address of [
    ...FORGERIES,
    'ada@example.com\r\nRCPT TO:<x@y.example>',
    '"ada x"@example.com',
    'ada@[127.0.0.1]',
    'a:b@example.com;',
    `${'a'.repeat(65)}@example.com`,
    '@example.com',
    'undisclosed: ;',
  ]) {
    assert.equal(isSendable(address), false, JSON.stringify(address));
    assert.equal((await transport.send({ ...forgedMessage('', 0), to: address })).is, 'failed');
  }
  assert.equal(server.connections, 0);
});

test('names that no mail server on the internet has are left to a server on this machine', async () => {
  const takers = ['127.0.0.1', 'localhost', 'smtp.relay.net', 'mail'].map(
    (host) => new SmtpTransport({ ...SERVER, host, port: 25 }),
  );
  const taking = (name: string) => takers.map((one) => one.takes(`ada@${name}`));
  for (const name of [
    'localhost',
    'mail',
    'a.localhost',
    'x.test',
    'a.b.invalid',
    'corner.EXAMPLE',
    'example.com',
  ])
    assert.deepEqual(taking(name), [true, true, false, false], name);
  for (const name of ['my-example.com', 'example.com.br', 'test.de', 'localhost.shop'])
    assert.deepEqual(taking(name), [true, true, true, true], name);
  const { is } = await takers[2]!.send({ ...forgedMessage('', 0), to: 'admin@localhost' });
  assert.equal(is, 'failed', 'without a connection');
});

test('a link to an address that no server takes is not said to be on its way', async () => {
  const configuration = 'mail:\n  host: smtp.relay.invalid\n  from: pay@shop.example\n';
  await using harness = await startHarness('sqlite', { configuration });
  const { id } = await harness.create(CUSTOMER);
  assert.equal((await post(harness, `/v1/payments/${id}/send_link`)).json.error.code, 'conflict');
  await post(harness, `/v1/payments/${id}/cancel`);
  await eventually(async () => (await lettersOf(harness))[0]?.answer === 'The address cannot be written to');
  assert.deepEqual(
    (await lettersOf(harness)).map(({ kind, status }) => [kind, status]),
    [['cancelled', 'withdrawn']],
  );
});

test('a report of a letter that came back is read line by line, however long it is', () => {
  const report = (...lines: string[]) =>
    bounceOf(
      [
        'Content-Type: multipart/report; report-type=delivery-status',
        'Action: failed',
        'Message-ID: <ltr_aaaaaaaaaaaa@x>',
        ...lines,
      ].join('\n'),
    )?.words;
  const many = '\n'.repeat(900_000);
  for (const [lines, words] of [
    [['Diagnostic-Code: smtp; 550 no such user'], '550 no such user'],
    [['Diagnostic-Code: smtp;', '  550 no such user'], '550 no such user'],
    [['Diagnostic-Code:', 'Status: 5.1.1'], '5.1.1'],
    [['Status:', 'X: y'], 'no reason given'],
    [[`Diagnostic-Code:${many}`, 'Status: 5.1.1'], '5.1.1'],
  ] as const)
    assert.equal(report(...lines), words);
  for (const broken of ['Content-Type:\n multipart', `Content-Type:${many}x`])
    assert.equal(bounceOf(`${broken}\nAction:\nfailed\nMessage-ID: <ltr_aaaaaaaaaaaa@x>`), undefined);
});

describe('who is written to, and when', () => {
  test('links are sent three times an hour for a payment, and ten times to an address', async () => {
    await using harness = await startHarness('sqlite');
    harness.clock.stop();
    const statuses: number[] = [];
    const send = async (id: string) => {
      const answer = await post(harness, `/v1/payments/${id}/send_link`);
      statuses.push(answer.status);
      if (answer.status === 429) assert.ok(Number(answer.headers.get('retry-after')) > 0);
    };
    const first = await harness.create(CUSTOMER);
    for (let i = 0; i < 4; i++) await send(first.id);
    assert.deepEqual(statuses, [200, 200, 200, 429]);
    for (let i = 0; i < 4; i++) {
      const { id } = await harness.create(CUSTOMER);
      for (let j = 0; j < 2; j++) await send(id);
    }
    assert.equal(statuses.filter((one) => one === 200).length, 10);
    harness.clock.advance(HOUR_MS);
    await send(first.id);
    assert.equal(statuses.at(-1), 200);
    await harness.verify();
  });

  test('20 letters an hour leave to one address, and what is more waits its turn', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', { configuration: server.configuration });
    harness.clock.stop();
    for (let i = 0; i < 21; i++) {
      const { id } = await harness.create({
        customer: { email: i % 2 ? 'ada@example.com' : 'ADA@example.com' },
      });
      await post(harness, `/v1/payments/${id}/cancel`);
    }
    const waits = () =>
      lettersOf(harness).then((all) => all.filter(({ answer }) => /Too many/.test(answer ?? '')));
    await eventually(async () => (await waits()).length === 1);
    assert.equal(server.taken.length, 20);
    const { id } = await harness.create({ customer: { email: 'ben@example.com' } });
    await post(harness, `/v1/payments/${id}/cancel`);
    await eventually(() => server.taken.length === 21);
    harness.clock.advance(HOUR_MS);
    await eventually(() => server.taken.length === 22);
    await eventually(async () => (await waits()).length === 0);
  });

  test('2,000 letters an hour leave for a merchant, and to an address 20, whoever they are from', () => {
    let now = 0;
    const limit = letterLimit({ now: () => now });
    const letter = (to: number, merchant_id: string) => ({
      ...{ kind: 'cancelled' as const, about: `pay_${to}` },
      ...{ to: `a${to}@example.com`, merchant_id, recipient: 'customer' },
    });
    for (let to = 0; to < 2000; to++) {
      assert.equal(limit.waitMs(letter(to, 'mer_a')), 0);
      limit.count(letter(to, 'mer_a'));
    }
    assert.equal(limit.waitMs(letter(2000, 'mer_a')), HOUR_MS);
    for (let i = 1; i < 20; i++) limit.count(letter(0, `mer_${i}`));
    assert.deepEqual([limit.waitMs(letter(0, 'mer_c')), limit.waitMs(letter(1, 'mer_c'))], [HOUR_MS, 0]);
    now = HOUR_MS;
    assert.equal(limit.waitMs(letter(2000, 'mer_a')), 0);
  });

  test('a merchant has 500 links an hour sent, to whomever', () => {
    const limit = linkLimit({ now: () => 0 });
    const payment = (id: number, merchant_id: string) =>
      ({
        id: `pay_${id}`,
        merchant_id,
        customer: JSON.stringify({ email: `a${id}@example.com` }),
      }) as Payment;
    for (let i = 0; i < 500; i++) limit(payment(i, 'mer_a'));
    assert.throws(() => limit(payment(500, 'mer_a')), { code: 'rate_limited' });
    limit(payment(501, 'mer_b'));
  });

  test('a payment without an address, or one that is not pending, has no link sent', async () => {
    await using harness = await startHarness('sqlite');
    const { id } = await harness.create({});
    assert.equal((await post(harness, `/v1/payments/${id}/send_link`)).json.error.code, 'conflict');
    const other = await harness.create(CUSTOMER);
    await post(harness, `/v1/payments/${other.id}/cancel`);
    assert.equal(
      (await post(harness, `/v1/payments/${other.id}/send_link`)).json.error.code,
      'invalid_status',
    );
  });

  test('one reminder, three days before the day that the page says, in the time zone, also after restarts, and none to who has paid', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', {
      configuration: `${server.configuration}time_zone: Asia/Tokyo\n`,
    });
    const { merchant, key } = await addMerchant(harness);
    await sayOf(harness, merchant.id, { remind_days: 3 });
    harness.clock.stop();
    // Noon in Tokyo: reminders leave from 9 o'clock on.
    harness.clock.advance(DAY_MS - (harness.clock.now() % DAY_MS) + 3 * HOUR_MS);
    const open = await harness.create(CUSTOMER, { key });
    const page = (await openPage(harness, open.id)).body;
    const paid = await harness.create({ customer: { email: 'ben@example.com' } }, { key });
    await post(harness, `/v1/test/payments/${paid.id}/submit`, key);
    await server.next(); // its details were received
    const reminders = () => server.taken.filter(({ letter }) => /: pay /.test(letter.subject!));
    for (let day = 0; day < 8; day++) {
      harness.clock.advance(DAY_MS);
      if (day % 3 === 1) {
        await harness.stop();
        await harness.start();
      }
      // The worker's look at the clock has ended when a letter of the same moment has left.
      const other = await harness.create({ customer: { email: 'cleo@example.com' }, expires_in: 15_000_000 });
      await post(harness, `/v1/payments/${other.id}/send_link`);
      await eventually(() => server.taken.some(({ letter }) => letter.text!.includes(other.id)));
    }
    assert.equal(reminders().length, 1);
    assert.deepEqual(reminders()[0]!.to, ['ada@example.com']);
    const { letter } = reminders()[0]!;
    assert.ok(letter.text!.includes(open.id));
    const [, day] = / by (\w+ \d+, \d+)$/.exec(letter.subject!)!;
    assert.ok(page.includes(day!), 'the page says the same day');
    assert.equal(
      dateIn('Asia/Tokyo', letter.date!.getTime() + 3 * DAY_MS),
      dateIn('UTC', Date.parse(`${day} UTC`)),
    );
    assert.ok(letter.date!.getTime() - Date.parse(open.created_at) >= DAY_MS, 'not within a day of it');
  });

  test('a letter is in the language of the payment, else in that of the form, else in English', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', { configuration: SHOP + server.configuration });
    for (const [locale, form, subject] of [
      ['ja', 'de', /内容を受け取りました/],
      [undefined, 'de', /Angaben/],
      [undefined, 'en', /details received/],
    ] as const) {
      const { id } = await createAt(harness, 'details', { locale });
      await send(await openPage(harness, id, { lang: form }), TYPED.details);
      const [{ letter }] = (await server.next()) as [Awaited<ReturnType<typeof server.next>>[0]];
      assert.match(letter.subject!, subject);
    }
  });

  test('a payment that is created for an expired reference tells its customer of the new link', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', { configuration: server.configuration });
    const wanted = { ...CUSTOMER, merchant_reference: 'ORDER-7' };
    const { id } = await harness.create(wanted);
    await post(harness, `/v1/test/payments/${id}/expire`);
    await post(harness, `/v1/test/payments/${id}/request_link`);
    const again = await harness.create(wanted);
    const [{ letter }] = (await server.next()) as [Awaited<ReturnType<typeof server.next>>[0]];
    assert.match(letter.subject!, /new payment link/);
    assert.ok(letter.text!.includes(again.id));
  });

  test('no letter leaves about a payment that was changed in the store itself', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', { configuration: server.configuration });
    harness.clock.stop();
    server.behave({ code: 421, at: 'greeting' });
    const { id } = await harness.create(CUSTOMER);
    for (const act of ['submit', 'approve']) await post(harness, `/v1/test/payments/${id}/${act}`);
    await eventually(async () => (await lettersOf(harness)).some(({ attempts }) => attempts > 0));
    await editOutside(harness.store, `update payments set amount_minor = 999900 where id = '${id}'`);
    server.behave('take');
    harness.clock.advance(HOUR_MS);
    await eventually(async () => (await lettersOf(harness)).every(({ status }) => status === 'withdrawn'));
    assert.deepEqual(server.taken, []);
  });

  test('erasing a payment removes its letters', async () => {
    await using server = await startMailServer();
    await using harness = await startHarness('sqlite', { configuration: server.configuration });
    const { id } = await harness.create(CUSTOMER);
    await post(harness, `/v1/payments/${id}/cancel`);
    await server.next();
    await erase(harness, id);
    await eventually(async () => (await lettersOf(harness)).length === 0);
  });

  test('in development letters lie at /dev/mail, with a line in the log', async () => {
    await using harness = await startHarness('sqlite');
    const { id } = await harness.create({ ...CUSTOMER, description: 'See http://evil.example/x' });
    await post(harness, `/v1/payments/${id}/send_link`);
    await eventually(async () => (await harness.request('/dev/mail')).text.includes('payment request'));
    const [, letter] = /view=(ltr_\w+)/.exec((await harness.request('/dev/mail')).text)!;
    const page = await harness.request(`/dev/mail?view=${letter}&typed=html`);
    assert.match(page.text, /^<!doctype html>/);
    assert.ok(!page.text.includes('evil.example') && page.text.includes('example/x'));
    await eventually(() => harness.logged.some((line) => line.includes('/dev/mail')));
  });
});
