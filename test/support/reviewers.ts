// Administrators who review in tests, by name: whom the domain is told, whether or not they could sign in.

import { ADMINISTRATORS, type Principal } from '../../src/administrators/administrator.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { recordNewRow } from '../../src/journal/record-row.ts';
import type { Database } from '../../src/store/database.ts';
import { OPERATOR } from './harness.ts';

/** An administrator as one who acts, neither by a session nor by a token. */
export function principalOf(
  { id, name, email, role }: Pick<Principal, 'id' | 'name' | 'email' | 'role'>,
  request_id: string | null = null,
): Principal {
  return { id, name, email, role, actor: `administrator:${id}`, session: null, token: null, request_id };
}

function reviewer(name: string): Principal {
  const local = name.toLowerCase();
  const email = `${local}@reviewers.example`;
  return principalOf({ id: `adm_${local}`, name, email, role: 'reviewer' }, 'req_test');
}

export const ANA = reviewer('Ana');
export const BEN = reviewer('Ben');
export const CLEO = reviewer('Cleo');
export const REVIEWERS: readonly Principal[] = [ANA, BEN, CLEO];

const had = new WeakMap<Journal, Promise<void>>();

/** Writes them down the first time that one of them acts, also where several begin at once. */
export function haveReviewers({
  database,
  journal,
}: {
  database: Database;
  journal: Journal;
}): Promise<void> {
  let done = had.get(journal);
  if (!done) {
    done = database.query('select id from administrators where id = ?', ANA.id).then(async ([ana]) => {
      if (!ana) await addReviewers(journal);
    });
    done.catch(() => had.delete(journal));
    had.set(journal, done);
  }
  return done;
}

/** Writes them down as administrators, so that they have names. */
export async function addReviewers(journal: Journal): Promise<void> {
  await journal.commit((transaction) => {
    for (const { id, email, name, role } of REVIEWERS) {
      const row = {
        id,
        email,
        name,
        role,
        password: null,
        totp_secret: null,
        totp_step: null,
        recovery_codes: null,
        setup_digest: null,
        setup_expires_at: null,
        disabled_at: null,
        salt: 'salt',
        version: 1,
        created_at: transaction.now,
        updated_at: transaction.now,
        letters: null,
      };
      transaction.insert(ADMINISTRATORS, row);
      recordNewRow(transaction, OPERATOR, 'administrator.created', ADMINISTRATORS, row);
    }
  });
}
