// The line of each request: why it was refused, what became of it, and where it came from, so that one attack can be followed.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newSecret } from '../../src/lib/secrets.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { addressForLog } from '../../src/web/network.ts';
import { addPerson, addToken, sentForReview } from '../support/admin.ts';
import { codeOf, createAccount, MANY_SIGN_INS, newClient } from '../support/console.ts';
import { freePort } from '../support/free-ports.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { change } from '../support/people.ts';
import { eventually } from '../support/waiting.ts';

const PROXIED = "trust_proxy: [127.0.0.1, '::1']\n";
const ATTACKER = { 'x-forwarded-for': '203.0.113.77' };

/** The last line `request` of a request. */
async function lineOf({ logged }: Harness, requestId: string | null): Promise<Record<string, unknown>> {
  assert.ok(requestId);
  const find = () => logged.find((one) => one.includes(requestId) && one.includes('"msg":"request"'));
  await eventually(
    async () => find() !== undefined,
    () => `no line of ${requestId}`,
  );
  return JSON.parse(find()!);
}

describe('the line of a request', () => {
  let harness: Harness;
  before(async () => {
    const configuration = `${MANY_SIGN_INS}${PROXIED}rate_limits: {enabled: true, writes_per_second: 5, refused_keys_per_minute: 3}\n`;
    harness = await startHarness('sqlite', { configuration });
  });
  after(() => harness.close());

  const sent = async (path: string, options: Parameters<Harness['request']>[1]) => {
    harness.clock.advance(10_000); // buckets are full again
    const answer = await harness.request(path, options);
    return lineOf(harness, answer.headers.get('x-request-id'));
  };
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    sent('/v1/payments', { method: 'POST', body, headers });

  test('names the code and the fields at fault, and no value.', async () => {
    const line = await post({
      amount: 'canary one',
      customer: { email: 'canary two' },
      metadata: { 'canary three': 'x'.repeat(20_000), cvv: 'canary' },
    });
    assert.equal(line.status, 422);
    assert.equal(line.code, 'validation_failed');
    assert.deepEqual([...(line.fields as string[])].sort(), ['amount', 'customer.email', 'metadata']);
    assert.doesNotMatch(JSON.stringify(line), /canary/);
    assert.equal('from' in line, false, 'nobody has to know where a mistake came from');
    const strict = await post({ amount: 1, 'canary 4242': 1, colour: 2 }, { prefer: 'handling=strict' });
    assert.deepEqual(strict.fields, ['other'], 'a caller wrote them');
    const strictly = { prefer: 'handling=strict' };
    const nested = await post({ amount: 'x', customer: { canary_four: 1 } }, strictly);
    assert.deepEqual([...(nested.fields as string[])].sort(), ['amount', 'other']);
    const card = await post({ amount: 1, canary_five: { cvv: 1 } });
    assert.deepEqual(card.fields, ['other'], 'the path of card data is a caller’s too');
    const keyed = await post({ amount: 'x', canary_six: 1 }, { ...strictly, 'idempotency-key': '' });
    assert.deepEqual([...(keyed.fields as string[])].sort(), ['amount', 'other']);
    const key = await sent('/v1/api_keys', {
      method: 'POST',
      body: { name: 1, canary_seven: 1 },
      headers: strictly,
    });
    assert.deepEqual([...(key.fields as string[])].sort(), ['name', 'other']);
    const registering = { method: 'POST', key: null, body: { canary_eight: 1 }, headers: strictly };
    const shop = await sent('/register', registering);
    assert.deepEqual([...(shop.fields as string[])].sort(), ['business_name', 'email', 'other']);
    const { token } = await addPerson(harness, 'reviewer');
    const path = `/admin/payments/${await sentForReview(harness)}`;
    const decided = { method: 'POST', key: token, body: { version: 'x', canary_nine: 1 } };
    for (const act of ['approve', 'reject']) {
      const names = (await sent(`${path}/${act}`, decided)).fields as string[];
      assert.deepEqual(names.filter((name) => name !== 'reason').sort(), ['other', 'version'], act);
    }
    assert.doesNotMatch(harness.logged.join(''), /canary|colour/);
    assert.equal((await post('{')).code, 'invalid_json');
    assert.equal((await sent('/v1/payments/pay_none', {})).code, 'not_found');
    const right = await post({ amount: 1 });
    for (const name of ['code', 'fields', 'limit', 'idempotency', 'from', 'sign_in'])
      assert.equal(name in right, false, name);
  });

  test('says what became of an idempotency key.', async () => {
    const headers = { 'idempotency-key': 'canary-key' };
    assert.equal((await post({ amount: 1 }, headers)).idempotency, 'kept');
    assert.equal((await post({ amount: 1 }, headers)).idempotency, 'replayed');
    const reused = await post({ amount: 2 }, headers);
    assert.deepEqual([reused.idempotency, reused.code], ['reused', 'idempotency_key_reused']);
    assert.doesNotMatch(harness.logged.join(''), /canary-key/);
  });

  test('of a refused key says where it came from, and whose it was.', async () => {
    const line = await sent('/v1/payments', { key: newSecret('cfk_live_'), headers: ATTACKER });
    assert.deepEqual([line.status, line.code, line.from], [401, 'unauthorized', '203.0.113.0/24']);
    assert.equal('key' in line, false, 'nobody’s');
    const made = await harness.request('/v1/api_keys', { method: 'POST', body: { name: 'Till' } });
    assert.equal(made.status, 201, made.text);
    const { id, key } = made.json.data;
    assert.equal((await harness.request(`/v1/api_keys/${id}/revoke`, { method: 'POST' })).status, 200);
    const revoked = await sent('/v1/payments', { key, headers: ATTACKER });
    assert.deepEqual(
      [revoked.status, revoked.from, revoked.key, revoked.merchant],
      [401, '203.0.113.0/24', id, 'mer_development'],
    );
  });

  test('of a refused token says where it came from, and whose it was.', async () => {
    const of = async (key: string) => {
      const line = await sent('/admin/payments', { key, headers: ATTACKER });
      assert.deepEqual([line.status, line.code, line.from], [401, 'unauthorized', '203.0.113.0/24']);
      return [line.token, line.administrator];
    };
    assert.deepEqual(await of(newSecret('cfa_')), [undefined, undefined], 'nobody’s');
    const person = await addPerson(harness, 'auditor');
    const short = await addToken(harness, person.id, 'auditor', 1);
    const good = await sent('/admin/payments', { key: short.token });
    assert.deepEqual([good.status, good.token, good.administrator], [200, short.row.id, person.id]);
    harness.clock.advance(DAY_MS);
    assert.deepEqual(await of(short.token), [short.row.id, person.id], 'expired');
    const lasting = await sent('/admin/payments', { key: person.token });
    assert.equal(lasting.status, 200);
    await change(harness.service, person.id, 'disable');
    assert.deepEqual(await of(person.token), [person.token_id, person.id], 'its administrator is disabled');
    await change(harness.service, person.id, 'enable');
    await change(harness.service, person.token_id, 'revoke');
    assert.deepEqual(await of(person.token), [person.token_id, person.id], 'revoked');
    assert.doesNotMatch(harness.logged.join(''), /cfa_/);
  });

  test('names the limit that was met.', async () => {
    harness.clock.stop(); // or a bucket fills again while this process stands still
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => harness.request('/v1/payments', { method: 'POST', body: {} })),
    );
    const refused = answers.find(({ status }) => status === 429)!;
    const line = await lineOf(harness, refused.headers.get('x-request-id'));
    assert.deepEqual([line.code, line.limit], ['rate_limited', 'writes']);
    assert.ok(line.from && line.merchant, 'who it is');
    let last: Record<string, unknown> = {};
    for (let i = 0; i < 4; i++) {
      const key = newSecret('cfk_live_');
      const answer = await harness.request('/v1/payments', {
        key,
        headers: { 'x-forwarded-for': '198.51.100.1' },
      });
      last = await lineOf(harness, answer.headers.get('x-request-id'));
    }
    assert.deepEqual([last.status, last.limit, last.from], [429, 'refused_keys', '198.51.100.0/24']);
  });

  test('of sign-ins, right and wrong, tells where from, whose account, and what became of it.', async () => {
    const account = await createAccount(harness);
    const { email, password } = account;
    const { id } = account.administrator;
    const client = newClient(harness);
    const headers = { ...ATTACKER };
    const send = async (path: string, fields: Record<string, string>) => {
      const page = await client.post(path, fields, { headers, follow: false });
      return { page, line: await lineOf(harness, page.headers.get('x-request-id')) };
    };
    const form = async () => (await client.get('/sign-in')).forms[0]!.values;
    const told = ({ line }: { line: Record<string, unknown> }) => [
      line.sign_in,
      line.administrator,
      line.from,
    ];
    const from = '203.0.113.0/24';
    const code = codeOf(harness, account);
    const wrong = await send('/sign-in', { ...(await form()), email, password: 'not the right one', code });
    assert.deepEqual(told(wrong), ['wrong_password', id, from]);
    const nobody = 'nobody@example.org';
    const unknown = await send('/sign-in', { ...(await form()), email: nobody, password, code });
    assert.deepEqual(told(unknown), ['wrong_password', undefined, from]);
    const factor = await send('/sign-in', { ...(await form()), email, password, code: 'x' });
    assert.deepEqual(told(factor), ['wrong_factor', id, from]);
    const entered = await send('/sign-in', { ...(await form()), email, password, code });
    assert.deepEqual(told(entered), ['signed_in', id, from]);
    client.cookies.clear();
    const more = { email: nobody, password: 'not the right one', code };
    for (let i = 0; i < 4; i++) await send('/sign-in', { ...(await form()), ...more });
    const waiting = await send('/sign-in', { ...(await form()), ...more });
    assert.deepEqual([waiting.line.sign_in, waiting.line.limit], ['must_wait', 'sign_in_failures']);
    assert.doesNotMatch(harness.logged.join(''), /example\.org|not the right one|203\.0\.113\.77/);
  });
});

test('an address is logged as a network, as it is, or as a digest that only the same key gives again.', () => {
  const cases: [ip: string, asNetwork: string, asAddress: string][] = [
    ['203.0.113.77', '203.0.113.0/24', '203.0.113.77'],
    ['203.0.113.77:1234', '203.0.113.0/24', '203.0.113.77'],
    ['::ffff:203.0.113.77', '203.0.113.0/24', '203.0.113.77'],
    ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1:2:3:4:5:6'],
    ['2001:db8::', '2001:db8::/64', '2001:db8::'],
    ['::1', '::/64', '::1'],
    ['canary@example.org', 'unknown', 'unknown'],
    ['', 'unknown', 'unknown'],
  ];
  for (const [ip, asNetwork, asAddress] of cases) {
    assert.equal(addressForLog('network', '')(ip), asNetwork, ip);
    assert.equal(addressForLog('address', '')(ip), asAddress, ip);
  }
  const digest = addressForLog('digest', 'a key');
  assert.match(digest('203.0.113.77'), /^[\w-]{16}$/);
  assert.equal(digest('::ffff:203.0.113.77'), digest('203.0.113.77'));
  assert.notEqual(digest('203.0.113.77'), digest('203.0.113.78'));
  assert.notEqual(digest('203.0.113.77'), addressForLog('digest', 'another')('203.0.113.77'));
});

test('log_addresses is what the line goes by, and log_level: debug tells of a request when it begins.', async () => {
  await using harness = await startHarness('sqlite', {
    configuration: `${PROXIED}log_addresses: address\nlog_level: debug\n`,
  });
  const answer = await harness.request('/v1/payments', { key: null, headers: ATTACKER });
  const id = answer.headers.get('x-request-id')!;
  assert.equal((await lineOf(harness, id)).from, '203.0.113.77');
  const begun = harness.logged.find((line) => line.includes(id) && line.includes('request begun'));
  assert.match(begun!, /"level":20,.*"method":"GET","route":"\/v1\/payments"/);
});

test('a defect has a field and a count of its own, on pages as in answers.', async () => {
  const port = await freePort();
  await using harness = await startHarness('sqlite', { configuration: `metrics: {port: ${port}}\n` });
  const { checkout_url } = await harness.create();
  const { journal } = harness.service;
  const counted = async () =>
    /^counterfoil_defects_total (\d+)/m.exec(
      await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
    )?.[1];
  assert.equal(await counted(), '0');
  await journal.commit((one) => one.query('alter table payments rename column description to about'));
  assert.equal((await harness.request('/v1/payments')).status, 500);
  const page = new URL(checkout_url);
  assert.equal((await fetch(`${harness.origin}${page.pathname}${page.search}`)).status, 500);
  const defects = harness.logged
    .filter((line) => line.includes('"defect":true'))
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    defects.map(({ level, msg }) => [level, msg]),
    [
      [50, 'a defect'],
      [50, 'a defect'],
    ],
  );
  assert.equal((await lineOf(harness, defects[1].request_id)).code, 'internal_error');
  assert.equal(await counted(), '2');
});
