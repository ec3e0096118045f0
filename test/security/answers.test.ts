// Whatever is answered says what it is, lets no other site in, and keeps its cookies to itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY, LIVE_KEY, sharedHarness, startHarness } from '../support/harness.ts';
import { until } from '../support/waiting.ts';

const service = sharedHarness('sqlite');

/** Answers of every kind: JSON, pages, files, redirects, and errors of each surface. */
async function answers(): Promise<Response[]> {
  const { id } = await service.create();
  const page = `/payment.php?payment_id=${id}`;
  const html = await (await fetch(service.origin + page)).text();
  const [style, icon] = ['stylesheet', 'icon'].map(
    (rel) => new RegExp(`rel="${rel}" href="([^"]+)"`).exec(html)![1]!,
  );
  const paths = [
    ...['/health', '/health/ready', '/openapi.json', `/v1/payments/${id}`, '/v1/payments', '/v1/none'],
    ...[page, '/payment.php?payment_id=none', '/register', '/none', '/admin/payments'],
    ...['/console', '/console/sign-in', '/console/none', `${page}&theme=dark`, style!, icon!],
  ];
  const asked = paths.flatMap((path) =>
    [undefined, 'https://evil.example'].map((origin) => {
      const headers = { authorization: `Bearer ${KEY}`, ...(origin && { origin }) };
      return fetch(service.origin + path, { headers, redirect: 'manual' });
    }),
  );
  return Promise.all(asked);
}

test('every answer has its type, its charset and nosniff, and none lets another site read it', async () => {
  const kinds = new Set<string>();
  for (const { url, headers, status } of await answers()) {
    const label = `${status} ${url}`;
    assert.equal(headers.get('x-content-type-options'), 'nosniff', label);
    for (const [name] of headers) assert.doesNotMatch(name, /^access-control-/, label);
    const type = headers.get('content-type') ?? '';
    kinds.add(type.split(';')[0]!);
    if (/^(text|application)\//.test(type)) assert.match(type, /; charset=utf-8$/, label);
    if (!/^(text\/css|image\/)/.test(type)) {
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/, label);
      for (const part of ["frame-ancestors 'none'", "base-uri 'none'", "object-src 'none'"])
        assert.ok(policy.includes(part), `${label}: ${part}`);
      assert.equal(headers.get('cache-control'), 'no-store', label);
      assert.match(headers.get('referrer-policy') ?? '', /^(no-referrer|same-origin)$/, label);
    }
  }
  for (const kind of ['application/json', 'text/html', 'text/css', 'image/svg+xml'])
    assert.ok(kinds.has(kind), `${kind} is among them`);
});

test('passwords are masked, and open to paste and to password managers', async () => {
  const page = await (await fetch(`${service.origin}/console/sign-in`)).text();
  const fields = [...page.matchAll(/<input\b[^>]*name="password"[^>]*>/g)].map(([field]) => field);
  assert.equal(fields.length, 1);
  assert.match(fields[0]!, / type="password"/);
  assert.match(fields[0]!, / autocomplete="current-password"/);
  assert.doesNotMatch(fields[0]!, /readonly|autocomplete="off"/);
  assert.doesNotMatch(page, /onpaste/);
});

test('every cookie is out of reach of scripts and of other sites', async () => {
  let count = 0;
  for (const { headers, url } of await answers())
    for (const cookie of headers.getSetCookie()) {
      count++;
      assert.match(cookie, /; HttpOnly/, url);
      assert.match(cookie, /; SameSite=(Strict|Lax)/, url);
    }
  assert.ok(count > 2, 'some answers set cookies');
});

test('over https light or dark is kept in a cookie bound to this host; one of the same name without that is not read', async () => {
  const configuration = 'registration:\n  mode: open\n';
  await using production = await startHarness('sqlite', { environment: 'production', configuration });
  const { id } = await production.create({}, { key: LIVE_KEY });
  for (const path of [`/checkout/payment.php?payment_id=${id}`, '/api/register']) {
    const url = new URL(path, production.origin);
    const chosen = await fetch(`${url}${url.search ? '&' : '?'}theme=dark`, { redirect: 'manual' });
    const cookies = chosen.headers.getSetCookie().filter((line) => line.includes('counterfoil_theme='));
    const bound = '__Host-counterfoil_theme=dark; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=31536000';
    assert.deepEqual(cookies, [bound], path);
    const isDark = async (cookie: string) =>
      (await (await fetch(url, { headers: { cookie } })).text()).includes('data-theme="dark"');
    assert.equal(await isDark('__Host-counterfoil_theme=dark'), true, path);
    assert.equal(await isDark('counterfoil_theme=dark'), false, path);
  }
});

test('nobody writes a line into the log', async () => {
  const forged = '\n{"level":50,"msg":"forged"}\n';
  const before = service.logged.length;
  const report = JSON.stringify({
    'csp-report': { 'violated-directive': forged, 'blocked-uri': `https://evil.example/${forged}` },
  });
  const [body, field] = [JSON.stringify({ [forged]: forged }), encodeURIComponent(forged)];
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'user-agent': 'x' };
  await Promise.all([
    fetch(`${service.origin}/${field}?a=${field}`, { headers }),
    fetch(`${service.origin}/v1/payments`, { method: 'POST', headers, body }),
    fetch(`${service.origin}/csp-report`, {
      method: 'POST',
      headers: { 'content-type': 'application/csp-report' },
      body: report,
    }),
  ]);
  const lines = await until(
    () => service.logged.slice(before).map((line) => JSON.parse(line)),
    (all) => all.length >= 3 && all.some(({ msg }) => /content security policy/.test(msg)),
  );
  for (const { msg } of lines) assert.notEqual(msg, 'forged');
});
