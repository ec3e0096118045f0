// Webhooks under /admin: endpoints of all merchants and their deliveries, what administrators do about them, and what is documented of it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newSecret } from '../../../src/lib/secrets.ts';
import { addPerson, entryCount, type Person } from '../../support/admin.ts';
import { type Harness, OTHER_KEY, startHarness } from '../../support/harness.ts';
import { DocumentedService, type HoldOptions, type Method } from '../../support/openapi.ts';
import { eventually } from '../../support/waiting.ts';
import { endpointsOf } from '../../support/webhook-endpoints.ts';
import { answering, WebhookReceiver } from '../../support/webhook-receiver.ts';

const PATHS = ['/admin/webhook_endpoints', '/admin/deliveries'];
const [ENDPOINTS, DELIVERIES] = PATHS as [string, string];
const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;
const DELIVERY = `${DELIVERIES}/{delivery_id}`;
const ACTS = [`${ENDPOINT}/disable`, `${ENDPOINT}/enable`, `${ENDPOINT}/resend`, `${DELIVERY}/resend`];

describe('webhooks at /admin', () => {
  let service: Harness;
  let documented: DocumentedService;
  let receiver: WebhookReceiver;
  let otto: Person;
  let rita: Person;
  let ben: Person;
  /** Of Development Shop, whose server takes everything; and of Other Shop, whose server fails. */
  let well: string;
  let failing: string;

  before(async () => {
    service = await startHarness('sqlite', { configuration: 'rate_limits: {enabled: true}\n' });
    documented = await DocumentedService.of(service);
    receiver = await WebhookReceiver.start();
    receiver.reply = (received, response) =>
      answering(received.path === '/failing' ? 500 : 200)(received, response);
    otto = await addPerson(service, 'auditor', 'Otto');
    rita = await addPerson(service, 'reviewer', 'Rita');
    ben = await addPerson(service, 'administrator', 'Ben');
    well = await add('/well');
    failing = await add('/failing', OTHER_KEY);
    await service.create();
    await service.create({}, { key: OTHER_KEY });
    await until(failing, 'retrying');
    await until(well, 'delivered');
    service.clock.stop(); // so that no attempt is due by itself
  });
  after(async () => {
    await service.close();
    await receiver.close();
  });

  const add = async (path: string, key?: string): Promise<string> =>
    (await endpointsOf(service, (one) => receiver.url(one), key).add(path)).id;
  const get = (template: string, options: HoldOptions = {}) =>
    documented.hold('GET', template, { key: otto.token, ...options });
  const act = (template: string, id: string | undefined, options: HoldOptions = {}) =>
    documented.hold('POST', template, { key: ben.token, ...(id && { id }), ...options });
  const newest = async (id: string) => (await get(`${ENDPOINT}/deliveries`, { id })).json.data[0];
  const until = (id: string, status: string) => eventually(async () => (await newest(id))?.status === status);
  const ids = async (query: string): Promise<string[]> =>
    (await get(ENDPOINTS, { query })).json.data.map((one: { id: string }) => one.id);
  const since = () => new Date(service.clock.now() - 60_000).toISOString();

  test('the list has the endpoints of all merchants with their state, and no secret.', async () => {
    const { text, json } = await get(ENDPOINTS);
    assert.doesNotMatch(text, /whsec_/);
    assert.deepEqual(
      json.data.map(({ id, merchant_id, state }: Record<string, string>) => [id, merchant_id, state]),
      [
        [well, 'mer_development', 'enabled'],
        [failing, 'mer_other', 'failing'],
      ],
    );
    assert.equal((await get(ENDPOINT, { id: failing })).json.data.state, 'failing');
  });

  test('it narrows by merchant, mode and state, and comes in pages.', async () => {
    assert.deepEqual(await ids('?merchant=mer_other'), [failing]);
    assert.deepEqual(await ids('?merchant=mer_nobody'), []);
    assert.deepEqual(await ids('?livemode=true'), []);
    assert.deepEqual(await ids('?livemode=false'), [well, failing]);
    assert.deepEqual(await ids('?state=enabled'), [well]);
    assert.deepEqual(await ids('?state=failing'), [failing]);
    assert.deepEqual(await ids('?state=disabled'), []);
    const { json } = await get(ENDPOINTS, { query: '?limit=1' });
    assert.equal(json.has_more, true);
    assert.deepEqual(await ids(`?limit=1&cursor=${json.next_cursor}`), [failing]);
  });

  test('a delivery of any merchant is read with its attempts.', async () => {
    const { id } = await newest(failing);
    const { data } = (await get(DELIVERY, { id })).json;
    assert.match(data.attempts[0].reason, /^Your server answered 500 in \d+ ms$/);
    assert.equal(data.endpoint_id, failing);
    const query = (text: string) => get(`${ENDPOINT}/deliveries`, { id: failing, query: text });
    assert.deepEqual((await query('?status=delivered')).json.data, []);
    assert.equal((await query(`?payment_id=${data.payment_id}`)).json.data.length, 1);
    assert.deepEqual((await query('?payment_id=pay_other')).json.data, []);
    const cursor = Buffer.from(id).toString('base64url');
    assert.deepEqual((await query(`?cursor=${cursor}`)).json.data, []);
  });

  test('each wrong request has its 422, and changes nothing.', async () => {
    const before = await entryCount(service);
    const wrong: [Method, string, HoldOptions, string[]][] = [
      ['GET', ENDPOINTS, { query: '?status=enabled' }, ['status']],
      ['GET', ENDPOINTS, { query: '?state=gone&livemode=yes' }, ['state', 'livemode']],
      ['GET', ENDPOINTS, { query: '?limit=0&cursor=x' }, ['limit', 'cursor']],
      ['GET', ENDPOINTS, { query: '?merchant=a&merchant=b' }, ['merchant']],
      ['GET', ENDPOINTS, { query: `?cursor=${Buffer.from('dlv_x').toString('base64url')}` }, ['cursor']],
      ['GET', `${ENDPOINT}/deliveries`, { query: '?state=failed' }, ['state']],
      ['GET', `${ENDPOINT}/deliveries`, { query: '?status=lost' }, ['status']],
      ['POST', ACTS[0]!, { body: {} }, ['reason']],
      ['POST', ACTS[0]!, { body: { reason: ' ' } }, ['reason']],
      ['POST', ACTS[0]!, { body: { reason: 'x'.repeat(501) } }, ['reason']],
      ['POST', ACTS[0]!, { body: { reason: '4111 1111 1111 1111' } }, ['reason']],
      ['POST', ACTS[0]!, { body: { reason: 'x', note: 'y' } }, ['note']],
      ['POST', ACTS[0]!, { body: [] }, ['body']],
      ['POST', ACTS[2]!, { body: {} }, ['what', 'since']],
      ['POST', ACTS[2]!, { body: { what: 'all', since: since() } }, ['what']],
      ['POST', ACTS[2]!, { body: { what: 'failed', since: '2020-01-01T00:00:00Z' } }, ['since']],
      ['POST', ACTS[2]!, { body: { what: 'failed', since: since(), until: since() } }, ['until']],
    ];
    for (const [method, path, options, names] of wrong) {
      const whole = { key: ben.token, id: well, ...options };
      const { status, json } = await documented.hold(method, path, whole);
      const label = `${path} ${JSON.stringify(options)}`;
      assert.equal(status, 422, label);
      assert.deepEqual(Object.keys(json.error.details).sort(), names.toSorted(), label);
    }
    assert.equal(await entryCount(service), before);
  });

  test('an administrator disables with a reason that the merchant reads, and no other may enable.', async () => {
    const reason = 'It answers with our own checkout.';
    const { data } = (await act(ACTS[0]!, failing, { body: { reason: ` ${reason} ` } })).json;
    assert.deepEqual([data.state, data.disabled_reason], ['disabled', 'administrator']);
    assert.deepEqual(await ids('?state=disabled'), [failing]);
    const path = `/v1/webhook_endpoints/${failing}`;
    assert.equal((await service.request(path, { key: OTHER_KEY })).json.data.disabled_note, reason);
    const body = { status: 'enabled' };
    assert.equal((await service.request(path, { method: 'PATCH', body, key: OTHER_KEY })).status, 409);
    const again = { body: { what: 'failed', since: since() } };
    assert.equal((await act(ACTS[2]!, failing, again)).json.error.code, 'invalid_status');
    const { id } = await newest(failing);
    assert.equal((await act(ACTS[3]!, id)).json.error.code, 'invalid_status');
    const entries = await entryCount(service);
    assert.equal(
      (await act(ACTS[0]!, failing, { body: { reason: 'Again' } })).json.data.disabled_note,
      reason,
    );
    assert.equal(await entryCount(service), entries);
    assert.equal((await act(ACTS[1]!, failing)).json.data.status, 'enabled');
    assert.equal((await act(ACTS[1]!, failing)).json.data.status, 'enabled');
    const actors = await service.service.database.query<{ actor: string }>(
      "select actor from audit_entries where subject = ? and action in ('webhook.disabled', 'webhook.enabled')",
      failing,
    );
    assert.deepEqual(
      actors.map(({ actor }) => actor.includes(ben.id)),
      [true, true],
    );
  });

  test('what failed is sent again, all of it or one delivery.', async () => {
    receiver.reply = answering(200);
    const body = { what: 'failed', since: since() };
    const { data } = (await act(ACTS[2]!, failing, { body })).json;
    assert.deepEqual([data.what, data.deliveries], ['failed', 1]);
    await until(failing, 'delivered');
    const { id } = await newest(well);
    const sent = receiver.received.filter(({ path }) => path === '/well').length;
    assert.equal((await act(ACTS[3]!, id)).json.data.status, 'pending');
    const all = await receiver.have(sent + 1, '/well');
    assert.equal(all.at(-1)!.id, all[0]!.id);
    const missing = { body: { what: 'missing', since: since() } };
    assert.equal((await act(ACTS[2]!, well, missing)).json.data.deliveries, null);
  });

  test('auditors and reviewers read, and do nothing.', async () => {
    const body = { reason: 'x', what: 'failed', since: since() };
    for (const { token } of [otto, rita])
      for (const path of ACTS) assert.equal((await act(path, undefined, { key: token, body })).status, 403);
  });

  test('what is refused is as documented.', async () => {
    for (const path of [ACTS[0]!, ACTS[2]!]) {
      await act(path, well, { body: '{' });
      await act(path, well, { body: '{}', headers: { 'content-type': 'text/plain' } });
      await act(path, well, { body: `"${'x'.repeat(64 * 1024)}"` });
    }
    const body = { reason: 'x' };
    const lost = await add('/lost');
    await service.service.journal.commit((transaction) =>
      transaction.query('update webhook_endpoints set secret = null, disabled_at = 1 where id = ?', lost),
    );
    service.service.database.refresh();
    assert.equal((await act(ACTS[1]!, lost)).json.error.code, 'invalid_status');
    for (const path of ACTS)
      await act(path, undefined, { body: path === ACTS[2] ? { what: 'failed', since: since() } : body });
    for (const path of [ENDPOINT, `${ENDPOINT}/deliveries`, DELIVERY])
      assert.equal((await get(path)).status, 404);
    assert.equal((await get(ENDPOINT, { id: 'whe_x' })).status, 404);
    const every = documented.operations(...PATHS);
    assert.equal(every.length, 8);
    const each = async (key: string | null, status: number) => {
      for (const { path, method } of every)
        assert.equal((await documented.hold(method, path, { key })).status, status);
    };
    for (const { path, method } of every) await documented.holdSyntaxErrors(method, path);
    await each(null, 401);
    for (let i = 0; i < 21; i++) await service.request(ENDPOINTS, { key: newSecret('cfa_') });
    await each(newSecret('cfa_'), 429);
    const { journal } = service.service;
    const rename = (from: string, to: string) =>
      journal.commit((transaction) => transaction.query(`alter table ${from} rename to ${to}`));
    await rename('administrator_tokens', 'gone');
    await each(ben.token, 500);
    await rename('gone', 'administrator_tokens');
    const { id } = await newest(well);
    await journal.close();
    for (const path of ACTS)
      await act(path, path === ACTS[3] ? id : well, {
        body: path === ACTS[2] ? { what: 'failed', since: since() } : body,
      });
    // A request that is too slow takes ten seconds (test/web/errors.test.ts); reading needs no store that takes writes.
    assert.deepEqual(
      documented.unseen(...PATHS).filter((one) => !/ 408$|^GET .* 503$/.test(one)),
      [],
    );
  });
});
