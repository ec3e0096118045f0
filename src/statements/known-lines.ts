// The lines of one account that an import meets: what is known, what is new, and what one line does to another.

import { present, type Statement, type StatementLine } from '#bank-statements';
import { type Act, newSalt } from '../journal/audit-entry.ts';
import { recordNewRow } from '../journal/record-row.ts';
import type { Transaction } from '../journal/transaction.ts';
import { timeOrderedId } from '../lib/ids.ts';
import { phrase } from '../lib/phrases.ts';
import { closedBefore } from './balance-queries.ts';
import { type KeptLine, type KeptRule, LINE_ID_PREFIX, LINES, type LineDetails, writeLine } from './kept.ts';
import {
  activeRules,
  entriesAsShown,
  findLine,
  isPart,
  linesAlike,
  linesBetween,
  linesByFingerprint,
  thoseThatStand,
} from './line-queries.ts';
import {
  daysAround,
  digestIn,
  isDaysApart,
  isOtherMoney,
  isRepeated,
  ownFingerprint,
  pairsOf,
  sameMoney,
} from './other-money.ts';
import { ignoredBy, ruleFor } from './rules.ts';

/** The lines of one account that the store or the file has shown so far. */
export class KnownLines {
  /** Statements of this file. */
  readonly digests = new Set<string>();
  readonly #transaction: Transaction;
  readonly #account: string;
  readonly #act: Act;
  readonly #later: LineChange[] | undefined;
  /** Other statements that do not stand: their lines are not seen. */
  #left: ReadonlySet<string> = new Set();
  readonly #byFingerprint = new Map<string, KeptLine>();
  /** Whole entries by reference and amount, transactions by those of their entry and its direction: an entry may have 20,000. */
  readonly #byEntry = new Map<string, KeptLine[]>();
  #rules: readonly KeptRule[] | undefined;
  /** Entries under references that the bank used again: their money is in the balance that the statement opens with. */
  #closed: ReadonlySet<KeptLine> = new Set();
  /** Lines of this file that stand in no table yet. */
  readonly #added = new Set<KeptLine>();

  /** `later`: takes changes of lines that are known, in place of making them. */
  constructor(transaction: Transaction, account: string, act: Act, later?: LineChange[]) {
    this.#later = later;
    this.#transaction = transaction;
    this.#account = account;
    this.#act = act;
  }

  /**
   * Takes the lines of a statement. Returns how many are new, booked by now, and known, and the places of all but the new ones. Lines of
   * a statement that does not stand are new: they go on with it if it `isSame`, else they are taken over.
   */
  async take(id: string, statement: Statement, isSame: (statementId: string) => boolean = () => false) {
    const counts = { added: 0, booked: 0, known: 0 };
    const knownAt: number[] = [];
    const { lines } = statement;
    await this.#read(lines);
    const left = await this.#leftStatements();
    const statementId = [...left].find(isSame) ?? id;
    this.#left = new Set([...left].filter((one) => one !== statementId));
    const ids = lines.map(() => timeOrderedId(LINE_ID_PREFIX, this.#transaction.now)).sort();
    const rows = lines.map((line, i) => this.#rowOf(ids[i]!, statementId, statement, line));
    await this.#tellApart(rows, statement);
    const others = new Set(rows.map((row) => this.#otherwise(row)));
    this.#closed = await this.#closedBefore([...others].flat(), rows, statement);
    this.#rules ??= await activeRules(this.#transaction);
    const twins = await this.#twins(rows, statement.format === 'pasted');
    for (const [position, row] of rows.entries()) {
      const { added } = counts;
      const known = this.#byFingerprint.get(row.fingerprint);
      if (known && left.has(known.statement_id)) {
        if (known.statement_id !== statementId)
          await this.#change(known, { statement_id: statementId }, 'line.stated');
        counts.added += 1;
      } else if (known && !known.booked && row.booked) {
        await this.#book(known, row);
        counts.booked += 1;
      } else if (known || (await this.#isShownOtherwise(row))) counts.known += 1;
      else if (twins.has(row)) {
        if (statement.format !== 'pasted') await this.#state(twins.get(row)!, row);
        counts.known += 1;
      } else {
        this.#added.add(row);
        this.#remember(row);
        counts.added += 1;
      }
      if (counts.added === added) knownAt.push(position);
    }
    return { ...counts, knownAt, statementId };
  }

  /** Statements of known lines that do not stand: their import goes on, or ended before its last commit. */
  async #leftStatements(): Promise<Set<string>> {
    const named = new Set([...this.#byFingerprint.values()].map(({ statement_id }) => statement_id));
    for (const id of await thoseThatStand(this.#transaction, [...named])) named.delete(id);
    for (const { statement_id } of this.#added) named.delete(statement_id);
    return named;
  }

  /** Whether lines of the file were new so far. */
  get hasNew(): boolean {
    return this.#added.size > 0;
  }

  /** Hands the new lines to the transaction. */
  insert(): void {
    for (const row of this.#added) {
      const facts = { statement: row.statement_id };
      recordNewRow(this.#transaction, this.#act, 'line.imported', LINES, row, facts);
      const rule = row.state === 'open' ? ruleFor(this.#rules ?? [], row) : undefined;
      // The row is written once, with both entries.
      const ignored = rule && { ...row, ...ignoredBy(rule), version: row.version + 1 };
      if (ignored)
        recordNewRow(this.#transaction, this.#act, 'line.ignored', LINES, ignored, { rule: rule.id });
      this.#transaction.insert(LINES, ignored ?? row);
    }
  }

  /** Those of earlier `lines` whose money is in the balance that the statement of `rows` opens with. */
  async #closedBefore(
    lines: readonly (KeptLine | undefined)[],
    rows: readonly KeptLine[],
    { format, opening }: Statement,
  ): Promise<Set<KeptLine>> {
    const booked = lines.filter((one) => one?.booked === 1) as KeptLine[];
    const [day] = rows.map((row) => row.day).sort();
    if (!opening || booked.length === 0) return new Set();
    const money = { account: this.#account, currency: opening.currency };
    const at = { format, opening_minor: opening.minor, day: day! };
    const ids = [...new Set(booked.map(({ statement_id }) => statement_id))];
    const closed = await closedBefore(this.#transaction, money, at, ids);
    return new Set(booked.filter(({ statement_id }) => closed.has(statement_id)));
  }

  /** Gives lines under a reference that the bank used again the fingerprint of the line that they are, or one of their own. */
  async #tellApart(rows: readonly KeptLine[], statement: Statement): Promise<void> {
    const ofSameName = rows.map(({ fingerprint }) => this.#byFingerprint.get(fingerprint));
    const earlier = ofSameName.filter((known, i) => known && known.day < rows[i]!.day);
    let closed = await this.#closedBefore(earlier, rows, statement);
    const isOther = (known: KeptLine, row: KeptLine) =>
      isOtherMoney(known, row) || (row.booked === 1 && closed.has(known) && known.day < row.day);
    const taken = new Set<KeptLine>();
    const unsure = rows.filter((row) => {
      const known = this.#byFingerprint.get(row.fingerprint);
      if (!known) return isRepeated(row);
      if (isOther(known, row)) return true;
      taken.add(known);
      return false;
    });
    if (unsure.length === 0) return;
    const stored = await linesAlike(this.#transaction, this.#account, unsure.map(digestIn));
    for (const row of stored) if (!this.#byFingerprint.has(row.fingerprint)) this.#remember(row);
    const alike = Map.groupBy(this.#byFingerprint.values(), digestIn);
    closed = await this.#closedBefore(
      unsure.flatMap((row) => alike.get(digestIn(row)) ?? []),
      rows,
      statement,
    );
    for (const row of unsure) {
      const others = (alike.get(digestIn(row)) ?? []).filter(
        (one) => !taken.has(one) && !isPart(one) && !isOther(one, row),
      );
      const isNew = !this.#byFingerprint.has(row.fingerprint);
      const same = sameMoney(others, row, isNew);
      if (same) {
        taken.add(same);
        row.fingerprint = same.fingerprint;
      } else if (!isNew) row.fingerprint = ownFingerprint(row);
    }
  }

  async #read(lines: readonly StatementLine[]): Promise<void> {
    const fingerprints = lines.map(({ fingerprint }) => fingerprint);
    const entries = lines.flatMap((line) => referenceOfEntry(line) ?? []);
    const rows = [
      ...(await linesByFingerprint(this.#transaction, this.#account, fingerprints)),
      ...(await entriesAsShown(this.#transaction, this.#account, entries)),
    ];
    for (const row of rows) if (!this.#byFingerprint.has(row.fingerprint)) this.#remember(row);
  }

  #remember(row: KeptLine): void {
    this.#byFingerprint.set(row.fingerprint, row);
    if (row.entry_reference === null) return;
    const key =
      row.part_of_minor === null
        ? wholeKey(row.entry_reference, row.amount_minor)
        : partKey(row.entry_reference, row.part_of_minor, row.direction);
    const lines = this.#byEntry.get(key);
    if (lines) lines.push(row);
    else this.#byEntry.set(key, [row]);
  }

  /** The lines of the store that are the same money as new rows: of a statement the pasted ones, of a pasted list those of statements. */
  async #twins(rows: readonly KeptLine[], arePasted: boolean): Promise<Map<KeptLine, KeptLine>> {
    // A line that is added once more has a mark.
    const isNew = ({ fingerprint, booked, reversal, day }: KeptLine) =>
      booked === 1 &&
      reversal === 0 &&
      day !== '' &&
      !this.#byFingerprint.has(fingerprint) &&
      !(arePasted && fingerprint.includes('~'));
    const fresh = rows.filter(isNew);
    const days = fresh.map(({ day }) => day).sort();
    if (days.length === 0) return new Map();
    const around = daysAround(days[0]!, days.at(-1)!);
    const which = arePasted ? 'stated' : 'pasted';
    const stored = await linesBetween(this.#transaction, this.#account, which, around);
    const pairs = arePasted ? pairsOf(fresh, stored) : pairsOf(stored, fresh);
    return new Map(pairs.map(([pasted, stated]) => (arePasted ? [pasted, stated] : [stated, pasted])));
  }

  /** Puts a line of a statement in the place of a pasted one. One that was split keeps the name that its parts know it by. */
  async #state(pasted: KeptLine, row: KeptLine): Promise<void> {
    if (pasted.state === 'split') return;
    const { statement_id, fingerprint, entry_reference, part_of_minor, day, details } = row;
    const written = { statement_id, fingerprint, entry_reference, part_of_minor, day, details };
    await this.#change(pasted, written, 'line.stated');
  }

  async #book(known: KeptLine, { statement_id, day, booked, details }: KeptLine): Promise<void> {
    const written = { statement_id, day, booked, details };
    await this.#change(known, written, 'line.booked');
  }

  /** Whether the store knows the money of a line as a whole entry, or as the transactions of one. */
  async #isShownOtherwise(row: KeptLine): Promise<boolean> {
    const { day, booked, part_of_minor } = row;
    const isMeant = (one: KeptLine) =>
      !this.#left.has(one.statement_id) &&
      !isDaysApart(one, row) &&
      !(booked === 1 && one.day < day && this.#closed.has(one));
    const others = this.#otherwise(row);
    if (part_of_minor === null) return others.some(isMeant);
    const whole = others.find((one) => one.state !== 'replaced' && isMeant(one));
    if (!whole) return false;
    if (whole.state !== 'open') return true;
    await this.#change(whole, { state: 'replaced' }, 'line.replaced');
    return false;
  }

  /** The known lines that may show the money of a line in the other way: transactions of an entry, or the entry whole. */
  #otherwise({ entry_reference, part_of_minor, amount_minor, direction }: KeptLine): readonly KeptLine[] {
    if (entry_reference === null) return NONE;
    const key =
      part_of_minor === null
        ? partKey(entry_reference, amount_minor, direction)
        : wholeKey(entry_reference, part_of_minor);
    return this.#byEntry.get(key) ?? NONE;
  }

  async #change(row: KeptLine, written: Partial<KeptLine>, action: string): Promise<void> {
    const isNew = this.#added.has(row);
    if (isNew && written.state === 'replaced') this.#added.delete(row);
    if (isNew) {
      Object.assign(row, written);
      return;
    }
    const change = { id: row.id, version: row.version, written, action };
    if (this.#later) this.#later.push(change);
    const changed = this.#later
      ? written
      : await changeLine(this.#transaction, { ...row }, change, this.#act);
    Object.assign(row, changed);
  }

  #rowOf(id: string, statement_id: string, { to, closing }: Statement, line: StatementLine): KeptLine {
    const { bookingDay, valueDay, references, text, counterparty, code, chargesMinor, partOf, beyond } = line;
    const details = {
      references,
      text,
      counterparty,
      ...present({ valueDay, code, chargesMinor, partOf, beyond }),
      ...((bookingDay ?? valueDay) === undefined && { undated: true as const }),
    };
    const { now } = this.#transaction;
    return {
      ...LINES.nulls,
      id,
      statement_id,
      account: this.#account,
      fingerprint: line.fingerprint,
      entry_reference: referenceOfEntry(line) ?? null,
      part_of_minor: partOf?.minor ?? null,
      day: bookingDay ?? valueDay ?? to ?? closing?.day ?? '',
      amount_minor: line.amountMinor,
      currency: line.currency,
      direction: line.direction,
      booked: line.status === 'booked' ? 1 : 0,
      reversal: line.isReversal ? 1 : 0,
      details: JSON.stringify(details satisfies LineDetails),
      state: 'open',
      salt: newSalt(),
      version: 1,
      created_at: now,
      updated_at: now,
    };
  }
}

/** A change of a line that is known. `version`: as it was found. */
export interface LineChange {
  id: string;
  version: number;
  written: Partial<KeptLine>;
  action: string;
}

/** Makes changes that were kept for later, each once. Throws as `changeLine` does. */
export async function changeLines(
  transaction: Transaction,
  changes: readonly LineChange[],
  act: Act,
): Promise<void> {
  const last = new Map(changes.map((change) => [`${change.id} ${change.action}`, change]));
  const changed = new Map<string, KeptLine>();
  for (const change of last.values()) {
    const before = changed.get(change.id);
    const row = before ?? (await findLine(transaction, change.id));
    if (!row) continue;
    const version = before?.version ?? change.version;
    changed.set(change.id, await changeLine(transaction, row, { ...change, version }, act));
  }
}

/** Throws `conflict` if the line was changed since it was found. */
async function changeLine(
  transaction: Transaction,
  row: KeptLine,
  { version, written, action }: LineChange,
  act: Act,
): Promise<KeptLine> {
  const refusal = phrase('A line of this file was changed a moment ago. Import it again.');
  return writeLine(transaction, act, action, { ...row, version }, written, { refusal });
}

const NONE: readonly KeptLine[] = [];
const wholeKey = (reference: string, minor: number) => `${minor} ${reference}`;
const partKey = (reference: string, minor: number, direction: KeptLine['direction']) =>
  `${direction} ${minor} ${reference}`;

const referenceOfEntry = ({ references }: StatementLine) => references.booking;
