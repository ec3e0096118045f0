// A merchant of the store, as registering leaves it.

import { changeMerchantState } from '../../src/merchants/change.ts';
import { type Registered, registerMerchant } from '../../src/merchants/register.ts';
import { type Harness, OPERATOR } from './harness.ts';

let shops = 0;

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
