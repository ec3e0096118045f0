// API keys under /v1: listed, made, replaced and revoked by their own merchant, in their own mode, on every node at once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newSecret, sha256Hex } from '../../../src/lib/secrets.ts';
import { DAY_MS, formatTimestamp, HOUR_MS } from '../../../src/lib/time.ts';
import { type Nodes, startNodes } from '../../campaigns/nodes.ts';
import {
  type Answer,
  type Harness,
  KEY,
  LIVE_KEY,
  OTHER_KEY,
  type RequestOptions,
  sharedHarness,
  TEST_KEY_IN_PRODUCTION,
} from '../../support/harness.ts';
import { idOfKey } from '../../support/keys.ts';
import { addMerchant } from '../../support/store-merchant.ts';
import { becomes } from '../../support/waiting.ts';

/** A merchant whose keys only one test makes. */
const CROWDED_KEY = newSecret('cfk_test_');
const MERCHANTS = `  - id: mer_crowded
    name: Crowded Shop
    keys:
      - key: ${CROWDED_KEY}
`;

interface ApiKeyObject {
  id: string;
  key: string;
  name: string | null;
  status: string;
  created_at: string | null;
  expires_at: string | null;
  last_used_at: string | null;
}

describe('API keys', () => {
  let nodes: Nodes;
  let service: Harness;
  before(async () => {
    nodes = await startNodes('postgres', MERCHANTS);
    service = nodes.harness;
  });
  after(() => nodes.close());

  const post = (path: string, body?: unknown, options: RequestOptions = {}) =>
    service.request(`/v1/api_keys${path}`, { method: 'POST', body, ...options });
  const make = async (body: object = {}, options: RequestOptions = {}): Promise<ApiKeyObject> => {
    const answer = await post('', body, options);
    assert.equal(answer.status, 201, answer.text);
    return answer.json.data;
  };
  const list = async (key = KEY, query = '') =>
    (await service.request(`/v1/api_keys${query}`, { key })).json as {
      data: ApiKeyObject[];
      has_more: boolean;
      next_cursor: string | null;
    };
  /** What a node answers to a key. */
  const statusOn = async (node: number, key: string) =>
    (
      await fetch(`${nodes.origins[node]}/v1/payments?limit=1`, {
        headers: { authorization: `Bearer ${key}` },
      })
    ).status;
  const everywhere = (key: string) => Promise.all(nodes.origins.map((_, node) => statusOn(node, key)));
  const all = (status: number) => nodes.origins.map(() => status);
  /** Answers when every node refuses a key. How soon it does is measured by the campaign `several-nodes`. */
  const refused = (key: string) => becomes(all(401), () => everywhere(key));

  test('a new key is told once, works on every node at once, and is listed without its secret.', async () => {
    const answer = await post('', { name: ' Web shop ', expires_in: 3600 });
    assert.equal(answer.status, 201, answer.text);
    const { key, ...told } = answer.json.data;
    assert.deepEqual(await everywhere(key), all(200));
    assert.match(key, /^cfk_test_[0-9A-Za-z]{49}$/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('location'), `${service.service.baseUrl}/v1/api_keys/${told.id}`);
    assert.deepEqual(Object.keys(told), [
      'id',
      'object',
      'livemode',
      'name',
      'prefix',
      'last_four',
      'created_at',
      'last_used_at',
      'expires_at',
      'revoked_at',
      'replaced_by',
      'created_by',
      'status',
    ]);
    assert.deepEqual(
      [told.id, told.object, told.livemode, told.name, told.prefix, told.last_four, told.status],
      [idOfKey(key), 'api_key', false, 'Web shop', 'cfk_test_', key.slice(-4), 'active'],
    );
    assert.equal(Date.parse(told.expires_at) - Date.parse(told.created_at), 3_600_000);
    const now = service.clock.now();
    const minute = now - (now % 60_000);
    const read = await service.request(`/v1/api_keys/${told.id}`);
    assert.ok(!read.text.includes(key));
    const { last_used_at } = read.json.data;
    assert.ok([minute, minute - 60_000].map(formatTimestamp).includes(last_used_at), last_used_at);
    assert.deepEqual(read.json.data, { ...told, last_used_at });
    const { data } = await list();
    assert.deepEqual(data[0], { ...told, last_used_at });
    assert.ok(!JSON.stringify(data).includes(key));
  });

  test('the list is the newest first, pages whole, and ends with the keys of the configuration.', async () => {
    const made: string[] = [];
    for (let i = 0; i < 3; i++) {
      await sleep(2); // of those of one millisecond none is the newest
      made.push((await make()).id);
    }
    const whole = (await list(KEY, '?limit=100')).data;
    assert.deepEqual(
      whole.slice(0, 3).map(({ id }) => id),
      made.toReversed(),
    );
    const paged: ApiKeyObject[] = [];
    let cursor = '';
    do {
      const page = await list(KEY, `?limit=2${cursor}`);
      assert.ok(page.data.length === 2 || !page.has_more);
      paged.push(...page.data);
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor);
    const ids = (keys: ApiKeyObject[]) => keys.map(({ id }) => id);
    assert.deepEqual(ids(paged), ids(whole));
    const last = whole.at(-1)!;
    assert.equal(last.id, idOfKey(KEY));
    assert.deepEqual([last.created_at, (last as { last_four?: string | null }).last_four], [null, null]);
    for (const query of [
      '?limit=0',
      '?limit=1&limit=2',
      '?cursor=x',
      `?cursor=${Buffer.from('x').toString('base64url')}`,
    ])
      assert.equal((await service.request(`/v1/api_keys${query}`)).status, 422, query);
  });

  test('what is wrong with a request is told all at once, and changes nothing.', async () => {
    const before = (await list(KEY, '?limit=100')).data.length;
    const faulty = await post('', { name: 'x'.repeat(81), expires_in: 59.5 });
    assert.equal(faulty.status, 422);
    assert.deepEqual(Object.keys(faulty.json.error.details).sort(), ['expires_in', 'name']);
    for (const [body, field] of [
      [{ name: 1 }, 'name'],
      [{ name: 'a\nb' }, 'name'],
      [{ name: '4242 4242 4242 4242' }, 'name'],
      [{ expires_in: 59 }, 'expires_in'],
      [{ expires_in: '3600' }, 'expires_in'],
      [{ expires_in: 315_360_001 }, 'expires_in'],
      [[], 'body'],
    ] as const)
      assert.ok((await post('', body)).json.error.details[field], JSON.stringify(body));
    for (const body of [{ overlap_seconds: 1 }, { overlap_seconds: '0' }, { name: 7 }, []])
      assert.equal((await post(`/${idOfKey(KEY)}/rotate`, body)).status, 422, JSON.stringify(body));
    for (const path of ['', `/${idOfKey(KEY)}/rotate`]) {
      assert.equal((await post(path, '{')).status, 400);
      const headers = { 'content-type': 'text/plain' };
      assert.equal((await post(path, '{}', { headers })).status, 415);
      assert.equal((await post(path, { x: 'x'.repeat(70_000) })).status, 413);
      const strict = await post(path, { nmae: 'x', __proto: 1 }, { headers: { prefer: 'handling=strict' } });
      assert.deepEqual(Object.keys(strict.json.error.details), ['nmae', '__proto']);
    }
    assert.equal((await post('', undefined)).status, 415, 'only rotate may come without a body');
    assert.equal((await list(KEY, '?limit=100')).data.length, before);
  });

  test('a rotated key works beside the new one until the overlap is over, and names it.', async () => {
    const old = await make({ name: 'Till' });
    const answer = await post(`/${old.id}/rotate`);
    assert.equal(answer.status, 201, answer.text);
    const { data, replaced } = answer.json;
    assert.deepEqual([data.name, data.expires_at, data.status], ['Till', null, 'active']);
    assert.deepEqual(
      [replaced.id, replaced.replaced_by, replaced.status, 'key' in replaced],
      [old.id, data.id, 'active', false],
    );
    assert.equal(Date.parse(replaced.expires_at) - Date.parse(data.created_at), DAY_MS);
    assert.deepEqual([await everywhere(old.key), await everywhere(data.key)], [all(200), all(200)]);
    const again = await post(`/${old.id}/rotate`, {}, { headers: { 'idempotency-key': 'once' } });
    assert.deepEqual([again.status, again.json.error.code], [409, 'invalid_status']);
    assert.ok(again.json.error.message.includes(data.id) && !again.text.includes(data.key));
    const renamed = await post(`/${data.id}/rotate`, { overlap_seconds: 0, name: 'Till 2' });
    assert.equal(renamed.json.data.name, 'Till 2');
    assert.equal(renamed.json.replaced.status, 'expired');
    await refused(data.key);
    service.clock.advance(DAY_MS + 1000);
    assert.deepEqual(
      [await everywhere(old.key), await everywhere(renamed.json.data.key)],
      [all(401), all(200)],
    );
  });

  test('whoever lost the answer of a rotation gets another key with one that was not replaced, and the lost one ends.', async () => {
    const old = await make();
    const lost = (await post(`/${old.id}/rotate`, undefined, { key: old.key })).json.data as ApiKeyObject;
    const again = await post(`/${old.id}/rotate`, undefined, { key: old.key });
    const [named] = /key_[0-9a-f]{16}(?= replaces)/.exec(again.json.error.message)!;
    const fixed = await post(`/${named}/rotate`, { overlap_seconds: 0 });
    assert.equal(fixed.status, 201);
    await refused(lost.key);
    assert.deepEqual(await everywhere(fixed.json.data.key), all(200));
  });

  test('a key that ends sooner than the overlap keeps its end.', async () => {
    const old = await make({ expires_in: 600 });
    const { replaced } = (await post(`/${old.id}/rotate`, { overlap_seconds: 604_800 })).json;
    assert.equal(replaced.expires_at, old.expires_at);
  });

  test('a revoked key is refused on every node, and stays listed for 30 days.', async () => {
    const { id, key } = await make();
    assert.deepEqual(await everywhere(key), all(200));
    const answer = await post(`/${id}/revoke`, 'any body', { headers: { 'content-type': 'text/x' } });
    await refused(key);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.json.data.status, answer.json.data.id], ['revoked', id]);
    const again = await post(`/${id}/revoke`);
    assert.deepEqual([again.status, again.json.error.code], [409, 'invalid_status']);
    assert.equal((await post(`/${id}/rotate`)).status, 409);
    const has = async () => (await list(KEY, '?limit=100')).data.some((one) => one.id === id);
    assert.ok(await has());
    service.clock.advance(30 * DAY_MS - HOUR_MS);
    assert.ok(await has());
    service.clock.advance(2 * HOUR_MS);
    assert.ok(!(await has()));
  });

  test('a key may revoke itself.', async () => {
    const { id, key } = await make();
    assert.equal((await post(`/${id}/revoke`, undefined, { key })).status, 200);
    assert.equal((await service.request('/v1/payments', { key })).status, 401);
  });

  test('no key outlives the one it was made with, and a rotation keeps the end of the old one.', async () => {
    const maker = await make({ expires_in: 3600 });
    const { key } = maker;
    for (const body of [{}, { expires_in: 7200 }])
      assert.equal((await make(body, { key })).expires_at, maker.expires_at);
    const sooner = await make({ expires_in: 600 }, { key });
    assert.ok(Date.parse(sooner.expires_at!) < Date.parse(maker.expires_at!));
    const rotated = await post(`/${sooner.id}/rotate`, { overlap_seconds: 0 });
    assert.equal(rotated.json.data.expires_at, sooner.expires_at, 'by whichever key');
    const endless = await make();
    const taken = await post(`/${endless.id}/rotate`, {}, { key });
    assert.equal(taken.json.data.expires_at, maker.expires_at);
  });

  test('a key that was replaced makes payments until its end, but ends itself alone and makes no key.', async () => {
    const old = await make();
    const { data } = (await post(`/${old.id}/rotate`, {}, { key: old.key })).json;
    const another = await make();
    const said = `This key was replaced by ${data.id}: until it expires it reads and creates payments, and nothing else.`;
    for (const path of ['', `/${data.id}/rotate`, `/${data.id}/revoke`, `/${another.id}/revoke`]) {
      const { status, json } = await post(path, {}, { key: old.key });
      assert.deepEqual([status, json.error.code, json.error.message], [403, 'forbidden', said], path);
    }
    assert.equal((await service.create({}, { key: old.key })).object, 'payment');
    assert.equal((await service.request('/v1/api_keys', { key: old.key })).status, 200);
    assert.equal((await post(`/${old.id}/revoke`, undefined, { key: old.key })).status, 200);
    assert.deepEqual([await statusOn(0, data.key), await statusOn(0, another.key)], [200, 200]);
  });

  test('beside its successor a replaced key reads and creates payments, and changes nothing else.', async () => {
    const old = await make();
    const payment = await service.create({}, { key: old.key });
    const body = { url: 'http://localhost:9/hook' };
    const hook = await service.request('/v1/webhook_endpoints', { method: 'POST', body, key: old.key });
    const at = `/v1/webhook_endpoints/${hook.json.data.id}`;
    const { data } = (await post(`/${old.id}/rotate`, {}, { key: old.key })).json;
    const changes: [string, string, unknown?][] = [
      ['POST', '/v1/webhook_endpoints', body],
      ['PATCH', at, { description: 'mine' }],
      ['POST', `${at}/rotate_secret`],
      ['POST', `${at}/test`],
      ['POST', `${at}/resend`, { what: 'failed', since: new Date().toISOString() }],
      ['DELETE', at],
      ['POST', `/v1/payments/${payment.id}/cancel`],
      ['POST', '/v1/api_keys', {}],
    ];
    for (const [method, path, sent] of changes) {
      const refused = await service.request(path, { method, body: sent, key: old.key });
      assert.deepEqual([refused.status, refused.json.error.code], [403, 'forbidden'], `${method} ${path}`);
      assert.match(refused.json.error.message, new RegExp(`replaced by ${data.id}`));
    }
    for (const path of ['/v1/payments', `/v1/payments/${payment.id}`, '/v1/webhook_endpoints', '/v1/events'])
      assert.equal((await service.request(path, { key: old.key })).status, 200, path);
    await service.create({}, { key: old.key });
    assert.equal((await service.request(at, { method: 'DELETE', key: data.key })).status, 200);
  });

  test('a key of the configuration is neither rotated nor revoked here: its place is the file.', async () => {
    const { key, id } = await make({}, { key: OTHER_KEY });
    for (const [own, by] of [
      [KEY, KEY],
      [OTHER_KEY, OTHER_KEY],
      [OTHER_KEY, key],
    ] as const)
      for (const act of ['rotate', 'revoke']) {
        const { status, json } = await post(`/${idOfKey(own)}/${act}`, undefined, { key: by });
        assert.deepEqual([status, json.error.code], [409, 'invalid_status']);
        assert.match(json.error.message, new RegExp(`file, with the key_sha256 ${idOfKey(own).slice(4)}…`));
        assert.equal((await service.request('/v1/payments', { key: own })).status, 200);
        assert.equal((await keyRows(idOfKey(own))).length, 0);
      }
    assert.equal((await post(`/${id}/revoke`, undefined, { key: OTHER_KEY })).status, 200);
  });

  test('a key was never last used in the future, whichever clock said so.', async () => {
    const { id } = await make();
    service.service.keyUses.note(id, service.clock.now() + HOUR_MS);
    const { data } = (await service.request(`/v1/api_keys/${id}`)).json;
    assert.ok(Date.parse(data.last_used_at) <= service.clock.now());
  });

  test('a replaced and a revoked key are so on every node, and after a restart.', async () => {
    const old = await make();
    const { key } = (await post(`/${old.id}/rotate`, { overlap_seconds: 3600 })).json.data;
    assert.deepEqual([await everywhere(old.key), await everywhere(key)], [all(200), all(200)]);
    assert.equal((await post(`/${old.id}/revoke`, undefined, { key })).status, 200);
    await refused(old.key);
    await service.stop();
    await service.start();
    nodes.services[0] = service.service;
    nodes.origins[0] = service.origin;
    assert.deepEqual([await everywhere(old.key), await everywhere(key)], [all(401), all(200)]);
  });

  test('of twenty rotations at once, on all nodes, one is done; the others name the key that it made.', async () => {
    for (const old of [await make(), await make()]) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const response = await fetch(
            `${nodes.origins[i % nodes.origins.length]}/v1/api_keys/${old.id}/rotate`,
            {
              method: 'POST',
              headers: { authorization: `Bearer ${old.key}` },
            },
          );
          return { status: response.status, body: (await response.json()) as Answer['json'] };
        }),
      );
      const done = answers.filter(({ status }) => status === 201);
      assert.equal(done.length, 1, JSON.stringify(answers));
      for (const { status, body } of answers)
        if (status !== 201) assert.deepEqual([status, body.error.code], [409, 'invalid_status']);
      const [row] = await keyRows(old.id);
      assert.equal(row!.replaced_by, done[0]!.body.data.id);
    }
    await service.verify();
  });
  const keyRows = (id: string) =>
    service.service.database.query<{ replaced_by: string }>(
      'select replaced_by from api_keys where id = ?',
      id,
    );

  test('there is room for so many keys, and always for the rotation of one.', async () => {
    const ids: string[] = [];
    for (let made = 1; made < 50; made++) ids.push((await make({}, { key: CROWDED_KEY })).id);
    await make({}, { key: CROWDED_KEY });
    const refused = await post('', {}, { key: CROWDED_KEY });
    assert.deepEqual([refused.status, refused.json.error.code], [409, 'conflict']);
    assert.equal((await post(`/${ids[0]}/rotate`, {}, { key: CROWDED_KEY })).status, 201);
    assert.equal((await post('', {}, { key: CROWDED_KEY })).status, 409);
  });

  test("another merchant's keys, unknown and malformed ids answer byte-identically.", async () => {
    const { id } = await make({}, { key: OTHER_KEY });
    const malformed = [
      'key_',
      'x',
      id.toUpperCase(),
      `${id}0`,
      `${id}%00`,
      'payments',
      '%F0%9F%92%A9',
      "'--",
    ];
    for (const [method, ending] of [
      ['GET', ''],
      ['HEAD', ''],
      ['POST', '/rotate'],
      ['POST', '/revoke'],
    ] as const) {
      const answers = new Set<string>();
      for (const one of [id, idOfKey(OTHER_KEY), `key_${'0'.repeat(16)}`, ...malformed]) {
        const { status, text, headers } = await service.request(`/v1/api_keys/${one}${ending}`, { method });
        const { date: _, 'x-request-id': __, ...rest } = Object.fromEntries(headers);
        answers.add(JSON.stringify([status, text, rest]));
        assert.equal(status, 404, `${method} ${one}`);
      }
      assert.equal(answers.size, 1, [...answers].join('\n'));
    }
    assert.ok((await list()).data.every((one) => one.id !== id));
    assert.equal((await service.request('/v1/payments', { key: OTHER_KEY })).status, 200);
  });

  test('the history says by which key it was done, and holds no name and no secret.', async () => {
    const { id, key } = await make({ name: 'Zoë’s till' });
    const replaced = (await post(`/${id}/rotate`, {}, { key })).json.data;
    const entries = await service.service.database.query<{ action: string; actor: string; facts: string }>(
      'select action, actor, facts from audit_entries where subject in (?, ?) order by number',
      id,
      replaced.id,
    );
    assert.deepEqual(
      entries.map(({ action, actor, facts }) => [action, actor, JSON.parse(facts).key]),
      [
        ['key.issued', 'merchant:mer_development', idOfKey(KEY)],
        ['key.issued', 'merchant:mer_development', id],
        ['key.replaced', 'merchant:mer_development', id],
      ],
    );
    const text = JSON.stringify(entries) + service.logged.join('\n');
    for (const secret of ['Zoë', key, replaced.key, sha256Hex(key)])
      assert.ok(!text.includes(secret), secret);
    await service.verify();
  });

  test('of keys that were made in one moment each stands on one page.', async () => {
    service.clock.stop(); // for good: this test is the last
    const { key } = await addMerchant(service);
    const made = await Promise.all(Array.from({ length: 5 }, () => make({}, { key })));
    assert.equal(new Set(made.map(({ created_at }) => created_at)).size, 1);
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null && ids.length < 20) {
      const page = await list(key, `?limit=1${cursor && `&cursor=${cursor}`}`);
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    assert.deepEqual(ids.toSorted(), [...made.map(({ id }) => id), idOfKey(key)].sort());
  });
});

describe('API keys of both modes', () => {
  const service = sharedHarness('sqlite', { environment: 'production' });

  for (const [own, other] of [
    [LIVE_KEY, TEST_KEY_IN_PRODUCTION],
    [TEST_KEY_IN_PRODUCTION, LIVE_KEY],
  ] as const) {
    const mode = own.slice(4, 8);
    test(`a ${mode} key makes, sees and ends ${mode} keys alone.`, async () => {
      const made = await service.request('/v1/api_keys', { method: 'POST', body: {}, key: own });
      const { id, key, livemode } = made.json.data;
      assert.equal(made.headers.get('location'), `https://pay.example/api/v1/api_keys/${id}`);
      assert.deepEqual([livemode, key.startsWith(`cfk_${mode}_`)], [mode === 'live', true]);
      assert.equal((await service.create({}, { key })).livemode, mode === 'live');
      const listed = (await service.request('/v1/api_keys', { key: other })).json.data as ApiKeyObject[];
      assert.ok(listed.every((one) => one.id !== id && one.id !== idOfKey(own)));
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/rotate'],
        ['POST', '/revoke'],
      ] as const)
        assert.equal(
          (await service.request(`/v1/api_keys/${id}${path}`, { method, key: other })).status,
          404,
        );
      assert.equal((await service.request('/v1/payments', { key })).status, 200);
    });
  }
});
