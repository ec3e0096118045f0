// What must hold with a proxy of deploy/ in front of the service, in production and below a path: the same for each proxy.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { FROM_OUR_PAGE, read } from '../support/customer.ts';
import { LIVE_KEY } from '../support/harness.ts';
import {
  exchangeTls,
  HOST,
  type HttpsClient,
  handshake,
  newHttpsClient,
  type ProxyAnswer,
  type ProxyRequest,
  statusOverHttp2,
} from '../support/https-client.ts';
import type { RunningProxy } from '../support/proxy.ts';
import { eventually } from '../support/waiting.ts';
import { WAYS_TO_HIDE } from './hidden-requests.ts';
import { twoNodePromises } from './proxied-nodes.ts';
import {
  BEARER,
  besiege,
  countOf,
  create,
  FORMS_PER_ADDRESS,
  JSON_BODY,
  type Site,
  startBrokenNode,
  startSite,
} from './proxied-site.ts';

/** A proxy believes in a node again this long after it failed. */
const FORGIVEN_AFTER_MS = 1100;

/** What one proxy can and another cannot. */
export interface Abilities {
  /** Why it cannot be run here. */
  missing: string | false;
  /** It holds requests back while its only node is away. */
  waitsForRestarts: boolean;
  /** It sends a POST with an idempotency key to another node when the first went away before it answered. */
  repeatsKeyedWrites: boolean;
}

/** Describes all that a proxy must do; `proxyName` is a program, `start` runs it before services at these ports. */
export function proxyPromises(
  proxyName: string,
  start: (upstreams: readonly number[]) => Promise<RunningProxy>,
  { missing, waitsForRestarts, repeatsKeyedWrites }: Abilities,
): void {
  describe(`behind ${proxyName}`, { skip: missing }, () => {
    let site: Site;
    let proxy: RunningProxy;
    let client: HttpsClient;
    before(async () => {
      site = await startSite('sqlite', 1);
      proxy = await start(site.ports);
      client = newHttpsClient(proxy);
    });
    after(async () => {
      client?.close();
      await proxy?.stop();
      await site?.close();
    });
    const call = (path: string, options?: ProxyRequest): Promise<ProxyAnswer> => client.call(path, options);
    const page = async (address: URL, options?: ProxyRequest) => {
      const { status, headers, text } = await call(address.pathname + address.search, options);
      const plain = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
      return read(address, new Response(status === 303 ? null : text, { status, headers: plain }));
    };

    test('a customer pays below the path: page, stylesheet, form and where it leads', async () => {
      const created = await create(client, 'flow');
      assert.equal(created.status, 201, created.text);
      const { id, checkout_url } = JSON.parse(created.text).data;
      assert.equal(created.headers.location, `https://${HOST}/pay/v1/payments/${id}`);
      assert.equal(checkout_url, `https://${HOST}/pay/payment.php?payment_id=${id}`);

      const shown = await page(new URL(checkout_url));
      assert.equal(shown.status, 200);
      const sheet = /<link[^>]+href="([^"]+\.css)"/.exec(shown.text)![1]!;
      const { pathname } = new URL(sheet, checkout_url);
      assert.match(pathname, /^\/pay\//);
      assert.match(String((await call(pathname)).headers['content-type']), /^text\/css/);

      const form = shown.forms.find(({ fields }) => fields.includes('name') || fields.length > 0)!;
      assert.equal(form.action.pathname, '/pay/payment.php');
      const typed = Object.fromEntries(
        form.fields.map((name) => [name, /mail/.test(name) ? 'ada@example.org' : 'Ada Lovelace']),
      );
      const sent = await page(form.action, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...FROM_OUR_PAGE },
        body: new URLSearchParams({ ...form.values, ...typed }).toString(),
      });
      assert.equal(sent.status, 303, sent.body);
      const there = new URL(sent.headers.get('location')!, form.action);
      assert.equal(there.origin, `https://${HOST}`);
      assert.match(there.pathname, /^\/pay\//);
      const read = await call(`/pay/v1/payments/${id}`, { headers: BEARER });
      assert.equal(JSON.parse(read.text).data.status, 'requires_review');
    });

    test('the console sets cookies that https alone carries, and is for the networks that are named', async () => {
      const signIn = await call('/pay/console/sign-in');
      assert.equal(signIn.status, 200);
      const cookies = signIn.headers['set-cookie'] ?? [];
      assert.ok(cookies.length > 0, 'there are cookies to look at');
      for (const cookie of cookies) assert.match(cookie, /^__Host-.*; Path=\/; .*Secure/);
      const stranger = newHttpsClient(proxy); // connections are kept for each address they come from
      for (const path of ['/pay/console', '/pay/console/sign-in', '/pay/admin/payments', '/console'])
        assert.equal((await stranger.call(path, { from: '127.0.0.2' })).status, 403, path);
      stranger.close();
    });

    test('answers ask for https for good, http leads there, and nothing older than TLS 1.2 is spoken', async () => {
      const health = await call('/pay/health');
      assert.equal(health.status, 200);
      assert.match(String(health.headers['strict-transport-security']), /max-age=\d{8}/);
      for (const path of ['/pay/health', '/pay/console/sign-in', '/pay/payment.php?payment_id=1']) {
        const { status, location } = await overHttp(proxy.plainPort, path);
        assert.ok([301, 308].includes(status), path);
        assert.equal(location, `https://${HOST}${path}`);
      }
      for (const path of ['/pay/v1/payments', '/v1/payments/pay_1', '/pay/admin/payments']) {
        const { status, text } = await overHttp(proxy.plainPort, path);
        assert.equal(status, 403, path);
        assert.match(text, /^\{"error":\{"code":"forbidden",/);
      }
      const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };
      await assert.rejects(handshake(proxy, old));
      await assert.rejects(handshake(proxy, { servername: 'other.example', rejectUnauthorized: false }));
      assert.equal(await handshake(proxy), 'TLSv1.3');
      assert.equal(await statusOverHttp2(proxy, '/pay/health'), 200);
    });

    test('a customer is counted by their own address, whatever they say it is', async () => {
      const { id } = JSON.parse((await create(client, 'addresses')).text).data;
      const form = { method: 'POST', body: 'token=forged' };
      const type = { 'content-type': 'application/x-www-form-urlencoded', ...FROM_OUR_PAGE };
      const statusesFrom = async (from: string) => {
        const customer = newHttpsClient(proxy);
        const statuses: number[] = [];
        for (let n = 0; n < FORMS_PER_ADDRESS + 3; n++) {
          const claims = `198.51.100.${n}`;
          const headers = {
            ...type,
            'x-forwarded-for': claims,
            'x-real-ip': claims,
            forwarded: `for=${claims};proto=http;host=evil.example`,
            'x-forwarded-host': 'evil.example',
            'x-forwarded-proto': 'http',
          };
          const answer = await customer.call(`/pay/payment.php?payment_id=${id}`, { ...form, headers, from });
          statuses.push(answer.status);
          assert.doesNotMatch(answer.text, /evil\.example/);
        }
        customer.close();
        return statuses;
      };
      assert.equal((await statusesFrom('127.0.0.3')).at(-1), 429, 'one address is one customer');
      assert.notEqual((await statusesFrom('127.0.0.4'))[0], 429, 'another is another');
      const forged = await create(client, 'forged-host', { 'x-forwarded-host': 'evil.example' });
      assert.match(JSON.parse(forged.text).data.checkout_url, new RegExp(`^https://${HOST}/`));
    });

    test('no request hides in another', async () => {
      const hidden = (reference: string) => {
        const body = JSON.stringify({ amount: 1, merchant_reference: reference });
        return `POST /pay/v1/payments HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: Bearer ${LIVE_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      };
      for (const [name, rest] of Object.entries(WAYS_TO_HIDE)) {
        const reference = `hidden-${name}`;
        const outer = `GET /pay/health HTTP/1.1\r\nHost: ${HOST}\r\nConnection: keep-alive\r\n`;
        const answers = await exchangeTls(proxy, outer + rest(hidden(reference)));
        const created = answers.match(/HTTP\/1\.1 201/g)?.length ?? 0;
        assert.equal(await countOf(client, reference), created, `${name}: what was done was answered`);
        // Only a proxy that reads the whole as two requests in a row may answer twice; then both ends agree on it.
        assert.ok(created === 0 || /^HTTP\/1\.1 200/.test(answers), `${name}: ${answers.slice(0, 200)}`);
      }
      assert.equal((await call('/pay/health')).status, 200);
    });

    test('a body that is too large is told so in one shape, by whoever refuses it', async () => {
      for (const bytes of [64 * 1024 + 1, 79_000, 300_000]) {
        const body = JSON.stringify({ amount: 1 }).padEnd(bytes);
        const answer = await call('/pay/v1/payments', { method: 'POST', headers: JSON_BODY, body });
        assert.equal(answer.status, 413, `${bytes} bytes`);
        assert.equal(JSON.parse(answer.text).error.code, 'payload_too_large');
      }
      const whole = JSON.stringify({ amount: 1 }).padEnd(64 * 1024);
      const taken = await call('/pay/v1/payments', { method: 'POST', headers: JSON_BODY, body: whole });
      assert.equal(taken.status, 201, '64 KiB are passed on');
    });

    test('measurements are not passed on, and the log holds addresses but no payment', async () => {
      for (const path of ['/metrics', '/pay/metrics']) {
        const { status, headers } = await call(path);
        assert.equal(status, 404);
        assert.equal(headers['x-request-id'], undefined, `${path} came to the service`);
      }
      const { id } = JSON.parse((await create(client, 'logged')).text).data;
      await call(`/pay/payment.php?payment_id=${id}`, { headers: { referer: `https://${HOST}/?${id}` } });
      for (const path of [
        `v1/payments/${id}`,
        `v1/payments/${id}/cancel`,
        `console/payments/${id}`,
        `admin/payments/${id}`,
      ])
        await call(`/pay/${path}?${id}`, { headers: BEARER });
      await eventually(() => proxy.accessLog().includes('/pay/admin/payments/')); // a proxy may write behind its answer
      const log = proxy.accessLog();
      assert.match(log, /\/pay\/payment\.php/);
      assert.match(log, /\/pay\/v1\/payments\/[^/]*\/cancel/);
      assert.match(log, /127\.0\.0\.1/);
      assert.ok(!log.includes(id), 'a payment stands in the log');
      assert.ok(!log.includes(LIVE_KEY), 'a key stands in the log');
    });

    test('a node that goes away before it answers is replaced where that does no harm, and only there', async (t) => {
      const broken = await startBrokenNode();
      t.after(() => broken.close());
      const beside = await start([broken.port, ...site.ports]);
      t.after(() => beside.stop());
      const asking = newHttpsClient(beside);
      t.after(() => asking.close());
      const statusesOf = async (ask: (number: number) => Promise<ProxyAnswer>) => {
        await new Promise((resolve) => setTimeout(resolve, FORGIVEN_AFTER_MS));
        const statuses: number[] = [];
        // A proxy asks a node that failed less often: on until it was asked.
        for (const before = broken.taken(); broken.taken() === before; ) {
          assert.ok(statuses.length < 200, 'the broken node is asked');
          statuses.push((await ask(statuses.length)).status);
        }
        return statuses;
      };
      const reads = await statusesOf(() => asking.call('/pay/v1/payments', { headers: BEARER }));
      assert.deepEqual(new Set(reads), new Set([200]));
      const bare = await statusesOf((number) => create(asking, `bare-${number}`));
      assert.equal(bare.at(-1), 503, 'a POST that may have been carried out was sent again');
      const keyed = (number: number) =>
        create(asking, `keyed-${number}`, { 'idempotency-key': `keyed-${number}` });
      const repeated = await statusesOf(keyed);
      if (repeatsKeyedWrites) assert.deepEqual(new Set(repeated), new Set([201]));
      for (const [number, status] of repeated.entries())
        assert.equal(await countOf(client, `keyed-${number}`), status === 201 ? 1 : 0);
    });

    test('one node is restarted under load: what fails is told to try again, and no retry does a thing twice', async (t) => {
      const { lostReads } = await besiege(site, proxy, (line) => t.diagnostic(`one node: ${line}`));
      if (waitsForRestarts) assert.equal(lostReads, 0);
    });
  });

  twoNodePromises(proxyName, start, { missing, repeatsKeyedWrites });
}

/** A request for HOST by plain http: `fetch` sends a Host of its own. */
async function overHttp(port: number, path: string) {
  const request = get({ host: '127.0.0.1', port, path, headers: { host: HOST }, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const text = (await response.toArray()).join('');
  return { status: response.statusCode!, location: response.headers.location, text };
}
