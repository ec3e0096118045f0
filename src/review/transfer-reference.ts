// Finds the payment that a transfer on a bank statement is for, by the reference it carries.
import type { Queryable } from '../database/database.ts';
import {
  creditorReference,
  idRangeOf,
  qrReference,
  shortReference,
} from '../methods/transfer/creditor-reference.ts';
import { idsBetween } from './search-queries.ts';

/** A creditor reference of ours inside a statement line, such as `EREF+RF…` or `SVWZ+Invoice 7 RF…`; grouped or not. */
const IN_A_LINE = /(?<![0-9A-Z])RF(?:\s?[0-9A-HJKMNP-TV-Z]){17}(?![0-9A-Z])/i;

/**
 * The id of the payment whose transfer carries `reference`, of any form and however it is grouped; undefined where that is no
 * reference of ours. Throws `DatabaseError`.
 */
export async function findByTransferReference(
  database: Pick<Queryable, 'query'>,
  reference: string,
): Promise<string | undefined> {
  const written = IN_A_LINE.exec(reference)?.[0] ?? reference;
  const range = idRangeOf(written);
  if (!range) return undefined;
  const electronic = written.replaceAll(/\s/g, '').toUpperCase();
  // The reference tells the moment of creation; which of that moment's payments it is, only they can tell.
  const found = (await idsBetween(database, ...range)).find((one) =>
    [creditorReference(one), shortReference(one), qrReference(one)].includes(electronic),
  );
  return found?.id;
}
