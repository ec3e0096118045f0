// Strangers who register, pay or hold a link: they have no letters written to others, and none of others held up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepVerification } from '../../src/journal/last-verification.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/lib/time.ts';
import type { Letter } from '../../src/mail/letter.ts';
import { listLetters } from '../../src/mail/queries.ts';
import { setParticulars } from '../../src/merchants/set-particulars.ts';
import { addPerson } from '../support/admin.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { startMailServer } from '../support/mail-server.ts';
import { addMerchant } from '../support/store-merchant.ts';
import { eventually } from '../support/waiting.ts';

const lettersOf = ({ service }: Harness) => listLetters(service.database, {}, 1000);
const post = (harness: Harness, path: string, key?: string, body?: object) =>
  harness.request(path, { method: 'POST', body, ...(key && { key }) });
/** Waits until there are so many letters, and each is done with. */
const done = async (harness: Harness, count: number): Promise<Letter[]> => {
  const isDone = (all: Letter[]) => all.length === count && all.every(({ due_at }) => due_at === null);
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
  const tries = async () => {
    const { id } = await harness.create({ currency: 'EUR', customer: { email } }, { key });
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
  const { journal, directory } = harness.service;
  await setParticulars(journal, merchant.id, { email }, { actor: 'operator', request_id: null });
  await eventually(() => directory.confirmedEmail(merchant.id) === email);
  await tries();
  await done(harness, 7);
  assert.ok(server.taken.some(({ letter }) => /API key was made/.test(letter.subject!)));
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
  harness.clock.advance(2 * MINUTE_MS);
  const ofKind = async (kind: string) => (await lettersOf(harness)).filter((one) => one.kind === kind);
  await eventually(async () => (await ofKind('history_broken'))[0]?.status === 'retrying');
  server.behave('take');
  harness.clock.advance(HOUR_MS);
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
