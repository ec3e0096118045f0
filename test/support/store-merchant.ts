// A merchant of the store, as registering leaves it.
import { type Registered, registerMerchant } from '../../src/merchants/register.ts';
import type { Harness } from './harness.ts';

const OPERATOR = { actor: 'operator', request_id: null };

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
