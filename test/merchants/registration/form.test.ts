// The form of registration: taken from our own page alone, and a registration once however often it is sent.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newSecret } from '../../../src/lib/secrets.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/lib/time.ts';
import { startNodes } from '../../campaigns/nodes.ts';
import {
  Applicant,
  anotherShop,
  CORNER_SHOP,
  invited,
  KEY_PATTERN,
  keyOn,
  register,
  stored,
} from '../../support/applicant.ts';
import { FROM_OUR_PAGE } from '../../support/customer.ts';
import { sharedHarness, startHarness } from '../../support/harness.ts';
import { idOfKey } from '../../support/keys.ts';
import { ENGINES } from '../../support/stores.ts';

/** One for each network: whoever needs another comes from another. */
const ONE = 'trust_proxy: [127.0.0.1]\nregistration:\n  per_address: 1\n';
let networks = 0;
const fromElsewhere = () => ({ ...FROM_OUR_PAGE, 'x-forwarded-for': `198.51.100.${++networks}` });

for (const engine of ENGINES) {
  describe(`the form on ${engine}`, () => {
    const harness = sharedHarness(engine, { isVerified: true, configuration: ONE });
    const applicant = () => new Applicant(harness.origin);

    test('shows a key that works, on a page that nobody keeps.', async () => {
      const ana = applicant();
      const page = await ana.send(await ana.open(), CORNER_SHOP, fromElsewhere());
      assert.deepEqual([page.status, page.h1], [201, 'Your API key']);
      assert.equal(page.headers.get('cache-control'), 'no-store');
      const payment = await harness.create({}, { key: keyOn(page) });
      assert.equal(payment.merchant_name, 'Corner Shop');
    });

    test('is a registration once, though it is sent twenty times at once.', async () => {
      const ana = applicant();
      const shop = anotherShop();
      const form = await ana.open();
      const before = await stored(harness);
      const headers = fromElsewhere();
      const pages = await Promise.all(Array.from({ length: 20 }, () => ana.send(form, shop, headers)));
      assert.deepEqual(new Set(pages.map(({ status }) => status)), new Set([201]));
      assert.equal(new Set(pages.map(keyOn)).size, 1);
      const { merchants, keys } = await stored(harness);
      assert.deepEqual([merchants - before.merchants, keys - before.keys], [1, 1]);
    });

    test('shows the key again for ten minutes, and then only that it was shown.', async () => {
      harness.clock.stop();
      const ana = applicant();
      const shop = anotherShop();
      const form = await ana.open();
      const headers = fromElsewhere();
      const first = await ana.send(form, shop, headers);
      const before = await stored(harness);
      harness.clock.advance(10 * MINUTE_MS - 5_000);
      assert.equal((await ana.send(form, shop, headers)).text, first.text);
      harness.clock.advance(5_000);
      const late = await ana.send(form, shop, headers);
      assert.deepEqual([late.status, late.h1], [410, 'This key was shown once']);
      assert.doesNotMatch(late.text, KEY_PATTERN);
      assert.deepEqual(await stored(harness), before);
    });

    test('does not show a key again that was revoked.', async () => {
      const ana = applicant();
      const shop = anotherShop();
      const form = await ana.open();
      const headers = fromElsewhere();
      const key = keyOn(await ana.send(form, shop, headers));
      await harness.request(`/v1/api_keys/${idOfKey(key)}/revoke`, { method: 'POST', key });
      assert.equal((await ana.send(form, shop, headers)).status, 410);
    });

    test('uses an invitation up, once, and shows the same key when it is sent again.', async () => {
      const ana = applicant();
      const form = await ana.open({ invite: await invited(harness) });
      assert.match(form.forms[0]!.values.invite!, /^cfi_/);
      const headers = fromElsewhere();
      const pages = [await ana.send(form, CORNER_SHOP, headers), await ana.send(form, CORNER_SHOP, headers)];
      assert.equal(keyOn(pages[0]!), keyOn(pages[1]!));
      const late = await ana.send(form, { ...CORNER_SHOP, email: 'b@corner.example' }, fromElsewhere());
      assert.deepEqual([late.status, late.faults], [422, ['invite']]);
    });
  });

  test(`two nodes that are sent the same form at once make one merchant of it, on ${engine}.`, async (context) => {
    const nodes = await startNodes(engine, 'registration:\n  per_address: 10000\n');
    context.after(() => nodes.close());
    const { harness, origins } = nodes;
    for (let round = 0; round < 5; round++) {
      const ana = new Applicant(harness.origin);
      const form = await ana.open({ invite: await invited(harness) });
      const before = await stored(harness);
      const pages = await Promise.all(
        origins.map((origin) => {
          const action = new URL(form.forms[0]!.action.pathname + form.forms[0]!.action.search, origin);
          return ana.send({ ...form, forms: [{ ...form.forms[0]!, action }] }, CORNER_SHOP);
        }),
      );
      assert.deepEqual(new Set(pages.map(({ status }) => status)), new Set([201]));
      assert.equal(new Set(pages.map(keyOn)).size, 1);
      assert.equal((await stored(harness)).merchants - before.merchants, 1);
    }
    await harness.verify();
  });
}

describe('whose form it is', () => {
  const harness = sharedHarness('sqlite', { configuration: ONE });

  test('the browser gets a secret that no script and no other site can read, and keeps it.', async () => {
    const ana = new Applicant(harness.origin);
    const first = await ana.open();
    const [cookie] = first.headers.getSetCookie();
    assert.match(cookie!, /^counterfoil_registration=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const secret = ana.cookies.get('counterfoil_registration')!;
    const second = await ana.open();
    assert.deepEqual(second.headers.getSetCookie(), []);
    assert.notEqual(first.forms[0]!.values.seed, second.forms[0]!.values.seed);
    for (const { text } of [first, second]) assert.ok(!text.includes(secret));
  });

  test('a form from another site, of another browser, or without its token makes nothing.', async () => {
    const ana = new Applicant(harness.origin);
    const bob = new Applicant(harness.origin);
    const form = await ana.open();
    const other = (await bob.open()).forms[0]!.values;
    const { values } = form.forms[0]!;
    const refused = [
      await ana.send(form, CORNER_SHOP, { 'sec-fetch-site': 'cross-site', origin: 'null' }),
      await ana.send(form, CORNER_SHOP, { 'sec-fetch-site': 'same-site', origin: harness.origin }),
      await ana.send(form, CORNER_SHOP, { 'sec-fetch-site': 'none' }),
      await ana.send(form, CORNER_SHOP, { origin: 'https://evil.example' }),
    ];
    for (const { status, h1 } of refused) assert.deepEqual([status, h1], [403, 'We could not use this form']);
    const shownAgain = [
      await ana.send(form, { ...CORNER_SHOP, token: '' }),
      await ana.send(form, { ...CORNER_SHOP, token: other.token! }),
      await ana.send(form, { ...CORNER_SHOP, seed: other.seed! }),
      await ana.send(form, { ...CORNER_SHOP, seed: '', token: '' }),
      await ana.send(form, { ...CORNER_SHOP, seed: other.seed!, token: other.token! }),
      await bob.send(form, CORNER_SHOP),
      await new Applicant(harness.origin).send(form, CORNER_SHOP),
    ];
    for (const { status, h1 } of shownAgain) assert.deepEqual([status, h1], [403, 'Register your business']);
    assert.equal((await stored(harness)).merchants, 0);
    assert.equal((await ana.send(form, CORNER_SHOP)).status, 201, 'the form itself is good');
    assert.ok(values.seed !== other.seed);
  });

  test('a form whose cookie was replaced is shown again with what was typed, and registers then.', async () => {
    const ana = new Applicant(harness.origin);
    const shop = anotherShop();
    const form = await ana.open();
    ana.cookies.clear();
    const again = await ana.send(form, shop, fromElsewhere());
    assert.deepEqual([again.status, again.h1], [403, 'Register your business']);
    const { seed, token: _, ...typed } = again.forms[0]!.values;
    assert.deepEqual(typed, shop);
    assert.notEqual(seed, form.forms[0]!.values.seed);
    assert.equal((await ana.send(again, {}, fromElsewhere())).status, 201);
  });

  test('the key follows from the page, the cookie and what was typed together, and from none of them without the others.', async () => {
    const [ana, bob] = [new Applicant(harness.origin), new Applicant(harness.origin)];
    const [form, another] = [await ana.open(), await ana.open()];
    const shop = anotherShop();
    const key = keyOn(await ana.send(form, shop, fromElsewhere()));
    assert.equal(keyOn(await ana.send(form, shop, fromElsewhere())), key);
    // What has another key is another registration: somebody has that name by now.
    for (const page of [
      await ana.send(another, shop, fromElsewhere()),
      await bob.send(await bob.open(), shop, fromElsewhere()),
      await ana.send(form, { ...shop, email: 'b@corner.example' }, fromElsewhere()),
      await ana.send(form, { ...shop, website: 'https://b.example' }, fromElsewhere()),
    ])
      assert.equal(page.status, 422);
    const named = { business_name: anotherShop().business_name };
    const keys = [key];
    for (const more of [named, { invite: await invited(harness) }])
      keys.push(keyOn(await ana.send(form, { ...shop, ...more }, fromElsewhere())));
    assert.equal(new Set(keys.map((one) => one.slice('cfk_test_'.length))).size, 3);
  });

  test('in production its cookie is bound to the host and to https.', async (context) => {
    const production = await startHarness('sqlite', {
      environment: 'production',
      configuration: 'registration:\n  mode: open\n',
    });
    context.after(() => production.close());
    const response = await fetch(`${production.origin}/register`);
    assert.match(
      response.headers.get('set-cookie')!,
      /^__Host-counterfoil_registration=[\w-]{43}; .*; Secure$/,
    );
    assert.match(await response.text(), /action="\/api\/register#errors"/);
  });
});

describe('what the form is told', () => {
  const harness = sharedHarness('sqlite', { configuration: ONE });

  test('every fault stands above the form and at its field in the same words, and what was typed stays.', async () => {
    const ana = new Applicant(harness.origin);
    const typed = {
      business_name: 'Shop 4242 4242 4242 4242',
      email: ' ana ',
      website: 'corner',
      invite: 'x',
    };
    const page = await ana.send(await ana.open({ invite: 'x' }), typed);
    assert.equal(page.status, 422);
    assert.equal(page.title, 'Error: Register your business – Counterfoil');
    const said = {
      business_name: 'Business name: remove the card number. It does not belong here',
      email: 'Email address must look like name@example.com',
      website: 'Website must be a full address such as https://shop.example',
    };
    for (const [field, message] of Object.entries(said)) {
      assert.equal(page.link(message).hash, `#${field}`);
      assert.equal(page.body.split(message).length, 3, message);
      assert.match(
        page.text,
        new RegExp(`id="${field}"[^>]* aria-invalid="true" aria-describedby="${field}-hint ${field}-error"`),
      );
    }
    const { seed: _, token: __, ...shown } = page.forms[0]!.values;
    assert.deepEqual(shown, typed);
    const fixed = { ...anotherShop(), email: ` ${CORNER_SHOP.email} `, invite: '' };
    assert.equal((await ana.send(page, fixed, fromElsewhere())).status, 201, 'spaces around are let pass');
  });

  for (const [field, value, message] of [
    ['business_name', '', 'Enter your business name'],
    ['business_name', 'x'.repeat(121), 'Business name must be 120 characters or fewer'],
    ['business_name', 'a\u0007b', 'Business name: remove the characters that cannot be shown'],
    ['email', '', 'Enter your email address'],
    ['email', `${'x'.repeat(250)}@a.example`, 'Email address must be 254 characters or fewer'],
    ['website', `https://a.example/${'x'.repeat(2040)}`, 'Website must be 2048 characters or fewer'],
  ] as const)
    test(`${field} that is ${value === '' ? 'empty' : `${value.length} characters`}: ${message}.`, async () => {
      const ana = new Applicant(harness.origin);
      const page = await ana.send(await ana.open(), { ...CORNER_SHOP, [field]: value });
      assert.equal(page.status, 422);
      assert.equal(page.link(message).hash, `#${field}`);
    });

  for (const [typed, kept] of [
    ['corner.example', 'https://corner.example'],
    ['corner.example:8443/shop', 'https://corner.example:8443/shop'],
    ['http://corner.example', 'http://corner.example'],
  ] as const)
    test(`the website ${typed} is ${kept}.`, async () => {
      const ana = new Applicant(harness.origin);
      const shop = anotherShop();
      const page = await ana.send(await ana.open(), { ...shop, website: typed }, fromElsewhere());
      assert.equal(page.status, 201);
      const rows = await harness.service.database.query<{ website: string }>(
        'select website from merchants where id in (select merchant_id from api_keys where id = ?)',
        idOfKey(keyOn(page)),
      );
      assert.deepEqual(
        rows.map(({ website }) => website),
        [kept],
      );
    });

  test('too many are told to wait, and how long; a form that had its key shown is not among them.', async () => {
    const headers = fromElsewhere();
    const ana = new Applicant(harness.origin);
    const shop = anotherShop();
    const form = await ana.open();
    const fruitless = await ana.send(form, { ...shop, invite: newSecret('cfi_') }, headers);
    assert.equal(fruitless.status, 422, 'what comes to nothing counts for nothing');
    assert.equal((await ana.send(form, shop, headers)).status, 201);
    const late = await ana.send(await ana.open(), anotherShop(), headers);
    assert.deepEqual([late.status, late.h1], [429, 'Too many attempts']);
    assert.match(late.body, /Wait 60 minutes/);
    assert.ok(Number(late.headers.get('retry-after')) > 3500);
    assert.equal((await ana.send(form, shop, headers)).status, 201);
    assert.equal(
      (await register(harness, anotherShop(), { headers })).status,
      429,
      'both ways count together',
    );
    harness.clock.advance(HOUR_MS);
    assert.equal((await ana.send(await ana.open(), anotherShop(), headers)).status, 201);
  });

  test('what is too large, or no form, is refused on a page.', async () => {
    const ana = new Applicant(harness.origin);
    const form = await ana.open();
    const large = await ana.send(form, { ...CORNER_SHOP, x: 'x'.repeat(16 * 1024) });
    assert.deepEqual([large.status, large.h1], [413, 'We could not use this form']);
    const broken = await fetch(`${harness.origin}/register`, {
      method: 'POST',
      headers: { ...FROM_OUR_PAGE, 'content-type': 'application/x-www-form-urlencoded' },
      body: new Uint8Array([0xff]),
    });
    assert.deepEqual([broken.status, broken.headers.get('content-type')], [400, 'text/html; charset=utf-8']);
  });

  test('a failure says that the same form may be sent again, which then registers once.', async () => {
    await using failing = await startHarness('sqlite');
    const ana = new Applicant(failing.origin);
    const form = await ana.open();
    await failing.service.journal.close();
    const page = await ana.send(form, CORNER_SHOP);
    assert.deepEqual([page.status, page.h1], [503, 'There is a problem with this page']);
    assert.ok(page.body.includes(page.headers.get('x-request-id')!));
    await failing.stop();
    await failing.start();
    const action = new URL('/register', failing.origin);
    const again = { ...form, forms: [{ ...form.forms[0]!, action }] };
    assert.equal(keyOn(await ana.send(again, CORNER_SHOP)), keyOn(await ana.send(again, CORNER_SHOP)));
    assert.equal((await stored(failing)).merchants, 1);
  });
});
