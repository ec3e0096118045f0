// Business names that look like another: who registers by themselves gets none, and is told how to go on; an invitation gets it.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { NamesInUse } from '../../../src/merchants/names-in-use.ts';
import { Applicant, CORNER_SHOP, invited, register, stored } from '../../support/applicant.ts';
import { sharedHarness, startHarness } from '../../support/harness.ts';
import { otherNode } from '../../support/people.ts';
import { addMerchant, unaware } from '../../support/store-merchant.ts';

const CONTACT = 'registration:\n  contact: access@pay.example\n  per_address: 10000\n  per_hour: 10000\n';
const REFUSAL =
  'Looks like the name of another business. Choose another name, or ask access@pay.example for an invitation.';

describe('names that look like another', () => {
  const harness = sharedHarness('postgres', { isVerified: true, configuration: CONTACT });
  before(async () => {
    for (const business_name of ['Modern Bakery', 'Вода', 'Lille & Co.', 'PayPal', 'Stripe', 'Apple'])
      assert.equal((await register(harness, { ...CORNER_SHOP, business_name })).status, 201);
  });
  const named = (business_name: string, more = {}) =>
    register(harness, { ...CORNER_SHOP, business_name, ...more });

  for (const name of [
    'Modern Bakery',
    'MODERN  BAKERY',
    'Modern-Bakery',
    'Ｍｏｄｅｒｎ Ｂａｋｅｒｙ', // full width
    '𝐌𝐨𝐝𝐞𝐫𝐧 Bakery', // mathematical
    'Mоdеrn Bаkеrу', // Cyrillic о, е, а, у
    'Мodern Вakery', // Cyrillic М, В
    'Μodern Βakery', // Greek Μ, Β
    'rnodern Bakery', // "rn" for "m"
    'M0dern Bakery',
    'ᴍᴏᴅᴇʀɴ ʙᴀᴋᴇʀʏ', // small capitals
    '🅼🅾🅳🅴🆁🅽 Bakery',
    'ВОДА',
    'вода',
    'LiIle & Co', // a capital "I" for "l"
    'PayPaI',
    'pаураӏ', // Cyrillic
    'Аррӏе', // Cyrillic
    'ΡAYPAL', // Greek Ρ
    'ᴘᴀʏᴘᴀʟ',
    'ＰａｙＰａｌ',
    'PⱥyPⱥl',
    'PɐyPɐl',
    'ᵖᵃʸᵖᵃˡ',
    'ЅТRІРЕ', // Cyrillic
    'sᴛʀɪᴘᴇ',
  ])
    test(`${name} is refused, with a way on.`, async () => {
      const kept = await stored(harness);
      const { status, json } = await named(name);
      assert.deepEqual([status, json.error?.details], [422, { business_name: REFUSAL }]);
      assert.deepEqual(await stored(harness), kept);
    });

  for (const name of [
    'Modern Bakery of Anne',
    'Ancient Bakery',
    'Apple Orchard',
    'कि और की', // marks of other scripts are read
    'कु और कू',
  ])
    test(`${name} is taken.`, async () => assert.equal((await named(name)).status, 201));

  test('who has an invitation may be called so.', async () => {
    assert.equal((await named('Modern Bakery', { invite: await invited(harness) })).status, 201);
    assert.equal((await named('PayPal', { invite: await invited(harness) })).status, 201);
  });

  test('of twenty at once with names that look alike one registers.', async () => {
    const names = Array.from({ length: 20 }, (_, i) => (i % 2 ? 'Rush Hour' : 'RUSH  HОUR'));
    const statuses = (await Promise.all(names.map((name) => named(name)))).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [201, ...Array(19).fill(422)]);
  });

  test('two nodes that have not heard of each other do not take one name.', async () => {
    const other = await otherNode(harness);
    const nodes = [{}, { database: other.database, journal: other.journal }];
    const at = (i: number, name: string) =>
      addMerchant(unaware({ service: { ...harness.service, ...nodes[i] } }), name);
    await at(0, 'Silent Corner');
    await assert.rejects(at(1, 'SILENT  C0RNER'), { code: 'validation_failed' });
    await at(1, 'Silent Valley');
    const both = await Promise.allSettled([at(0, 'Loud Corner'), at(1, 'L0UD corner')]);
    await other.close();
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  test('the form says so beside the field, and whom to ask.', async () => {
    const ana = new Applicant(harness.origin);
    const page = await ana.send(await ana.open(), { ...CORNER_SHOP, business_name: 'Mоdern Bakery' });
    assert.equal(page.status, 422);
    assert.match(page.text, /href="#business_name"[\s\S]*access@pay\.example/);
  });
});

test('names of the configuration count, and tries are few.', async () => {
  await using harness = await startHarness('sqlite', { configuration: 'registration:\n  per_address: 1\n' });
  const { name } = harness.service.directory.merchants[0]!;
  const body = { ...CORNER_SHOP, business_name: name.toUpperCase() };
  const statuses = [];
  for (let i = 0; i < 5; i++) statuses.push((await register(harness, body)).status);
  assert.deepEqual(statuses, [422, 422, 422, 422, 429]);
});

test('the names of many merchants are read in pieces, and asked for once all are read.', async () => {
  const merchants = Array.from({ length: 1_000 }, (_, i) => ({
    id: `mer_${i}`,
    name: `Shop of number ${i}`,
  }));
  const names = new NamesInUse(merchants);
  let turns = 0;
  let isRead = false;
  const claimed = names.claim('SH0P of number 999').finally(() => {
    isRead = true;
  });
  names.put({ id: 'mer_new', name: 'Meanwhile' });
  while (!isRead) {
    await setImmediate();
    turns++;
  }
  assert.equal(await claimed, undefined);
  assert.ok(turns >= 10, `others had ${turns} turns`);
  assert.deepEqual(await names.idsLike('MEANWHILE'), ['mer_new'], 'made while the others were read');
});
