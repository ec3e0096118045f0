// A merchant of the store, as registering leaves it.
import { isDeepStrictEqual } from 'node:util';
import { changeMerchantState, setParticulars } from '../../src/merchants/change.ts';
import { Directory } from '../../src/merchants/directory.ts';
import { type Registered, registerMerchant } from '../../src/merchants/register.ts';
import { type Harness, OPERATOR } from './harness.ts';
import { eventually } from './waiting.ts';

let shops = 0;

/** A node on the same store that has heard of no merchant and no key. */
export const unaware = ({ service }: Pick<Harness, 'service'>) => ({
  service: { ...service, directory: new Directory([]) },
});

/** Registers a merchant at the service of a harness, whoever may do so there. Gives its first key, for tests, and its rows. */
export function addMerchant(
  { service }: Pick<Harness, 'service'>,
  name = `Corner Shop No ${++shops}`,
): Promise<Registered> {
  const { database, journal, directory } = service;
  const wanted = { business_name: name, email: 'owner@corner.example', website: null, invite: null };
  return registerMerchant(
    { database, journal, directory, mode: 'open', contact: undefined },
    wanted,
    OPERATOR,
  );
}

/** Suspends a merchant, or lets it go on, which the node of a harness knows at once. */
export async function setState(
  { service: { journal, directory } }: Pick<Harness, 'service'>,
  id: string,
  act: 'suspended' | 'resumed',
): Promise<void> {
  const who = { ...OPERATOR, by: 'operator' };
  directory.putMerchant(await changeMerchantState(journal, id, act, who, 'For the tests.'));
}

/** Says what receipts and letters have of a merchant of the store. Resolves when the node of a harness knows it. */
export async function sayOf(
  { service: { journal, directory } }: Pick<Harness, 'service'>,
  id: string,
  said: Parameters<typeof setParticulars>[2],
): Promise<void> {
  await setParticulars(journal, id, said, OPERATOR);
  const { email, ...particulars } = said;
  await eventually(
    () =>
      (email === undefined || directory.confirmedEmail(id) === email) &&
      Object.entries(particulars).every(([name, value]) =>
        isDeepStrictEqual((directory.profile(id).particulars as Record<string, unknown>)?.[name], value),
      ),
  );
}
