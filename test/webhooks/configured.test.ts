// Endpoints of the configuration file: what a wrong one is told, and how the store takes them over.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ConfigurationError, parseConfiguration } from '../../src/operate/config.ts';
import { sharedHarness } from '../support/harness.ts';
import { shared } from '../support/shared.ts';
import { eventually } from '../support/waiting.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const PRODUCTION = 'environment: production\nbase_url: https://pay.example\ntrust_proxy: [127.0.0.1]\n';
const MERCHANT = 'merchants:\n  - id: mer_one\n    name: One\n    webhooks:\n';
const parse = (lines: string, head = PRODUCTION) =>
  parseConfiguration(head + MERCHANT + lines, '/c.yaml', {});

test('an endpoint of the file is read with its merchant, its mode and its types', () => {
  const lines =
    '      - {id: shop, url: https://shop.example/hook, mode: live}\n' +
    '      - {id: till, url: https://shop.example/till, types: [payment.approved]}\n';
  const [shop, till] = parse(lines).endpoints;
  assert.deepEqual(shop, {
    ...{ merchant_id: 'mer_one', mode: 'live', name: 'shop' },
    ...{ url: 'https://shop.example/hook', types: null },
  });
  assert.deepEqual([till!.mode, till!.types], ['test', '["payment.approved"]']);
  const [inDevelopment] = parse(lines, 'environment: development\n').endpoints;
  assert.equal(inDevelopment!.mode, 'test');
  assert.deepEqual(parse('').endpoints, []);
});

test('a wrong endpoint of the file is told with its line', () => {
  const said = (lines: string) => {
    try {
      parse(lines);
    } catch (error) {
      assert.ok(error instanceof ConfigurationError, String(error));
      return error.message;
    }
    return assert.fail(`nothing is said of ${lines}`);
  };
  for (const [lines, expected] of [
    ['      - {url: https://shop.example}\n', /^\/c.yaml:8: merchants\[0\].webhooks\[0\].* is missing/],
    ['      - {id: shop}\n', /url/],
    ['      - {id: Shop, url: https://shop.example}\n', /id must be up to 40 of 0-9, a-z and _/],
    [
      '      - {id: shop, url: http://shop.example}\n',
      /:8: merchants\[0\].webhooks\[0\].url must be an https URL$/,
    ],
    [
      '      - {id: shop, url: "https://127.0.0.1/"}\n',
      /url must name its host: an IP address is not allowed$/,
    ],
    ['      - {id: shop, url: "https://shop.example:8443/"}\n', /url must have port 443$/],
    ['      - {id: shop, url: https://shop.example, types: [payment.paid]}\n', /types\[0\]/],
    ['      - {id: shop, url: https://shop.example, mode: both}\n', /mode/],
    ['      - {id: shop, url: https://shop.example, secret: whsec_AAAA}\n', /secret is not a setting/],
    [
      '      - {id: shop, url: https://shop.example}\n      - {id: shop, url: https://shop.example/2}\n',
      /:9: merchants\[0\].webhooks\[1\].id is used twice$/,
    ],
    [
      Array.from({ length: 17 }, (_, i) => `      - {id: a${i}, url: https://shop.example}\n`).join(''),
      /webhooks/,
    ],
  ] as const)
    assert.match(said(lines), expected);
});

describe('endpoints of the configuration file', () => {
  const service = sharedHarness('sqlite', { isVerified: true });
  const receiver = shared(WebhookReceiver.start);
  before(() => {
    receiver.isUntold = true; // the store makes the secrets, and tells only what is rotated
  });

  const MERCHANT_ID = 'mer_development';
  const PATH = '/v1/webhook_endpoints';
  const list = async () => (await service.request(PATH)).json.data;
  const wanted = (name: string, path: string, types: string | null = null) => ({
    ...{ merchant_id: MERCHANT_ID, mode: 'test' as const, name },
    ...{ url: receiver.url(path), types },
  });
  const send = (method: string, id: string, path = '', body?: object) =>
    service.request(`${PATH}/${id}${path}`, { method, ...(body && { body }) });

  test('they come and go with the file, and keep their id and secret when their URL changes.', async () => {
    const { webhooks } = service.service;
    webhooks.configure([wanted('shop', '/one'), wanted('till', '/till', '["payment.approved"]')]);
    await eventually(async () => (await list()).length === 2);
    const [shop] = (await list()).filter((one: { description: string }) => one.description === 'shop');
    const rotated = await send('POST', shop.id, '/rotate_secret');
    const { secret } = rotated.json.data;
    await service.create();
    const [received] = await receiver.have(1, '/one');
    assert.ok(WebhookReceiver.isSigned(received!, [secret]));

    for (const [method, body] of [
      ['PATCH', { url: receiver.url('/theirs') }],
      ['DELETE', undefined],
    ] as const)
      assert.equal((await send(method, shop.id, '', body)).status, 409, method);
    assert.equal((await send('PATCH', shop.id, '', { status: 'disabled' })).status, 200);
    assert.equal((await send('PATCH', shop.id, '', { status: 'enabled' })).status, 200);

    const [till] = (await list()).filter((one: { description: string }) => one.description === 'till');
    assert.equal((await send('PATCH', till.id, '', { status: 'disabled' })).status, 200);
    webhooks.configure([wanted('shop', '/two')]);
    await eventually(async () => (await list()).every((one: { url: string }) => !one.url.endsWith('/one')));
    await service.create();
    const [moved] = await receiver.have(1, '/two');
    assert.ok(WebhookReceiver.isSigned(moved!, [secret]), 'the secret is as it was');
    const byName = async (name: string) =>
      (await list()).find((one: { description: string }) => one.description === name);
    await eventually(async () => (await byName('till')).disabled_reason === 'operator');
    assert.equal(
      (await send('PATCH', till.id, '', { status: 'enabled' })).status,
      409,
      'its merchant cannot',
    );
    assert.match((await byName('till')).disabled_note, /no longer in/);

    await service.create();
    const both = [wanted('shop', '/two'), wanted('till', '/till')];
    webhooks.configure(both);
    await eventually(async () => (await byName('till')).status === 'enabled');
    assert.equal((await byName('till')).types, null);
    await receiver.have(1, '/till'); // what happened meanwhile
    const before = await list();
    webhooks.configure(both);
    await service.create();
    await receiver.have(3, '/two');
    assert.deepEqual(await list(), before, 'what is as the file says is not changed');
  });

  test('one beyond 16 is logged and left out, the others are taken over.', async () => {
    const { webhooks } = service.service;
    while ((await list()).length < 16)
      await service.request(PATH, { method: 'POST', body: { url: receiver.url('/more') } });
    webhooks.configure([wanted('shop', '/two'), wanted('much', '/much'), wanted('till', '/other')]);
    await eventually(async () => (await list()).some((one: { url: string }) => one.url.endsWith('/other')));
    assert.equal((await list()).length, 16);
    assert.equal(service.logged.filter((line) => line.includes('of the file is left out')).length, 1);
  });
});
