// Mail in the console and on the command line: what became of each letter, a trial with the server's own words, and sending again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS, MINUTE_MS } from '../../src/lib/time.ts';
import type { Subject } from '../../src/operate/checks/check.ts';
import { CHECKS } from '../../src/operate/checks/checks.ts';
import { readConfiguration } from '../../src/operate/config.ts';
import { COMMAND, operatorOf, run, start } from '../support/command.ts';
import { type Client, MANY_SIGN_INS, newClient, signIn, signInAs } from '../support/console.ts';
import { type Harness, startHarness, writeConfiguration } from '../support/harness.ts';
import { lettersOf, startMailServer } from '../support/mail-server.ts';
import { eventually } from '../support/waiting.ts';

const CUSTOMER = { customer: { email: 'ada@example.com' } };
const newest = async (harness: Harness) => (await lettersOf(harness))[0];
const isNewest = (harness: Harness, status: string) =>
  eventually(async () => (await newest(harness))?.status === status);

/** Sends the link of a new payment from the console. Returns the payment's id. */
async function sendLink(harness: Harness, client: Client): Promise<string> {
  const { id } = await harness.create(CUSTOMER);
  const page = await client.get(`/mail?about=${id}`);
  assert.match((await client.send(page, {}, /Send the link/)).body, /on its way/);
  return id;
}

test('a letter that failed is shown on the payment and in the list, and is sent again by who may decide', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration + MANY_SIGN_INS });
  const client = await signIn(harness, 'reviewer');
  const auditor = await signIn(harness, 'auditor');
  server.behave({ code: 550, at: 'recipient', words: 'no such user' });
  const id = await sendLink(harness, client);
  await isNewest(harness, 'failed');
  const payment = await client.get(`/payments/${id}`);
  assert.match(payment.body, /Payment link → Customer\. Failed\./);
  assert.match(payment.body, /no such user/);
  assert.equal(payment.link('Emails about this payment').search, `?about=${id}`);
  assert.match((await auditor.get('/mail?state=failed')).body, /no such user/);
  assert.doesNotMatch((await auditor.get('/mail?state=failed')).body, /Send again|test email/);
  assert.equal((await auditor.post('/mail/again', { letter: (await newest(harness))!.id })).status, 403);
  server.behave('take');
  const failed = await client.get('/mail?state=failed');
  assert.match((await client.send(failed, {}, /Send again now/)).body, /is being sent/);
  const [{ letter }] = (await server.next()) as [Awaited<ReturnType<typeof server.next>>[0]];
  assert.ok(letter.text!.includes(id));
  await isNewest(harness, 'sent');
  assert.match((await client.get('/mail?state=failed')).body, /No email failed/);
  assert.match((await client.get(`/payments/${id}`)).body, /Payment link → Customer\. Sent\./);
  assert.equal((await client.post('/mail/again', { letter: (await newest(harness))!.id })).status, 409);
});

test('the trial shows each step and the server’s own words, whatever it answers', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  const client = await signIn(harness, 'administrator');
  const trial = async () => client.send(await client.get('/mail'), {}, /Send a test email to/);
  const sent = await trial();
  assert.match(sent.body, /The email was sent/);
  for (const step of [/EHLO/, /MAIL FROM:<pay@shop\.example>/, /250 taken, thank you/])
    assert.match(sent.body, step);
  server.behave({ code: 550, at: 'sender', words: 'who are you' });
  const refused = await trial();
  assert.match(refused.body, /was not sent/);
  assert.match(refused.body, /550 who are you/);
  assert.equal(server.taken.length, 1);
});

test('which letters an administrator gets is theirs to choose', async () => {
  await using harness = await startHarness('sqlite');
  const client = await signIn(harness, 'reviewer');
  const faulty = await client.send(await client.get('/account/letters'), { hour: '24', least: '0' });
  assert.equal(faulty.status, 422);
  const choices = { digest: 'hour', hour: '7', least: '3', alerts: 'off' };
  assert.match((await client.send(await client.get('/account/letters'), choices)).body, /Saved/);
  const kept = async () => {
    const [row] = await harness.service.database.query<{ letters: string }>(
      'select letters from administrators where letters is not null',
    );
    return JSON.parse(row!.letters);
  };
  const chosen = { digest: 'hour', hour: 7, least: 3, alerts: false };
  assert.deepEqual(await kept(), { ...chosen, language: 'en' });
  const german = newClient(harness);
  await client.get('/account?lang=de');
  for (const [name, value] of client.cookies) if (/language/.test(name)) german.cookies.set(name, value);
  harness.clock.advance(MINUTE_MS);
  await signInAs(harness, client.account, german, 'Ihr Konto');
  assert.deepEqual(await kept(), { ...chosen, language: 'de' }, 'the language of the last sign-in');
  await harness.stop();
  await harness.start();
  const { forms } = await client.get('/account/letters');
  const { hour, least } = forms.find(({ fields }) => fields.includes('hour'))!.values;
  assert.deepEqual([hour, least], ['7', '3'], 'the choice outlives the process');
  await harness.verify();
});

test('why a letter did not leave is said in words, in the language of the page', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration + MANY_SIGN_INS });
  const client = await signIn(harness, 'reviewer');
  server.behave({ code: 451, at: 'recipient', words: 'later' });
  const id = await sendLink(harness, client);
  await isNewest(harness, 'retrying');
  await harness.request(`/v1/payments/${id}/cancel`, { method: 'POST' });
  server.behave('take');
  harness.clock.advance(HOUR_MS);
  await eventually(async () => {
    const letters = await lettersOf(harness);
    return letters.some(({ about, status }) => about === id && status === 'withdrawn');
  });
  const again = await signIn(harness, 'reviewer');
  const german = { headers: { 'accept-language': 'de' } };
  for (const path of [`/mail?about=${id}`, `/payments/${id}`]) {
    assert.match((await again.get(path)).body, /The payment was cancelled, or its link has expired/);
    assert.match((await again.get(path, german)).body, /Zahlung wurde abgebrochen/);
  }
});

test('the command lists letters, sends again what failed, and notes what came back', async () => {
  await using server = await startMailServer();
  const configuration = `${server.configuration}  bounces: bounces@shop.example\n`;
  await using harness = await startHarness('sqlite', { configuration });
  const env = operatorOf(harness.store, 'development', configuration);
  const mail = (...args: string[]) => run(['mail', ...args], { env });
  const { id } = await harness.create(CUSTOMER);
  await harness.request(`/v1/payments/${id}/send_link`, { method: 'POST' });
  const [{ from, letter }] = (await server.next()) as [Awaited<ReturnType<typeof server.next>>[0]];
  assert.equal(from, 'bounces@shop.example');
  assert.equal(letter.from!.value[0]!.address, 'pay@shop.example');
  await isNewest(harness, 'sent');
  const ours = (await newest(harness))!.id;

  const bounced = async (report: string) => {
    const running = start(process.execPath, [COMMAND, 'mail', 'bounced', '--json'], { env });
    running.child.stdin!.end(report);
    assert.equal((await running.ended).code, 0, running.stderr);
    return JSON.parse(running.stdout).letter;
  };
  assert.equal(await bounced('Subject: Hello\r\n\r\nAction: failed'), null);
  assert.equal(await bounced(reportOf(ours, 'delayed')), null);
  assert.equal(await bounced(reportOf(`${ours.slice(0, -1)}!`, 'failed')), null);
  assert.equal((await bounced(reportOf(ours, 'failed'))).status, 'failed');
  assert.match(
    (await mail('list', '--failed')).stdout,
    new RegExp(`^${ours} .*550 5\\.1\\.1 no such user here`),
  );
  assert.equal(JSON.parse((await mail('list', '--about', id, '--json')).stdout).letters[0].kind, 'link');

  assert.equal((await mail('resend')).code, 2);
  assert.match((await mail('resend', 'ltr_nothing')).stderr, /not among the/);
  assert.match((await mail('resend', ours)).stdout, /^1 letter to be/);
  await server.next();
  await isNewest(harness, 'sent');
  assert.equal(server.taken[1]!.letter.messageId, `<${ours}@shop.example>`);
  assert.deepEqual(JSON.parse((await mail('resend', '--failed', '--json')).stdout), { letters: [] });
});

test('the command sends a trial, and doctor signs in: each tells the server’s own words', async () => {
  await using server = await startMailServer({ auth: 'ana:right' });
  await using harness = await startHarness('sqlite');
  const check = CHECKS.find(({ id }) => id === 'mail')!;
  for (const [password, behaviour, code, words, is] of [
    ['right', 'take', 0, /250 taken, thank you/, 'ok'],
    ['wrong', 'take', 1, /535 wrong name or password/, 'failed'],
    ['right', { code: 553, at: 'sender', words: 'not your address' }, 1, /553 not your address/, 'ok'],
    ['right', { code: 554, at: 'greeting', words: 'no strangers' }, 1, /554 .*no strangers/, 'failed'],
  ] as const) {
    server.behave(behaviour);
    const configuration = `${server.configuration}  user: ana\n  password: ${password}\n`;
    const file = writeConfiguration(harness.store, 'development', configuration);
    const env = { COUNTERFOIL_CONFIG: file, COUNTERFOIL_STORAGE: harness.store.storage };
    const tried = await run(['mail', 'test', 'ben@example.com'], { env });
    assert.equal(tried.code, code, tried.stderr);
    assert.match(tried.stdout, words);
    assert.match(code === 0 ? tried.stdout : tried.stderr, words);
    assert.ok(
      !tried.stdout.includes(password === 'wrong' ? 'AGFuYQB3cm9uZw' : 'AGFuYQByaWdodA'),
      'no password',
    );
    const settings = readConfiguration(file, {});
    const found = await check.look({ settings, deadlineMs: 60_000 } as unknown as Subject);
    assert.equal(found.is, is, found.says);
    if (is === 'failed') assert.match(found.says, words);
  }
  assert.deepEqual(
    server.taken.map(({ to }) => to),
    [['ben@example.com']],
  );
});

/** A report of delivery (RFC 3464), as Postfix writes one. */
const reportOf = (letter: string, action: string) =>
  [
    'From: MAILER-DAEMON@mx.example',
    'Content-Type: multipart/report; report-type=delivery-status;',
    '\tboundary="x"',
    '',
    '--x',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '',
    'Final-Recipient: rfc822; ada@example.com',
    `Action: ${action}`,
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 no such',
    '    user here',
    '',
    '--x',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: <${letter}@shop.example>`,
    'Subject: payment request',
    '',
    '--x--',
  ].join('\r\n');
