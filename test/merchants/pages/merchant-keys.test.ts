// A merchant's keys in the console: made, replaced and revoked by administrators alone; shown once, and made once however often one clicks.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Client, type ConsolePage, MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { KEY, sharedHarness } from '../../support/harness.ts';
import { idOfKey } from '../../support/keys.ts';
import { strictly } from '../../support/markup.ts';
import { addMerchant } from '../../support/store-merchant.ts';

const KEYS = '/merchants/mer_development/keys';
const MAKE = 'Create the key';
/** The key that a page shows. */
function shown(page: ConsolePage): string {
  const [key] = /cfk_(test|live)_\w{49}/.exec(page.text) ?? assert.fail(page.body);
  return key!;
}

describe(`a merchant's keys in the console`, () => {
  const harness = sharedHarness('sqlite', { isVerified: true, configuration: MANY_SIGN_INS });
  let ana: Client;
  let bob: Client;
  before(async () => {
    ana = await signIn(harness, 'administrator', 'Ana Admin');
    bob = await signIn(harness, 'reviewer', 'Bob Reviewer');
  });
  const status = async (key: string) => (await harness.request('/v1/payments', { key })).status;
  const keyCount = async () => (await harness.service.database.query('select id from api_keys')).length;

  test('An administrator makes a key, which is shown once on a page that nobody keeps, and listed without it.', async () => {
    const form = await ana.get(`${KEYS}/new`);
    assert.doesNotMatch(form.body, /Live payments/, 'in development there are none');
    const page = await ana.send(form, { name: 'Till <1>', end: '30' }, MAKE);
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('cache-control'), 'no-store');
    assert.deepEqual(strictly(page.text).faults, []);
    const key = shown(page);
    assert.equal(page.text.split(key).length, 2, 'once');
    assert.equal(await status(key), 200);
    const list = await ana.get('/merchants/mer_development');
    assert.deepEqual(strictly(list.text).faults, []);
    assert.ok(!list.text.includes(key));
    assert.match(list.text, /Till &lt;1>|Till &lt;1&gt;/);
    assert.match(list.body, new RegExp(`${idOfKey(key)}[\\s\\S]*cfk_test_…${key.slice(-4)}`));
    assert.match(list.body, /Active until/);
  });

  test('Whoever revokes a key is told before and after which keys it made that still work, each with a way to end it.', async () => {
    const { key, merchant, row } = await addMerchant(harness);
    const made = await harness.request('/v1/api_keys', { method: 'POST', key, body: {} });
    const child = made.json.data.id;
    const question = await ana.get(`/merchants/${merchant.id}/keys/${row.id}/revoke`);
    assert.match(question.body, new RegExp(`1 key .* still works[^]*${child}`));
    const answer = await ana.send(question, {}, 'Revoke the key');
    assert.match(answer.body, new RegExp(`key is revoked[^]*${child}`));
    assert.deepEqual(strictly(answer.text).faults, []);
    assert.ok(answer.text.includes(`/merchants/${merchant.id}/keys/${child}/revoke`));
    const last = await ana.send(
      await ana.get(`/merchants/${merchant.id}/keys/${child}/revoke`),
      {},
      'Revoke the key',
    );
    assert.doesNotMatch(last.body, /created with it/);
    assert.deepEqual([await status(key), await status(made.json.data.key)], [401, 401]);
  });

  test('The page of a merchant lists the keys that work and the twenty that ended last.', async () => {
    const { merchant, key, row } = await addMerchant(harness);
    const ended: string[] = [];
    for (let i = 0; i < 22; i++) {
      const { id } = (await harness.request('/v1/api_keys', { method: 'POST', key, body: {} })).json.data;
      await harness.request(`/v1/api_keys/${id}/revoke`, { method: 'POST', key });
      ended.push(id);
      harness.clock.advance(1000);
    }
    const { text } = await ana.get(`/merchants/${merchant.id}`);
    assert.ok(text.includes(row.id));
    assert.deepEqual(
      ended.filter((id) => text.includes(id)),
      ended.slice(2),
    );
  });

  test('A key of the configuration is replaced and revoked in its file, and the page says by which line.', async () => {
    for (const act of ['rotate', 'revoke'])
      for (const answer of [
        await ana.get(`${KEYS}/${idOfKey(KEY)}/${act}`),
        await ana.post(`${KEYS}/${idOfKey(KEY)}/${act}`, { overlap: '0' }),
      ]) {
        assert.equal(answer.status, 409);
        assert.match(answer.body, new RegExp(`file, with the key_sha256 ${idOfKey(KEY).slice(4)}…`));
      }
    const { body, text } = await ana.get('/merchants/mer_development');
    assert.ok(body.includes('In the configuration file') && !text.includes(`Revoke ${idOfKey(KEY)}`));
    assert.equal(await status(KEY), 200);
  });

  test('The same form sent again, by a second click or a reload, shows the same key and makes no other.', async () => {
    const form = await ana.get(`${KEYS}/new`);
    const before = await keyCount();
    const pages = await Promise.all([
      ana.send(form, {}, MAKE),
      ana.send(form, {}, MAKE),
      ana.send(form, {}, MAKE),
    ]);
    const keys = new Set(pages.map(shown));
    keys.add(shown(await ana.send(form, {}, MAKE)));
    assert.equal(keys.size, 1);
    assert.equal(await keyCount(), before + 1);
    assert.notEqual(shown(await ana.send(await ana.get(`${KEYS}/new`), {}, MAKE)), [...keys][0]);

    const [key] = keys;
    const rotation = await ana.get(`${KEYS}/${idOfKey(key!)}/rotate`);
    const rotated = await Promise.all([1, 2].map(() => ana.send(rotation, {}, 'Create the new key')));
    assert.equal(new Set(rotated.map(shown)).size, 1);
    assert.equal(await keyCount(), before + 3);
    harness.clock.advance(11 * 60_000);
    const late = await ana.send(form, {}, MAKE);
    assert.ok(late.status >= 400 && !late.text.includes(key!), 'and for ten minutes alone');
    ana = await signIn(harness, 'administrator', 'Ana Admin');
    bob = await signIn(harness, 'reviewer', 'Bob Reviewer');
  });

  test('Another session comes to another key of the same form: a page that somebody saw tells no key.', async () => {
    const form = await ana.get(`${KEYS}/new`);
    const one = shown(await ana.send(form, {}, MAKE));
    const eve = await signIn(harness, 'administrator', 'Eve Admin');
    const { seed } = form.forms.find(({ button }) => button === MAKE)!.values;
    await eve.get(`${KEYS}/new`);
    const other = await eve.post(`${KEYS}/new`, { seed: seed!, name: '', mode: 'test', end: 'never' });
    assert.notEqual(shown(other), one);
  });

  test('A rotated key works on for as long as was chosen; the page says when it was last used.', async () => {
    const old = shown(await ana.send(await ana.get(`${KEYS}/new`), {}, MAKE));
    const unused = await ana.get(`${KEYS}/${idOfKey(old)}/rotate`);
    assert.match(unused.body, /not used yet/);
    await status(old);
    const form = await ana.get(`${KEYS}/${idOfKey(old)}/rotate`);
    assert.match(form.body, /Last used\s*(under )?\d+ min ago/);
    const page = await ana.send(form, { overlap: '1h' }, 'Create the new key');
    assert.deepEqual(strictly(page.text).faults, []);
    const key = shown(page);
    assert.match(page.body, new RegExp(`old key is ${idOfKey(old)}\\. .* until`));
    assert.deepEqual([await status(old), await status(key)], [200, 200]);
    const list = await ana.get('/merchants/mer_development');
    assert.match(list.body, new RegExp(`replaced by ${idOfKey(key)}`));
    assert.equal(
      (await ana.get(`${KEYS}/${idOfKey(old)}/rotate`)).h1,
      'Development Shop',
      'it was replaced already',
    );
    const leaked = await ana.send(
      await ana.get(`${KEYS}/${idOfKey(key)}/rotate`),
      { overlap: '0' },
      'Create the new key',
    );
    assert.match(leaked.body, /no longer works/);
    assert.equal(await status(key), 401);
  });

  test('Revoking asks first, names the last use, and ends the key at once.', async () => {
    const key = shown(await ana.send(await ana.get(`${KEYS}/new`), {}, MAKE));
    await status(key);
    const page = await ana.get(`${KEYS}/${idOfKey(key)}/revoke`);
    assert.match(page.body, /was last used (under )?\d+ min ago\. .* undone\./);
    assert.deepEqual(strictly(page.text).faults, []);
    assert.equal(await status(key), 200, 'looking ends nothing');
    const list = await ana.send(page, {}, 'Revoke the key');
    assert.match(list.body, /Revoked/);
    assert.equal(await status(key), 401);
    assert.equal((await ana.send(page, {}, 'Revoke the key')).h1, 'Development Shop');
  });

  test('What is wrong with a form is told, and what was typed is still there.', async () => {
    const form = await ana.get(`${KEYS}/new`);
    const before = await keyCount();
    const long = await ana.send(form, { name: 'x'.repeat(81) }, MAKE);
    assert.deepEqual([long.status, long.faults], [422, ['name']]);
    assert.deepEqual(strictly(long.text).faults, []);
    for (const faulty of [{ mode: 'live' }, { mode: 'x' }, { end: '7' }])
      assert.equal((await ana.send(form, faulty, MAKE)).status, 422, JSON.stringify(faulty));
    assert.equal((await ana.send(form, { seed: 'x' }, MAKE)).status, 400);
    const made = shown(await ana.send(form, {}, MAKE));
    const rotation = await ana.get(`${KEYS}/${idOfKey(made)}/rotate`);
    assert.equal((await ana.send(rotation, { overlap: '2h' }, 'Create the new key')).status, 422);
    assert.equal(await keyCount(), before + 1);
  });

  test("A key is changed under its own merchant's address alone.", async () => {
    for (const path of [
      `/merchants/mer_other/keys/${idOfKey(KEY)}/revoke`,
      `${KEYS}/key_0000000000000000/rotate`,
      '/merchants/mer_nobody/keys/new',
    ]) {
      assert.equal((await ana.get(path)).status, 404, path);
      assert.equal((await ana.post(path, {})).status, 404, path);
    }
    assert.equal(await status(KEY), 200);
  });

  test('A merchant of the store is listed and shown with what is known of it, and found by its name.', async () => {
    const { merchant, key } = await addMerchant(harness, 'Zoë’s Bakery');
    const page = await bob.get(`/merchants/${merchant.id}`);
    assert.match(page.body, /owner@corner\.example/);
    assert.match(page.body, /console and API/);
    assert.match(page.body, /Since/);
    const { id } = await harness.create({}, { key });
    assert.match((await bob.get(`/payments?merchant=${merchant.id}`)).text, new RegExp(id));
    const csv = await bob.get(`/payments.csv?merchant=${merchant.id}`);
    assert.match(csv.text, new RegExp(id));
    const found = await bob.get(`/merchants?q=${encodeURIComponent('zoë')}`);
    assert.match(found.body, /Zoë’s Bakery/);
    assert.doesNotMatch(found.body, /Development Shop/);
    assert.doesNotMatch((await bob.get('/merchants?q=nobody')).text, /\/merchants\/mer_/);
  });
});
