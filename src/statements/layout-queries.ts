// The SQL about remembered layouts of CSV files.

import type { Transaction } from '../journal/transaction.ts';
import type { Reader } from '../store/database.ts';
import { type KeptLayout, LAYOUTS } from './kept.ts';

/** Layouts that are read, the newest. Each is of one account and one kind of export. */
const LAYOUTS_MAXIMUM = 500;
const LAYOUT = LAYOUTS.columnList;

export function listLayouts(database: Reader): Promise<KeptLayout[]> {
  const sql = `select ${LAYOUT} from csv_layouts order by id desc limit ? + 0`;
  return database.query<KeptLayout>(sql, LAYOUTS_MAXIMUM);
}

export async function findLayout(
  database: Pick<Transaction, 'query'>,
  account: string,
  shape: string,
): Promise<KeptLayout | undefined> {
  const sql = `select ${LAYOUT} from csv_layouts where account = ? and shape = ?`;
  return (await database.query<KeptLayout>(sql, account, shape))[0];
}
