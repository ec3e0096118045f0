// Days at the service, for campaigns that need a history: payments made, paid, decided, cancelled, expired, forgotten and erased.
import type { Transaction } from '../../src/journal/transaction.ts';
import { DAY_MS, SECOND_MS } from '../../src/lib/time.ts';
import { forgetOldAnswers } from '../../src/payments/idempotency.ts';
import { addNote, claim, release } from '../../src/review/act.ts';
import type { Harness } from '../support/harness.ts';
import { askForLink, decide, erase, record, submit, sweep } from '../support/payments.ts';
import { ANA, BEN, haveReviewers } from '../support/reviewers.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

const LIFE_S = 300;

/** What administrators do with a payment besides deciding. */
async function look(service: Harness, random: SeededRandom, id: string) {
  await haveReviewers(service.service);
  const one = random.pick([ANA, BEN]);
  return service.service.journal.commit<unknown>(
    random.pick([
      (transaction: Transaction) => claim(transaction, one, id, { force: random.chance(0.3) }),
      (transaction: Transaction) => release(transaction, one, id),
      (transaction: Transaction) => addNote(transaction, one, id, 'Asked Zoë.'),
    ]),
    id,
  );
}

/** One thing that a day at the service brings. */
export async function act(service: Harness, random: SeededRandom): Promise<void> {
  const anyOf = async (status: string): Promise<string | undefined> => {
    const { json } = await service.request(`/v1/payments?status=${status}&limit=5`);
    return json.data.length > 0 ? random.pick(json.data as { id: string }[]).id : undefined;
  };
  const pending = async () => (await anyOf('pending')) ?? ((await service.create()).id as string);
  const key = () => ({ headers: { 'idempotency-key': `key-${random.between(1, 1_000_000)}` } });
  /** What another act, going on at the same time, was quicker than; or Ana and Ben may no longer. */
  const unlessTaken = (doing: Promise<unknown>) =>
    doing.catch((error) => {
      if (!['invalid_status', 'conflict', 'unauthorized', 'forbidden'].includes(error.code)) throw error;
    });
  const acts = [
    () =>
      service.create({
        amount: random.between(1, 99_999) / 100,
        merchant_reference: `T-${random.between(1, 9)}`,
      }),
    () => service.create({ customer: { name: 'Zoë 𝒵' }, metadata: { order: random.between(1, 999) } }, key()),
    () => service.create({ expires_in: LIFE_S, description: 'Two\tcoffees\n' }),
    async () => service.request(`/v1/payments/${await pending()}/cancel`, { method: 'POST' }),
    async () => service.request(`/v1/payments/${await pending()}/cancel`, { method: 'POST', ...key() }),
    async () => {
      service.clock.advance(LIFE_S * SECOND_MS);
      await sweep(service);
    },
    async () => unlessTaken(submit(service, await pending())),
    async () => {
      const id = await anyOf('requires_review');
      if (id) await unlessTaken(decide(service, id, random.pick(['approve', 'reject'])));
    },
    async () => {
      const id = await anyOf('requires_review');
      if (id) await unlessTaken(look(service, random, id));
    },
    async () => {
      const id = await anyOf('cancelled');
      if (id) await unlessTaken(askForLink(service, id));
    },
    async () => {
      const id = await anyOf(random.pick(['pending', 'cancelled']));
      if (id) await unlessTaken(record(service, id));
    },
    async () => {
      const id = await anyOf(random.pick(['cancelled', 'approved', 'rejected']));
      if (id) await unlessTaken(erase(service, id));
    },
  ];
  await random.pick(acts)();
}

export async function forgetAnswers(service: Harness): Promise<void> {
  service.clock.advance(8 * DAY_MS);
  await forgetOldAnswers(service.service.journal);
}

/** A few hundred entries over several runs of the service, ended by a stop, which signs the last checkpoint. */
export async function buildHistory(
  service: Harness,
  random: SeededRandom,
  atEachStop: () => void = () => {},
): Promise<void> {
  for (let run = 0; run < 4; run++) {
    for (let i = 0; i < 50; i++) await act(service, random);
    await Promise.all(Array.from({ length: 20 }, () => service.create())); // several entries under one seal
    if (run === 1) await forgetAnswers(service);
    await service.stop();
    atEachStop();
    if (run < 3) await service.start();
  }
}
