// A month at the review desk of three shops, and the evening after it: what the console's pictures show, and to whom.
import type { Principal, Role } from '../../src/administrators/administrator.ts';
import { createAdministrator } from '../../src/administrators/manage.ts';
import { newRecoveryCodes } from '../../src/administrators/recovery-codes.ts';
import { completeSetUp } from '../../src/administrators/set-up.ts';
import { newTotp } from '../../src/administrators/totp.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/time.ts';
import { changeMerchantState } from '../../src/merchants/change.ts';
import { addNote, claim } from '../../src/review/act.ts';
import { approve, reject } from '../../src/review/decide.ts';
import { type Account, newClient, signInAs } from '../../test/support/console.ts';
import { send } from '../../test/support/customer.ts';
import { type Harness, startHarness } from '../../test/support/harness.ts';
import { PASSWORD, PASSWORD_KEPT } from '../../test/support/password.ts';
import { principalOf } from '../../test/support/reviewers.ts';
import { FOUR_EYES_ABOVE, KEYS, openPage, type Sale, SHOPS, sell } from './shops.ts';

const OPERATOR = { actor: 'operator', request_id: null };
const NAMES = ['Lena Vogel', 'Marco Rossi', 'Emma Jansen', 'Paul Meier', 'Sofia Costa', 'Jonas Frei'];

/** What the pictures need of it. */
export interface ReviewDay {
  harness: Harness;
  /** The cookies of whoever looks at the pages. */
  cookies: ReadonlyMap<string, string>;
  /** Payments by what the pictures call them. */
  ids: Readonly<Record<Named, string>>;
  /** The secret of a link that nobody has followed yet. */
  setUpLink: string;
  close(): Promise<void>;
}

type Named = 'late' | 'mismatch' | 'half' | 'claimed' | 'settled' | 'fresh' | 'lost';

interface Step extends Sale {
  as?: Named;
  /** How long after the one before. */
  afterMs: number;
}

/** The last two days: what nobody named here decides waits in the queue. */
const STEPS: readonly Step[] = [
  { as: 'half', afterMs: 0, shop: 'velo', amount: 3480, name: 'Nora Brunner', reference: 'VELO-2207' },
  { afterMs: 20 * HOUR_MS, shop: 'cafe', amount: 62, name: 'Marco Rossi', by: 'cash', reference: 'LUNE-318' },
  { afterMs: 5 * HOUR_MS, shop: 'books', amount: 19.9, name: 'Lena Vogel', account: 1 },
  {
    as: 'mismatch',
    afterMs: 12 * HOUR_MS,
    shop: 'books',
    amount: 248,
    name: 'Emma Jansen',
    payer: 'P. Smit',
    account: 3,
    reference: 'BOOKS-2291',
    more: {
      description: 'Atlas of Alpine Flora, 2 volumes',
      metadata: { cart: 'c_88213', shelf: 'B4' },
      return_url: 'https://hillbooks.example/thanks',
    },
  },
  {
    as: 'settled',
    afterMs: 4 * HOUR_MS,
    shop: 'books',
    amount: 86.4,
    name: 'Jonas Frei',
    account: 6,
    reference: 'BOOKS-2294',
    more: { description: 'Three paperbacks' },
  },
  { afterMs: 10 * MINUTE_MS, shop: 'velo', amount: 890, name: 'Paul Meier', reference: 'VELO-2213' },
  {
    as: 'lost',
    afterMs: 2 * HOUR_MS,
    shop: 'cafe',
    amount: 31.5,
    name: 'Sofia Costa',
    by: 'cash',
    reference: 'LUNE-322',
  },
  { afterMs: MINUTE_MS, shop: 'trial', amount: 24.9, name: 'Try Out', by: 'test_card' },
  {
    as: 'claimed',
    afterMs: 40 * MINUTE_MS,
    shop: 'cafe',
    amount: 18.5,
    name: 'Chloé Petit',
    account: 7,
    reference: 'LUNE-323',
  },
  {
    as: 'fresh',
    afterMs: 12 * MINUTE_MS,
    shop: 'books',
    amount: 129,
    name: 'Lena Vogel',
    account: 1,
    reference: 'BOOKS-2301',
  },
];

/** Lives through all that; afterwards two people are signed in and one has yet to follow her link. */
export async function startReviewDay(): Promise<ReviewDay> {
  const harness = await startHarness('sqlite', { environment: 'production', configuration: SHOPS });
  const { clock } = harness;
  const accounts = [
    await addAccount(harness, 'administrator', 'Ana Keller', 'ana@example.org'),
    await addAccount(harness, 'reviewer', 'Ben Okafor', 'ben@example.org'),
  ] as const;
  const [ana, ben] = accounts.map((one) => principalOf(one.administrator)) as [Principal, Principal];
  await pastMonth(harness, ana, ben);
  const ids = await lastDays(harness);
  await decisions(harness, ids, ana, ben);

  // A stop signs a checkpoint, which vouches for all that.
  await harness.stop();
  await harness.start();
  clock.advance(MINUTE_MS);
  const { journal } = harness.service;
  const carla = { email: 'carla@example.org', name: 'Carla Steiner', role: 'reviewer' } as const;
  const { link } = await journal.commit((transaction) => createAdministrator(transaction, carla, OPERATOR));
  await journal.commit((transaction) => claim(transaction, ben, ids.claimed, {}), ids.claimed);
  const client = newClient(harness);
  await signInAs(harness, accounts[1]);
  await signInAs(harness, accounts[0], client);
  return { harness, cookies: client.cookies, ids, setUpLink: link, close: () => harness.close() };
}

/** Somebody who has followed their link. */
async function addAccount(harness: Harness, role: Role, name: string, email: string): Promise<Account> {
  const { journal } = harness.service;
  const { link } = await journal.commit((transaction) =>
    createAdministrator(transaction, { email, name, role }, OPERATOR),
  );
  const { secret } = newTotp(email);
  const { codes, digests } = newRecoveryCodes();
  const factor = { totp: { secret, step: 0 } };
  const setUp = { password: PASSWORD_KEPT, factor, recoveryDigests: digests };
  const done = await journal.commit((transaction) =>
    completeSetUp(transaction, harness.service.ring, link, setUp, null),
  );
  const { administrator } = done!;
  return { administrator, email, password: PASSWORD, totpSecret: secret, recoveryCodes: codes };
}

/** Four weeks of decisions, fewer on Sundays. */
async function pastMonth(harness: Harness, ana: Principal, ben: Principal): Promise<void> {
  let count = 0;
  for (let day = 0; day < 28; day++) {
    const sales = day % 7 === 6 ? 1 : 2 + ((day * 5) % 4);
    for (let one = 0; one < sales; one++) {
      const shop = (['books', 'cafe', 'books', 'velo'] as const)[count % 4]!;
      const amount = { books: 24.9, cafe: 18.5, velo: 320 }[shop] + ((count * 7) % 11);
      const reference = `${shop.toUpperCase()}-${1000 + count}`;
      const name = NAMES[count % NAMES.length]!;
      const id = await sell(harness, {
        shop,
        amount,
        name,
        account: 100 + (count % NAMES.length),
        reference,
      });
      if (++count % 11 === 0) await rejected(harness, ana, id);
      else await approved(harness, count % 2 === 0 ? ana : ben, id);
    }
    harness.clock.advance(DAY_MS);
  }
}

async function lastDays(harness: Harness): Promise<ReviewDay['ids']> {
  const asked = { amount: 42, currency: 'EUR', expires_in: 300, customer: { name: 'Iris Holm' } };
  const late = await harness.create(asked, { key: KEYS.books });
  const ids: Partial<Record<Named, string>> = { late: late.id };
  for (const { as, afterMs, ...sale } of STEPS) {
    harness.clock.advance(afterMs);
    const id = await sell(harness, sale);
    if (as) ids[as] = id;
    if (as === 'mismatch') await send(await openPage(harness, late.id)); // too late: a new link is asked for
  }
  return ids as ReviewDay['ids'];
}

async function decisions(harness: Harness, ids: ReviewDay['ids'], ana: Principal, ben: Principal) {
  const { journal } = harness.service;
  const { half, settled, lost } = ids;
  const note = 'Asked the bank: the money is on its way.';
  await journal.commit((transaction) => addNote(transaction, ben, settled, note), settled);
  await approved(harness, ben, half, { note: 'On the statement of Monday.' });
  harness.clock.advance(5 * MINUTE_MS);
  const seen = { note: 'On the statement of this morning.', bank_reference: 'TRX 2026-4711' };
  await approved(harness, ana, settled, seen);
  harness.clock.advance(MINUTE_MS);
  await approved(harness, ben, lost);
  const act = { actor: ana.actor, by: ana.id, request_id: 'req_m4q8s2ve95kp' };
  const reason = 'Their bank account is being moved; back on Monday.';
  await changeMerchantState(journal, 'mer_cafe_lune', 'suspended', act, reason);
}

function approved(harness: Harness, by: Principal, id: string, written: object = {}) {
  const approval = { note: null, bank_reference: null, version: null, ...written };
  return harness.service.journal.commit(
    (transaction) => approve(transaction, by, id, approval, FOUR_EYES_ABOVE),
    id,
  );
}

function rejected(harness: Harness, by: Principal, id: string) {
  const rejection = { reason: 'transfer_not_received', note: null, message: null, version: null } as const;
  return harness.service.journal.commit((transaction) => reject(transaction, by, id, rejection), id);
}
