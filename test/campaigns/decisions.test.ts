// Contests of administrators for the same payment: one decision each, never by one alone where two must, on both engines, from two processes at once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { entriesOf } from '../../src/journal/queries.ts';
import { paymentNow, submit } from '../support/payments.ts';
import { ANA, addReviewers, BEN, CLEO } from '../support/reviewers.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';
import { type Attempt, type Decider, deciderOn, FOUR_EYES, startDecider } from './decider.ts';
import { type Nodes, startNodes } from './nodes.ts';

const CONTESTS_ON = { sqlite: 300, postgres: 150 };
const AT_ONCE = 50;
const CODES = /^(invalid_status|conflict|forbidden)$/;

const random = new SeededRandom();

interface Outcome extends Attempt {
  /** What it came to, or the code it was refused with. */
  came: string;
}

/** Everything the contest's payment must be afterwards, whoever was quicker. */
function faultOf(
  payment: {
    status: string;
    version: number;
    amount_minor: number;
    decided_at: number | null;
    review: string | null;
  },
  actions: readonly string[],
  outcomes: readonly Outcome[],
): string | undefined {
  const decisions = actions.filter((action) => /^payment\.(approved|rejected)$/.test(action));
  const won = outcomes.filter(({ came }) => came === 'approved' || came === 'rejected');
  const firsts = outcomes.filter(({ came }) => came === 'awaiting_second');
  if (payment.version !== actions.length) return `version ${payment.version}, ${actions.length} entries`;
  if (decisions.length !== won.length) return `${decisions.length} decisions, ${won.length} told so`;
  if (decisions.length > 1) return 'decided more than once';
  if (decisions.length === 1 && actions.at(-1) !== decisions[0])
    return 'something was done after the decision';
  if (decisions.length === 0 && payment.status !== 'requires_review') return 'decided by nobody';
  if (won[0] && payment.status !== won[0].came) return `${payment.status}, though told ${won[0].came}`;
  if ((payment.decided_at !== null) !== (won.length === 1)) return 'the moment of the decision is wrong';
  const acts: { act: string; by: string }[] = JSON.parse(payment.review ?? '[]');
  if (acts.length !== won.length + firsts.length) return `${acts.length} acts kept`;
  const approvers = new Set(acts.filter(({ act }) => act === 'approve').map(({ by }) => by));
  const two = payment.amount_minor > FOUR_EYES.USD;
  if (payment.status === 'approved' && approvers.size < (two ? 2 : 1)) return 'approved by too few';
  if (!two && firsts.length > 0) return 'a second was asked for where one may approve';
  if (firsts.length > 1) return 'more than one first approval';
  return undefined;
}

for (const engine of ENGINES) {
  describe(`decisions on ${engine}`, () => {
    const CONTESTS = Number(process.env.COUNTERFOIL_RUNS) || CONTESTS_ON[engine];
    let nodes: Nodes;
    let deciders: Decider[];
    let other: Awaited<ReturnType<typeof startDecider>>;
    before(async () => {
      console.log(`decisions: seed ${random.seed} (COUNTERFOIL_SEED)`);
      nodes = await startNodes(engine);
      await addReviewers(nodes.services[0]!.journal);
      other = await startDecider(nodes.harness.store);
      deciders = [...nodes.services.map(({ journal }) => deciderOn(journal)), other.decide];
    });
    after(async () => {
      await other.stop();
      await nodes.close();
    });

    async function waiting(count: number): Promise<string[]> {
      return Promise.all(
        Array.from({ length: count }, async () => {
          const { id } = await nodes.harness.create({ amount: random.pick([100, 100.01]) });
          await submit(nodes.harness, id);
          return id as string;
        }),
      );
    }

    async function take(attempt: Attempt): Promise<Outcome> {
      const { came, message } = await random.pick(deciders)(attempt);
      if (message !== undefined) assert.match(came, CODES, message);
      if (came === 'invalid_status')
        assert.match(message!, /^(Ana|Ben|Cleo) (approved|rejected) it on \d+ \w+ \d{4}, \d\d:\d\d UTC\.$/);
      return { ...attempt, came };
    }

    test(`${CONTESTS} × approve, approve again, approve by another, reject: one decision, by as many as it needs`, {
      timeout: Infinity,
    }, async (context) => {
      const ends = new Map<string, number>();
      for (let done = 0; done < CONTESTS; done += AT_ONCE) {
        const ids = await waiting(Math.min(AT_ONCE, CONTESTS - done));
        const contests = random.shuffled(
          ids.flatMap((id) => [
            { id, by: ANA, did: 'approve' as const },
            { id, by: ANA, did: 'approve' as const },
            { id, by: BEN, did: 'approve' as const },
            ...(random.chance(0.5) ? [{ id, by: CLEO, did: 'reject' as const }] : []),
          ]),
        );
        const outcomes = await Promise.all(contests.map(take));
        for (const id of ids) {
          const own = outcomes.filter((one) => one.id === id);
          const payment = await paymentNow(nodes.harness, id);
          await nodes.services[0]!.journal.commit(async (transaction) => {
            const entries = await entriesOf(transaction, id);
            const fault = faultOf(
              payment,
              entries.map(({ action }) => action),
              own,
            );
            assert.equal(
              fault,
              undefined,
              `${id}, seed ${random.seed}: ${own.map(({ by, came }) => `${by.name} ${came}`)}`,
            );
            const end = `${payment.status}${payment.amount_minor > FOUR_EYES.USD ? ' above' : ''}`;
            ends.set(end, (ends.get(end) ?? 0) + 1);
          });
        }
      }
      context.diagnostic(JSON.stringify(Object.fromEntries(ends)));
    });

    test('the history verifies', async () => {
      await nodes.harness.verify();
    });
  });
}
