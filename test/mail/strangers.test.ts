// Strangers who register, pay or hold a link: they have no letters written to others, and none of others held up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepVerification } from '../../src/journal/background-verification.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/time.ts';
import { addPerson } from '../support/admin.ts';
import { signIn } from '../support/console.ts';
import { open, send, TYPED } from '../support/customer.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { lettersOf, type StoredLetter, startMailServer } from '../support/mail-server.ts';
import { createAt, SHOP } from '../support/shop.ts';
import { addMerchant, sayOf } from '../support/store-merchant.ts';
import { eventually } from '../support/waiting.ts';

const post = (harness: Harness, path: string, key?: string, body?: object) =>
  harness.request(path, { method: 'POST', body, ...(key && { key }) });
/** Waits until there are so many letters, and each is done with. */
const done = async (harness: Harness, count: number): Promise<StoredLetter[]> => {
  const isDone = (all: StoredLetter[]) => all.length === count && all.every(({ due_at }) => due_at === null);
  await eventually(async () => isDone(await lettersOf(harness)));
  return lettersOf(harness);
};

test('in production a test key has nothing written to an address that its registration alone names', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', {
    environment: 'production',
    configuration: server.configuration,
  });
  const { merchant, key } = await addMerchant(harness);
  const email = merchant.email!;
  const statuses: number[] = [];
  const tries = async () => {
    const { id } = await harness.create({ currency: 'EUR', customer: { email } }, { key });
    statuses.push((await post(harness, `/v1/payments/${id}/send_link`, key)).status);
    await post(harness, `/v1/test/payments/${id}/submit`, key);
    await post(harness, '/v1/api_keys', key, { name: 'Your account is locked' });
  };
  await tries();
  // One more is of the key that it was registered with.
  const letters = await done(harness, 4);
  assert.deepEqual(
    letters.map(({ status }) => status),
    Array(4).fill('withdrawn'),
  );
  assert.equal(server.taken.length, 0);
  await sayOf(harness, merchant.id, { email });
  await tries();
  await done(harness, 8);
  assert.deepEqual(statuses, [409, 200]);
  assert.ok(server.taken.some(({ letter }) => /API key was/.test(letter.subject!)));
  assert.ok(server.taken.some(({ letter }) => /details received/.test(letter.subject!)));
});

test('whoever has many letters written to the address of an administrator delays no alert, and they are tried for 48 hours', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  harness.clock.stop();
  const { email } = await addPerson(harness, 'administrator');
  server.behave({ code: 421, at: 'greeting' });
  for (let i = 0; i < 41; i++) {
    const { id } = await harness.create({ customer: { email } });
    await post(harness, `/v1/payments/${id}/cancel`);
  }
  keepVerification(harness.store.storage, { at: Date.now(), intact: false, acknowledged: 0 });
  const ofKind = async (kind: string) => (await lettersOf(harness)).filter((one) => one.kind === kind);
  // A letter may be on its way when the clock is moved, and puts off the next: so time goes on until the alert was tried.
  await eventually(async () => {
    harness.clock.advance(2 * MINUTE_MS);
    return (await ofKind('history_broken'))[0]?.status === 'retrying';
  });
  server.behave('take');
  // So does the last that was refused, if it was still on its way.
  await eventually(() => {
    harness.clock.advance(5 * MINUTE_MS);
    return server.taken.length > 0;
  });
  await server.next(21);
  assert.equal(server.taken[0]!.letter.subject, 'The history does not verify');
  const late = async () => (await ofKind('cancelled')).filter(({ answer }) => /Too many/.test(answer ?? ''));
  await eventually(async () => (await late()).length === 21);
  harness.clock.advance(48 * HOUR_MS);
  await eventually(async () => (await ofKind('cancelled')).every(({ due_at }) => due_at === null));
  assert.deepEqual(
    (await late()).map(({ status }) => status),
    ['failed'],
  );
});

test('a link whose letter would not leave is not said to be on its way, and API and console count links together', async () => {
  await using harness = await startHarness('sqlite');
  const { merchant, key } = await addMerchant(harness);
  const { id } = await harness.create({ customer: { email: 'ada@example.com' } }, { key });
  await sayOf(harness, merchant.id, { letters_off: ['link'] });
  const refused = await post(harness, `/v1/payments/${id}/send_link`, key);
  assert.deepEqual([refused.status, refused.json.error.code], [409, 'conflict']);
  const other = await harness.create({ customer: { email: 'ada@example.com' } });
  const client = await signIn(harness, 'reviewer');
  for (let i = 0; i < 3; i++)
    assert.equal((await post(harness, `/v1/payments/${other.id}/send_link`)).status, 200);
  const page = await client.get(`/mail?about=${other.id}`);
  assert.equal((await client.send(page, {}, /Send the link/)).status, 429);
});

test('one link has details confirmed to three addresses a day, then to the last that was typed', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: SHOP + server.configuration });
  harness.clock.stop();
  const { id } = await createAt(harness, 'transfer');
  const confirmed = async (status: string) =>
    (await lettersOf(harness)).filter((one) => one.kind === 'details_received' && one.status === status);
  for (let i = 0; i < 5; i++) {
    await send(await open(harness, id), { ...TYPED.transfer, 'payer-email': `stranger${i}@example.org` });
    if (i < 3) await eventually(async () => (await confirmed('sent')).length === i + 1);
    else
      await eventually(async () =>
        (await confirmed('pending')).some(({ answer }) => /Too many/.test(answer ?? '')),
      );
    if (i === 4) await eventually(async () => (await confirmed('withdrawn')).length === 1);
    if (i < 4) await takeBack(harness, id);
  }
  assert.equal(server.taken.length, 3);
  harness.clock.advance(DAY_MS);
  await eventually(() => server.taken.length === 4);
  assert.deepEqual(
    server.taken.map(({ to }) => to[0]),
    [0, 1, 2, 4].map((i) => `stranger${i}@example.org`),
  );
});

/** Sends the form of the payment's page that takes back what was sent. */
async function takeBack(harness: Harness, id: string): Promise<void> {
  const page = await open(harness, id);
  const form = page.forms.find(({ button }) => /back/i.test(button));
  await send({ ...page, forms: [form!] });
}

test('a new link is told once, to the address that asked for it', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  const asks = async (email: string, merchant_reference: string) => {
    const { id } = await harness.create({ customer: { email }, merchant_reference });
    for (const act of ['expire', 'request_link']) await post(harness, `/v1/test/payments/${id}/${act}`);
  };
  await asks('ada@example.com', 'A');
  await asks('ben@example.com', 'B');
  const told = [];
  for (const [email, merchant_reference] of [
    ['stranger@example.org', 'A'],
    ['ada@example.com', 'A'],
    ['BEN@example.com', 'B'],
    ['ben@example.com', 'B'],
  ])
    told.push((await harness.create({ customer: { email }, merchant_reference })).id);
  const last = await harness.create({ customer: { email: 'cleo@example.com' } });
  await post(harness, `/v1/payments/${last.id}/send_link`);
  await eventually(() => server.taken.some(({ to }) => to[0] === 'cleo@example.com'));
  const newLinks = (await lettersOf(harness)).filter(({ kind }) => kind === 'new_link');
  assert.deepEqual(
    newLinks.map(({ about }) => about),
    [told[2]],
  );
});

test('what waits and tells the same to the same reader leaves once', async () => {
  await using server = await startMailServer();
  await using harness = await startHarness('sqlite', { configuration: server.configuration });
  const wanted = { customer: { email: 'ada@example.com' }, merchant_reference: 'C' };
  server.behave({ code: 421, at: 'greeting' });
  const { id } = await harness.create(wanted);
  for (const act of ['expire', 'request_link']) await post(harness, `/v1/test/payments/${id}/${act}`);
  const again = await harness.create(wanted);
  const count = async () => (await lettersOf(harness)).filter(({ about }) => about === again.id).length;
  for (let links = 0; links < 4; links++) {
    if (links > 0) await post(harness, `/v1/payments/${again.id}/send_link`);
    await eventually(async () => (await count()) === links + 1);
  }
  server.behave('take');
  harness.clock.stop();
  await eventually(async () => {
    harness.clock.advance(5 * MINUTE_MS);
    return (await lettersOf(harness)).every(({ due_at }) => due_at === null);
  });
  assert.equal(server.taken.length, 1);
  const [newest, ...older] = (await lettersOf(harness)).map(({ status }) => status);
  assert.deepEqual([newest, new Set(older)], ['sent', new Set(['withdrawn'])]);
});
