// Where somebody who finds a weakness reads whom to tell: on every host name, or nowhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePorts } from '../support/free-ports.ts';
import { startHarness } from '../support/harness.ts';

const PATH = '/.well-known/security.txt';
const DAY_MS = 86_400_000;

test('every surface says whom to tell, for half a year from today, and names its own address', async () => {
  const [own] = await freePorts(1);
  const configuration = `console: { port: ${own} }
security:
  contact: security+counterfoil@shop.example
  policy: https://shop.example/security
  languages: [en, de-CH]
`;
  await using service = await startHarness('sqlite', { configuration });
  for (const origin of [service.origin, `http://127.0.0.1:${own}`]) {
    const response = await fetch(origin + PATH);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    const [contact, expires, canonical, ...others] = (await response.text()).split('\n');
    assert.equal(contact, 'Contact: mailto:security%2Bcounterfoil@shop.example');
    assert.match(expires!, /^Expires: \d{4}-\d\d-\d\dT00:00:00Z$/);
    const days = (Date.parse(expires!.slice('Expires: '.length)) - service.clock.now()) / DAY_MS;
    assert.ok(days > 178 && days <= 180, `${days} days`);
    assert.equal(canonical, `Canonical: ${origin}${PATH}`);
    assert.deepEqual(others, ['Policy: https://shop.example/security', 'Preferred-Languages: en, de-CH', '']);
  }
  assert.equal((await fetch(service.origin + PATH, { method: 'POST' })).status, 404);
});

test('it stands at the root of the host, also where base_url has a path', async () => {
  await using service = await startHarness('sqlite', {
    configuration: 'base_url: http://127.0.0.1/pay\nsecurity: { contact: "https://shop.example/report" }\n',
  });
  const response = await fetch(new URL(PATH, service.origin));
  assert.match(await response.text(), /^Contact: https:\/\/shop\.example\/report\nExpires: /);
});

test('without the setting there is no such file', async () => {
  await using service = await startHarness('sqlite');
  const response = await fetch(service.origin + PATH);
  assert.equal(response.status, 404);
  assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'not_found');
});
