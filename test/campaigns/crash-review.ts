// The customers and the reviewer of the crash campaign: payments are sent and decided until the server is gone, and held to what was said.
import { createAdministrator } from '../../src/administrators/manage.ts';
import { createToken } from '../../src/administrators/token.ts';
import { migrate } from '../../src/store/migrate.ts';
import { load, send, TYPED } from '../support/customer.ts';
import { KEY, OPERATOR } from '../support/harness.ts';
import { unhurried } from '../support/journal.ts';
import { gaveUp, type LoadClient, loadClient } from '../support/load-client.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { openPatiently, type Store } from '../support/stores.ts';

/** The method that customers pay by. */
export const REVIEWED = `checkout_forms_per_address: 1000000
methods:
  - id: cash
    type: manual
    name: Cash on delivery
    instructions: Pay the courier.
`;

/** A new store's reviewer. Returns their token. */
export async function addReviewer(store: Store): Promise<string> {
  const database = await openPatiently(store);
  try {
    await migrate(database);
    const journal = unhurried(database);
    const wanted = { email: 'ana@example.org', name: 'Ana', role: 'reviewer' } as const;
    const { administrator } = await journal.commit((one) => createAdministrator(one, wanted, OPERATOR));
    const asked = { administratorId: administrator.id, role: 'reviewer', name: 'Crashes', days: 9 } as const;
    const { token } = await journal.commit((one) => createToken(one, asked, OPERATOR));
    return token;
  } finally {
    await database.close();
  }
}

/** What a status may become here. */
const NEXT: Record<string, readonly string[]> = {
  pending: ['requires_review'],
  requires_review: ['approved', 'rejected'],
};

/** How a step went: `refused` where the server had stood still and gave it up, `gone` where there was no answer. */
type Step = 'done' | 'refused' | 'gone';

/** As a customer who chose the only way to pay. */
async function submit(origin: string, id: string): Promise<Step> {
  const form = await load(new URL(`${origin}/payment.php?payment_id=${id}`));
  const begun = performance.now();
  const { status, text } = await send(form, TYPED.cash, { follow: false });
  if (gaveUp({ status, ms: performance.now() - begun })) return 'refused';
  if (status !== 303) throw new Error(`the form answered ${status}: ${text}`);
  return 'done';
}

async function decide(reviewer: LoadClient, id: string, status: string): Promise<Step> {
  const [act, body] = status === 'approved' ? ['approve', {}] : ['reject', { reason: 'other' }];
  const answer = await reviewer.post(`/admin/payments/${id}/${act}`, body);
  if (!answer) return 'gone';
  if (gaveUp(answer)) return 'refused';
  if (answer.status !== 200) throw new Error(`the decision answered ${answer.text}`);
  return 'done';
}

/** Statuses that a payment may be in: the one that was told last, and the one that was asked for since. */
interface Told {
  status: string;
  asked: string;
}

export class ReviewLoad {
  readonly #token: string;
  readonly #random: SeededRandom;
  readonly #told = new Map<string, Told>();
  constructor(token: string, random: SeededRandom) {
    this.#token = token;
    this.#random = random;
  }

  /** How many payments were decided. */
  get decided(): number {
    return [...this.#told.values()].filter(({ status }) => !(status in NEXT)).length;
  }

  /** Takes one payment after the other a step further until nobody answers. */
  run(origin: string): { firstStep: Promise<void>; finished: Promise<void> } {
    const { promise: firstStep, resolve: stepped } = Promise.withResolvers<void>();
    return { firstStep, finished: this.#goOn(origin, stepped) };
  }

  async #goOn(origin: string, stepped: () => void): Promise<void> {
    const merchant = loadClient(origin, KEY, 1);
    const reviewer = loadClient(origin, this.#token, 1);
    try {
      for (;;) {
        // What a kill left on its way is taken on first.
        const [id, told] = [...this.#told].find(([, { status }]) => status in NEXT) ?? [];
        if (!told) {
          const reference = `review-${this.#told.size + 1}-${this.#random.between(1, 1e9)}`;
          const created = await merchant.post('/v1/payments', { amount: 10, merchant_reference: reference });
          if (!created) return;
          if (gaveUp(created)) continue;
          this.#told.set(JSON.parse(created.text).data.id, { status: 'pending', asked: 'pending' });
          stepped();
          continue;
        }
        // What was refused is asked for again.
        if (told.asked === told.status) told.asked = this.#random.pick(NEXT[told.status]!);
        const step =
          told.status === 'pending' ? await submit(origin, id!) : await decide(reviewer, id!, told.asked);
        if (step === 'gone') return;
        if (step === 'refused') {
          // It may be done all the same.
          const seen = await merchant.get(`/v1/payments/${id}`);
          if (!seen) return;
          if (seen.status === 200) told.status = told.asked = JSON.parse(seen.text).data.status;
          continue;
        }
        told.status = told.asked;
        stepped();
      }
    } catch (error) {
      // What fetch says of a server that is gone in the middle of an answer.
      if (!(error instanceof TypeError)) throw error;
    } finally {
      merchant.close();
      reviewer.close();
    }
  }

  /** What is otherwise than it was said to be. `stored`: the status of every payment by its id. */
  losses(stored: ReadonlyMap<string, string>): string[] {
    const losses: string[] = [];
    for (const [id, { status, asked }] of this.#told) {
      const found = stored.get(id) ?? 'gone';
      if (found !== status && found !== asked) losses.push(`payment ${id}, told ${status}, is ${found}`);
      this.#told.set(id, { status: found, asked: found }); // the one or the other, but from now on only that
    }
    return losses;
  }
}
