// The SQL about letters.

import type { PlaceTable, ReadingPlace } from '../journal/reading-place.ts';
import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedFloor, timeOrderedId } from '../lib/ids.ts';
import { phrase } from '../lib/phrases.ts';
import type { Reader } from '../store/database.ts';
import { insertion, marks, where } from '../store/table.ts';
import { ALERTS, LETTER_ID_PREFIX, LETTERS, type Letter, type NewLetter } from './letter.ts';

const LETTER = LETTERS.columnList;
const REMOVED_AT_ONCE = 500;

/** The one place in the history that letters are read from. */
export const PLACES: PlaceTable = {
  name: 'letter_queues',
  key: 'name',
  columnList: 'name, number, leased_by, leased_until',
};
export const PLACE = 'letters';

export async function findPlace(database: Reader): Promise<ReadingPlace | undefined> {
  const sql = `select ${PLACES.columnList} from letter_queues where name = ?`;
  return (await database.query<ReadingPlace>(sql, PLACE))[0];
}

/** Makes the place, behind entry `number`, where there is none. */
export function addPlace(transaction: Transaction, number: number): Promise<void> {
  const sql = 'insert into letter_queues (name, number) values (?, ?) on conflict do nothing';
  return transaction.measure(sql, PLACE, number);
}

/** What a letter is told by: one that waits and tells the same is overtaken by the next. SQL and TypeScript write it alike. */
const subjectOf = ({ kind, about, recipient }: NewLetter): string =>
  `${kind === 'new_link' ? 'link' : kind} ${about} ${recipient}`;
const SUBJECT = "case kind when 'new_link' then 'link' else kind end || ' ' || about || ' ' || recipient";

/**
 * Writes letters down, but for those that were before. A letter is worded when it leaves, so of the same to one recipient only the newest
 * waits: the older ones are withdrawn.
 */
export async function addLetters(transaction: Transaction, all: readonly NewLetter[]): Promise<void> {
  const { now } = transaction;
  if (all.length === 0) return;
  const bySubject = new Map(all.map((one) => [subjectOf(one), one]));
  const letters = [...bySubject.values()];
  const abouts = letters.map(({ about }) => about);
  const onces = letters.map(({ once }) => once);
  await transaction.measure(
    `update letters set status = 'withdrawn', due_at = null, answer = ? where about in (${marks(abouts)})
       and due_at + 0 > 0 and ${SUBJECT} in (${marks(abouts)}) and once not in (${marks(onces)})`,
    ...[phrase('A newer one takes its place'), ...abouts, ...bySubject.keys(), ...onces],
  );
  const rows = letters.map(
    (letter): Letter => ({
      ...{ ...LETTERS.nulls, ...letter, id: timeOrderedId(LETTER_ID_PREFIX, now) },
      ...{ status: 'pending', created_at: now, due_at: now, attempts: 0 },
    }),
  );
  await transaction.measure(...insertion(LETTERS, rows, 'on conflict do nothing'));
}

/** The letter that has been due longest at `now`, alerts before all others. */
export async function nextDue(database: Reader, now: number): Promise<Letter | undefined> {
  // The sum keeps the index of what is due out: few letters are about an alert, and many may be due.
  const alerts = `select ${LETTER} from letters where about in (${marks(ALERTS)}) and due_at + 0 <= ? order by id limit 1`;
  const [alert] = await database.query<Letter>(alerts, ...ALERTS, now);
  if (alert) return alert;
  const sql = `select ${LETTER} from letters where due_at <= ? order by due_at, id limit 1`;
  return (await database.query<Letter>(sql, now))[0];
}

/** Writes what came of an attempt, unless another node has written that the letter left. */
export function noteLetter(
  transaction: Transaction,
  { id, status, due_at, attempts, answer, sent_at }: Letter,
): Promise<void> {
  return transaction.measure(
    'update letters set status = ?, due_at = ?, attempts = ?, answer = ?, sent_at = ? where id = ? and due_at is not null',
    ...[status, due_at, attempts, answer, sent_at, id],
  );
}

export function removeLettersAbout(transaction: Transaction, subjects: readonly string[]): Promise<void> {
  return transaction.measure(`delete from letters where about in (${marks(subjects)})`, ...subjects);
}

/** Removes up to 500 letters that were made before `until`, in milliseconds since 1970. Returns how many. */
export async function removeLettersBefore(transaction: Transaction, until: number): Promise<number> {
  const rows = await transaction.query(
    `delete from letters where id in (select id from letters where id < ? order by id limit ? + 0) returning id`,
    timeOrderedFloor(LETTER_ID_PREFIX, until),
    REMOVED_AT_ONCE,
  );
  return rows.length;
}

/** Makes letters that failed due now: those with `ids`, or all of them. Returns their ids. */
export async function sendAgain(
  transaction: Transaction,
  ids: readonly string[] | undefined,
): Promise<string[]> {
  const rows = await transaction.query<{ id: string }>(
    `update letters set status = 'pending', due_at = ?
     where status = 'failed' ${ids === undefined ? '' : `and id in (${marks(ids)})`} returning id`,
    transaction.now,
    ...(ids ?? []),
  );
  return rows.map(({ id }) => id);
}

/** Notes of a letter that was sent that it came back. Returns it; undefined if there is none that was sent. */
export async function noteBounce(
  transaction: Transaction,
  id: string,
  words: string,
): Promise<Letter | undefined> {
  const rows = await transaction.query<Letter>(
    `update letters set status = 'failed', answer = ? where id = ? and status = 'sent' returning ${LETTER}`,
    ...[words, id],
  );
  return rows[0];
}

/** How many letters wait to leave, and how many failed of those that are kept; `oldest` in milliseconds since 1970. */
export async function countLetters(
  database: Reader,
): Promise<{ waiting: number; oldest: number | null; failed: number }> {
  const sql = `select (select count(*) from letters where due_at is not null) as waiting,
    (select min(created_at) from letters where due_at is not null) as oldest,
    (select count(*) from letters where status = 'failed') as failed`;
  return (await database.query<{ waiting: number; oldest: number | null; failed: number }>(sql))[0]!;
}

/** Which letters a list has: about one subject, or those that failed alone. */
export interface LettersWanted {
  about?: string | undefined;
  failed?: boolean;
}

/** Letters newest first, those before the one with the id `before`. */
export function listLetters(
  database: Reader,
  { about, failed = false, before = '~' }: LettersWanted & { before?: string | undefined },
  limit: number,
): Promise<Letter[]> {
  const status = failed ? 'failed' : undefined;
  const { sql, values } = where({ 'id < ?': before, 'about = ?': about, 'status = ?': status });
  return database.query<Letter>(
    `select ${LETTER} from letters where ${sql} order by id desc limit ? + 0`,
    ...values,
    limit,
  );
}
