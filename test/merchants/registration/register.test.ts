// Registration as a program does it: what is taken, what is refused and in which order, and what comes of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { newSecret, sha256Hex } from '../../../src/lib/secrets.ts';
import { DAY_MS, HOUR_MS } from '../../../src/lib/time.ts';
import {
  anotherShop,
  CORNER_SHOP,
  invited,
  KEY_PATTERN,
  register,
  stored,
  uninvited,
} from '../../support/applicant.ts';
import { processMs } from '../../support/awake.ts';
import { open } from '../../support/customer.ts';
import { type Harness, sharedHarness, startHarness } from '../../support/harness.ts';
import { eventually } from '../../support/waiting.ts';

const MANY = 'registration:\n  per_address: 10000\n  per_hour: 10000\n';
const INVITES = `${MANY}  mode: invite\n`;

describe('registering by JSON', () => {
  const harness = sharedHarness('sqlite', { isVerified: true, configuration: MANY });

  test('answers 201 with the merchant and a key, and nothing else.', async () => {
    const { status, headers, json } = await register(harness, CORNER_SHOP);
    assert.equal(status, 201);
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'no-store');
    const { merchant, api_key, api_key_id, livemode } = json.data;
    assert.deepEqual(Object.keys(json.data), ['merchant', 'api_key', 'api_key_id', 'livemode']);
    const { id, created_at, ...rest } = merchant;
    assert.match(id, /^mer_[0-9a-z]{20}$/);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
    assert.deepEqual(rest, { object: 'merchant', ...CORNER_SHOP });
    assert.match(api_key, /^cfk_test_[0-9A-Za-z]{49}$/);
    assert.equal(api_key_id, `key_${sha256Hex(api_key).slice(0, 16)}`);
    assert.equal(livemode, false);
  });

  test('its key works at once: payments carry the business name, and checkout shows it.', async () => {
    const business_name = 'Čorner “Shöp” & Söhne 店';
    const { json } = await register(harness, { ...CORNER_SHOP, business_name: `  ${business_name}  ` });
    const payment = await harness.create({}, { key: json.data.api_key });
    assert.equal(payment.merchant_name, business_name);
    assert.equal(payment.livemode, false);
    assert.equal((await open(harness, payment.id)).h1, `Pay ${business_name}`);
  });

  test('its key sees nothing of others, and works when the service has started again.', async () => {
    const { api_key } = (await register(harness)).json.data;
    await harness.create();
    await harness.stop();
    await harness.start();
    const list = await harness.request('/v1/payments', { key: api_key });
    assert.deepEqual([list.status, list.json.data], [200, []]);
  });

  const long = (length: number) => 'é'.repeat(length);
  const NOT_TEXT = 'Must be a string.';
  const UNSEEN = 'Must not contain characters that cannot be seen.';
  const CONTROL = 'Must not contain control characters.';
  const REFUSED: [fields: object, details: Record<string, string>][] = [
    [{ business_name: undefined }, { business_name: 'Is required.' }],
    [{ business_name: null }, { business_name: NOT_TEXT }],
    [{ business_name: 7 }, { business_name: NOT_TEXT }],
    [{ business_name: ['Shop'] }, { business_name: NOT_TEXT }],
    [{ business_name: '' }, { business_name: 'Must not be empty.' }],
    [{ business_name: ' \u00a0 ' }, { business_name: 'Must not be empty.' }],
    [{ business_name: long(121) }, { business_name: 'Must be at most 120 characters.' }],
    [{ business_name: 'Shop\nPayPal' }, { business_name: CONTROL }],
    [{ business_name: 'Shop\u0000' }, { business_name: CONTROL }],
    [
      { business_name: 'Shop \u202epohS' },
      { business_name: 'Must not contain characters that override the reading direction.' },
    ],
    [{ business_name: 'Shop \ud800' }, { business_name: 'Must be well-formed Unicode.' }],
    [{ business_name: 'Shop 4242 4242 4242 4242' }, { business_name: 'Must not contain a card number.' }],
    [{ email: undefined }, { email: 'Is required.' }],
    ...[
      'Shop\u200b',
      'Shop\u00ad',
      '\u202fShop\u2060',
      'Shop\u2028PayPal',
      'Sh\u3164op',
      'Sh\u2800op',
      'Shop\u{e0041}',
      '\u200dShop',
      'Shop \u200c& Söhne',
    ].map((name) => [{ business_name: name }, { business_name: UNSEEN }] as [object, Record<string, string>]),
    [{ business_name: '– … –' }, { business_name: 'Must have a letter or a digit.' }],
    [{ business_name: `Sho${'\u0336'.repeat(5)}p` }, { business_name: 'Must not pile marks on one letter.' }],
    [{ business_name: 'mer_corner' }, { business_name: 'Must not begin with mer_, as ids do.' }],
    [{ email: '' }, { email: 'Must not be empty.' }],
    [{ email: 'ana' }, { email: 'Must be an e-mail address.' }],
    [{ email: '  ' }, { email: 'Must not be empty.' }],
    [{ email: 'ana @corner.example' }, { email: 'Must be an e-mail address.' }],
    [{ email: 'ana@corner.example\r\nBcc: x@y.example' }, { email: CONTROL }],
    [{ email: `${'a'.repeat(64)}@${'b.'.repeat(95)}example` }, { email: 'Must be at most 254 characters.' }],
    [{ website: 3 }, { website: NOT_TEXT }],
    [{ website: 'corner.example' }, { website: 'Must be an absolute http or https URL.' }],
    [{ website: 'javascript:alert(1)' }, { website: 'Must be an absolute http or https URL.' }],
    [{ website: 'https://a@corner.example' }, { website: 'Must not contain a user name or password.' }],
    [
      { website: 'https://corner.example/ x' },
      { website: 'Must not contain spaces, backslashes or control characters.' },
    ],
    [
      { website: `https://corner.example/${'x'.repeat(2048)}` },
      { website: 'Must be at most 2048 characters.' },
    ],
    [{ invite: 3 }, { invite: NOT_TEXT }],
    [{ invite: 'x'.repeat(256) }, { invite: 'Must be at most 255 characters.' }],
  ];
  for (const [fields, details] of REFUSED)
    test(`refuses ${JSON.stringify(fields, (_, value) => value ?? null).slice(0, 60)}.`, async () => {
      const before = await stored(harness);
      const answer = await register(harness, { ...CORNER_SHOP, ...fields });
      assert.equal(answer.status, 422);
      assert.deepEqual(answer.json.error.details, details);
      assert.deepEqual(await stored(harness), before);
    });

  test('tells all faults at once, card data among them, and repeats nothing of it.', async () => {
    const body = { email: 'SECRET', website: 'SECRET', card_number: 'SECRET', deep: { cvv: 'SECRET' } };
    const { status, json, text } = await register(harness, body);
    assert.equal(status, 422);
    assert.deepEqual(Object.keys(json.error.details).sort(), [
      'business_name',
      'card_number',
      'deep.cvv',
      'email',
      'website',
    ]);
    assert.doesNotMatch(text, /SECRET/);
  });

  for (const name of ['نمایش‌ها', 'क्‍ष', 'Œuvre & Co. ❤', '店', '7'])
    test(`takes the name ${name} as it is.`, async () => {
      const { status, json } = await register(harness, { ...CORNER_SHOP, business_name: name });
      assert.deepEqual([status, json.data?.merchant.business_name], [201, name]);
    });

  test('keeps a name composed, however it was typed.', async () => {
    const { json } = await register(harness, { ...CORNER_SHOP, business_name: 'Cafe\u0301' });
    assert.equal(json.data.merchant.business_name, 'Caf\u00e9');
  });

  test('takes the longest of everything, a missing website, and fields that it does not know.', async () => {
    const longest = {
      business_name: '店'.repeat(120),
      email: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(54)}.eu`,
      website: `https://corner.example/${'x'.repeat(2025)}`,
    };
    assert.equal((await register(harness, longest)).status, 201);
    const bare = { ...anotherShop(), website: null, invite: null, id: 'mer_mine', livemode: true };
    const { status, json } = await register(harness, bare);
    assert.equal(status, 201);
    assert.equal(json.data.merchant.website, null);
    assert.notEqual(json.data.merchant.id, 'mer_mine');
    const strict = await register(harness, bare, { headers: { prefer: 'handling=strict' } });
    assert.equal(strict.status, 422);
    assert.deepEqual(Object.keys(strict.json.error.details).sort(), ['id', 'livemode']);
    const applied = await register(harness, anotherShop(), { headers: { prefer: 'handling=strict' } });
    assert.equal(applied.headers.get('preference-applied'), 'handling=strict');
  });

  const text = JSON.stringify(anotherShop());
  for (const [what, body, headers, status, code] of [
    ['no JSON', '{"business_name"', {}, 400, 'invalid_json'],
    ['an empty body', '', {}, 400, 'invalid_json'],
    ['UTF-8 that is broken', Buffer.from([0x7b, 0xff, 0x7d]), {}, 400, 'invalid_json'],
    ['a prototype', `{"__proto__":{},${text.slice(1)}`, {}, 400, 'invalid_json'],
    ['a list', '[]', {}, 422, 'validation_failed'],
    ['plain text', text, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['a compressed body', text, { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['a body beyond 64 KiB', `{"x":"${'x'.repeat(64 * 1024)}"}`, {}, 413, 'payload_too_large'],
    [
      'a form of a program',
      text,
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    [
      'a body beyond 64 KiB of no type',
      'x'.repeat(65 * 1024),
      { 'content-type': 'text/plain' },
      415,
      'unsupported_media_type',
    ],
  ] as const)
    test(`answers ${status} to ${what}.`, async () => {
      const answer = await register(harness, body, {
        headers: { 'content-type': 'application/json', ...headers },
      });
      assert.deepEqual([answer.status, answer.json.error.code], [status, code]);
    });

  test('answers the same, and as fast, whether or not the e-mail address is known.', async () => {
    const worked: Record<'known' | 'fresh', number[]> = { known: [], fresh: [] };
    for (let i = 0; i < 24; i++)
      for (const who of i % 2 ? (['known', 'fresh'] as const) : (['fresh', 'known'] as const)) {
        const email = who === 'known' ? CORNER_SHOP.email : `new-${i}@corner.example`;
        const begun = processMs();
        const { status, json } = await register(harness, { ...anotherShop(), email });
        worked[who].push(processMs() - begun);
        assert.equal(status, 201);
        assert.equal(json.data.merchant.email, email);
      }
    const median = (times: number[]) => times.toSorted((one, other) => one - other)[times.length >> 1]!;
    const [known, fresh] = [median(worked.known), median(worked.fresh)];
    const ratio = known / fresh;
    assert.ok(ratio > 1 / 2 && ratio < 2, `${known} ms of work against ${fresh} ms`);
  });

  test('leaves nothing of the key in rows, entries or the log, and no e-mail address in the last two.', async () => {
    const email = 'canary@corner.example';
    const { api_key, merchant } = (await register(harness, { ...anotherShop(), email })).json.data;
    await harness.create({}, { key: api_key });
    const { database } = harness.service;
    const rows: string[] = [];
    for (const table of ['merchants', 'api_keys', 'payments', 'invites', 'idempotency_keys', 'audit_entries'])
      rows.push(JSON.stringify(await database.query(`select * from ${table}`)));
    const secret = api_key.slice('cfk_test_'.length, -4);
    assert.ok(rows[0]!.includes(merchant.id));
    for (const kept of [...rows, harness.logged.join('\n')]) {
      assert.doesNotMatch(kept, KEY_PATTERN);
      for (let at = 0; at + 8 <= secret.length; at++) assert.ok(!kept.includes(secret.slice(at, at + 8)));
    }
    assert.ok(!rows.at(-1)!.includes(email) && !harness.logged.join().includes(email));
    const entries = await database.query<{ action: string; actor: string }>(
      'select action, actor from audit_entries where request_id is not null order by number desc limit 3',
    );
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['payment.created', 'key.issued', 'merchant.registered'],
    );
    assert.deepEqual(
      entries.slice(1).map(({ actor }) => actor),
      ['anonymous', 'anonymous'],
    );
  });
});

describe('invitations', () => {
  const harness = sharedHarness('sqlite', { isVerified: true, configuration: INVITES });

  test('without one nobody registers; with one somebody does, once.', async () => {
    const none = await register(harness);
    assert.equal(none.status, 422);
    assert.deepEqual(Object.keys(none.json.error.details), ['invite']);
    const invite = await invited(harness);
    assert.equal((await register(harness, { ...CORNER_SHOP, invite })).status, 201);
    assert.equal((await register(harness, { ...CORNER_SHOP, invite })).status, 422);
  });

  test('unknown, mistyped, used, revoked and over are told in one sentence.', async () => {
    const used = await invited(harness);
    await register(harness, { ...CORNER_SHOP, invite: used });
    const over = await invited(harness, 'test', 1);
    const unknown = newSecret('cfi_');
    harness.clock.advance(DAY_MS + 1);
    const before = await stored(harness);
    const answers = [];
    for (const invite of ['x', used.slice(0, -1), unknown, used, over, await uninvited(harness)])
      answers.push(await register(harness, { ...CORNER_SHOP, invite }));
    for (const { status, json } of answers) {
      assert.equal(status, 422);
      assert.deepEqual(json.error, answers[0]!.json.error);
    }
    assert.deepEqual(await stored(harness), before);
  });

  test('of twenty at once with the same one, one registers.', async () => {
    const invite = await invited(harness);
    const before = await stored(harness);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => register(harness, { ...CORNER_SHOP, invite })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter(({ status }) => status === 422).length, 19);
    const { merchants, keys } = await stored(harness);
    assert.deepEqual([merchants - before.merchants, keys - before.keys], [1, 1]);
  });
});

describe('who may register', () => {
  test('where it is closed nobody, whatever they send, and they are told whom to ask.', async () => {
    const configuration = 'registration:\n  mode: closed\n  contact: access@pay.example\n';
    await using harness = await startHarness('sqlite', { configuration });
    const invite = await invited(harness);
    for (const [body, headers] of [
      [{ ...CORNER_SHOP, invite }, {}],
      ['x', { 'content-type': 'text/plain' }],
    ] as const) {
      const { status, json } = await register(harness, body, { headers });
      assert.equal(status, 403);
      assert.equal(json.error.code, 'forbidden');
      assert.match(json.error.message, /access@pay\.example/);
    }
    assert.equal((await stored(harness)).merchants, 0);
  });

  test('in production nobody, unless that is configured; a live invitation then makes a live key.', async () => {
    await using closed = await startHarness('sqlite', { environment: 'production' });
    assert.equal((await register(closed)).status, 403);
    await using harness = await startHarness('sqlite', { environment: 'production', configuration: INVITES });
    for (const mode of ['live', 'test'] as const) {
      const { json } = await register(harness, { ...CORNER_SHOP, invite: await invited(harness, mode) });
      assert.ok(json.data.api_key.startsWith(`cfk_${mode}_`));
      assert.equal(json.data.livemode, mode === 'live');
      assert.equal((await harness.create({}, { key: json.data.api_key })).livemode, mode === 'live');
    }
  });

  describe('as often as one address may', () => {
    let harness: Harness;
    before(async () => {
      const configuration = 'trust_proxy: [127.0.0.1]\nregistration:\n  per_address: 3\n';
      harness = await startHarness('sqlite', { configuration });
    });
    after(() => harness.close());
    const from = (ip: string, body: unknown = anotherShop(), type = 'application/json') =>
      register(harness, body, { headers: { 'x-forwarded-for': ip, 'content-type': type } });

    test('the next is told to wait, before anything it sends is looked at; others are not.', async () => {
      for (let i = 0; i < 3; i++) {
        assert.equal(
          (await from('2001:db8::1', { email: 'x' })).status,
          422,
          'what comes to nothing counts for nothing',
        );
        const invite = newSecret('cfi_');
        assert.equal((await from('2001:db8::2', { ...CORNER_SHOP, invite })).status, 422);
        assert.equal((await from(`2001:db8::${i}`)).status, 201);
        harness.clock.advance(100_000);
      }
      for (const body of [CORNER_SHOP, '{', { email: 'x' }]) {
        const { status, json, headers } = await from('2001:db8::ffff', body, 'text/plain');
        assert.deepEqual([status, json.error.code], [429, 'rate_limited']);
        const wait = Number(headers.get('retry-after'));
        assert.ok(wait > 3200 && wait <= 3300, `${wait} s: an hour after the first`);
      }
      assert.equal((await from('2001:db8:0:1::1')).status, 201, 'another network');
      harness.clock.advance(HOUR_MS - 300_000);
      assert.equal((await from('2001:db8::1')).status, 201, 'an hour later');
    });

    test('a site of many IPv6 networks has four times what one of them has.', async () => {
      const statuses: number[] = [];
      for (let i = 0; i < 14; i++) statuses.push((await from(`2001:db8:7:${i}::1`)).status);
      assert.deepEqual(statuses, [...Array(12).fill(201), 429, 429]);
      assert.equal((await from('2001:db8:8::1')).status, 201, 'another site');
    });

    test('invitations are looked up in vain four times as often, and not beyond; what is no code is not looked up.', async () => {
      for (let i = 0; i < 20; i++)
        assert.equal((await from('192.0.2.9', { ...CORNER_SHOP, invite: 'cfi_cut' })).status, 422);
      for (let i = 0; i < 12; i++)
        assert.equal((await from('192.0.2.9', { ...CORNER_SHOP, invite: newSecret('cfi_') })).status, 422);
      assert.equal((await from('192.0.2.9', { ...CORNER_SHOP, invite: newSecret('cfi_') })).status, 429);
      assert.equal((await from('192.0.2.10')).status, 201, 'another address');
    });

    test('of those whose bodies come when all were let in, as many register as may.', async () => {
      let letIn = 0;
      const count = () => letIn++;
      harness.service.app.server.on('request', count);
      const late = Array.from({ length: 8 }, () => {
        const sending = request(`${harness.origin}/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.8' },
        });
        sending.flushHeaders();
        const answered = once(sending, 'response').then(([{ statusCode }]) => statusCode as number);
        return { sending, answered };
      });
      await eventually(() => letIn === late.length);
      harness.service.app.server.off('request', count);
      await harness.request('/health'); // is judged after them
      for (const { sending } of late) sending.end(JSON.stringify(anotherShop()));
      const statuses = await Promise.all(late.map(({ answered }) => answered));
      assert.equal(statuses.filter((status) => status === 201).length, 3);
      assert.equal(statuses.filter((status) => status === 429).length, 5);
    });

    test('of twenty at once as many register as may.', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => from('192.0.2.7')));
      assert.equal(answers.filter(({ status }) => status === 201).length, 3);
      assert.equal(answers.filter(({ status }) => status === 429).length, 17);
    });
  });

  test('of all addresses together as many register in an hour as a node takes.', async () => {
    const configuration = 'trust_proxy: [127.0.0.1]\nregistration:\n  per_hour: 4\n';
    await using harness = await startHarness('sqlite', { configuration });
    let networks = 0;
    const another = (body: object = anotherShop()) =>
      register(harness, body, { headers: { 'x-forwarded-for': `198.51.100.${++networks}` } });
    for (let i = 0; i < 6; i++) assert.equal((await another({ email: 'x' })).status, 422);
    for (let i = 0; i < 4; i++) assert.equal((await another()).status, 201);
    const { status, json, headers } = await another();
    assert.deepEqual([status, json.error.code], [429, 'rate_limited']);
    assert.ok(Number(headers.get('retry-after')) > 3500);
    harness.clock.advance(HOUR_MS);
    assert.equal((await another()).status, 201, 'an hour later');
  });
});
