// Looks up what a pasted text may hold: which references, names and accounts payments have, and which ids lie in a range.

import type { Payment } from '../payments/payment.ts';
import type { Reader } from '../store/database.ts';

/** Texts that one statement looks up. */
const TEXTS_MAXIMUM = 200;

/** The columns that a text of a statement may be a value of. */
type TextColumn = 'payer_account' | 'bank_reference' | 'payer_name' | 'merchant_reference';

/** Those of `texts`, 200 at most, that payments have in `column`, in their order. */
export async function textsKnown(
  database: Reader,
  column: TextColumn,
  texts: readonly string[],
): Promise<string[]> {
  const asked = [...new Set(texts)].slice(0, TEXTS_MAXIMUM);
  if (asked.length === 0) return [];
  const known = await database.query<{ text: string }>(
    `select column1 as text from (values ${asked.map(() => '(?)').join(', ')}) as asked
     where exists (select 1 from payments where ${column} = column1)`,
    ...asked,
  );
  const found = new Set(known.map(({ text }) => text));
  return asked.filter((text) => found.has(text));
}

/** Payments whose ids lie from `low` to before `high`, as far as their references need. */
export function idsBetween(
  database: Reader,
  low: string,
  high: string,
): Promise<Pick<Payment, 'id' | 'salt'>[]> {
  return database.query('select id, salt from payments where id >= ? and id < ? order by id', low, high);
}
