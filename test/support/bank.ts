// Bank statements in the store of a test: imported straight through their room, and lines known by the bank's reference.
import { readStatements } from '#bank-statements';
import type { Journal } from '../../src/journal/journal.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import type { Payment } from '../../src/payments/payment.ts';
import type { Imported } from '../../src/statements/import.ts';
import { type CheckedFile, checkFile, importFile } from '../../src/statements/import-file.ts';
import type { KeptLine } from '../../src/statements/kept.ts';
import { findLine, type LineFilter, listLines } from '../../src/statements/line-queries.ts';
import { certainPairs, openLines } from '../../src/statements/matching/open-lines.ts';
import { readPasted } from '../../src/statements/pasted.ts';
import { undoImport } from '../../src/statements/undo.ts';
import { addPerson, type Person } from './admin.ts';
import { ACCOUNT, camt, type Entry, MATCHING } from './camt.ts';
import { type Harness, OPERATOR } from './harness.ts';
import { paymentNow } from './payments.ts';

export type Methods = Parameters<typeof checkFile>[1];
/** The method of a transfer to some accounts in euros. */
export const methodsOf = (...ibans: string[]): Methods => [
  { accounts: ibans.map((iban) => ({ currency: 'EUR', holder: 'Shop', iban, rows: [] })) },
];
export const METHODS = methodsOf(ACCOUNT);

type Said = Parameters<typeof checkFile>[3];
/** What a file holds that may be imported, with what the bookkeeper says of its account. */
export const checked = (
  file: Uint8Array,
  name = 'a.xml',
  methods: Methods = METHODS,
  said: Said = {},
): CheckedFile => checkFile(readStatements(file, name), methods, false, said);

type Options = Partial<Parameters<typeof importFile>[3]> & { journal?: Journal };

export class Bank {
  readonly #harness: Harness;
  #auditor: Promise<Person> | undefined;
  #count = 0;

  constructor(harness: Harness) {
    this.#harness = harness;
  }

  get database() {
    const { database } = this.#harness.service;
    database.refresh();
    return database;
  }

  commit<T>(work: (transaction: Transaction) => Promise<T>, row = ''): Promise<T> {
    return this.#harness.service.journal.commit(work, row);
  }

  /** Imports a file; undefined where its faults keep it out. */
  take(file: Uint8Array | CheckedFile, { journal, ...more }: Options = {}): Promise<Imported[] | undefined> {
    const what = file instanceof Uint8Array ? checked(file) : file;
    const options = { despiteFaults: false, dryRun: false, ...more };
    return importFile(journal ?? this.#harness.service.journal, what, OPERATOR, options);
  }

  /** The same, told as the numbers of lines that are new, booked and known. */
  async counts(file: Uint8Array, options?: Options) {
    return (await this.take(file, options))?.map(({ added, booked, known }) => [added, booked, known]);
  }

  /** Keeps a list that somebody pastes on a day; `mark` sets rows apart that were kept before. */
  async paste(text: string, today: string, account = ACCOUNT, mark = ''): Promise<Imported> {
    const options = { account: { iban: account }, currency: 'EUR', file: 'pasted by Ana', today };
    const { statement } = readPasted(text, options);
    for (const line of statement.lines) line.fingerprint += mark;
    return (await this.take({ statements: [{ own: account, statement }], faults: [], notes: [] }))![0]!;
  }

  /** Imports a line of EUR 49.90, or as `entry` says. Returns its id. */
  async bring(entry: Partial<Entry> = {}): Promise<string> {
    const bank = entry.bank ?? `L${++this.#count}`;
    await this.take(camt([{ amount: '49.90', ...entry, bank }], { number: String(this.#count) }));
    return (await this.lines()).find(({ entry_reference }) => entry_reference === bank)!.id;
  }

  lines(filter: LineFilter = {}): Promise<KeptLine[]> {
    return listLines(this.database, filter, undefined, 5000);
  }

  async line(id: string): Promise<KeptLine> {
    return (await findLine(this.database, id))!;
  }

  /** The lines of one reference of the bank. */
  async linesOf(bank: string): Promise<KeptLine[]> {
    return (await this.lines()).filter(({ entry_reference }) => entry_reference === bank);
  }

  /** The parts of a line that was split, the largest first, where its statement has no other line. */
  async partsOf(id: string): Promise<KeptLine[]> {
    const { statement_id } = await this.line(id);
    const all = await this.lines({ statement_id });
    const parts = all.filter((one) => one.id !== id && one.state !== 'replaced');
    // Made in one moment, they have no order.
    return parts.sort((a, b) => b.amount_minor - a.amount_minor);
  }

  /** What an auditor is told below /admin. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely and say what they expect there
  async audited(path: string): Promise<any> {
    this.#auditor ??= addPerson(this.#harness, 'auditor', 'Otto');
    return (await this.#harness.request(`/admin/${path}`, { key: (await this.#auditor).token })).json.data;
  }

  undo(statement: string): Promise<number> {
    return this.commit((transaction) => undoImport(transaction, statement, OPERATOR));
  }

  payment = (id: string): Promise<Payment> => paymentNow(this.#harness, id);

  /** What the API says of a payment's money: its status, and what arrived, went back and is due. */
  async shown({ id }: Pick<Payment, 'id'>): Promise<[status: string, ...amounts: string[]]> {
    const { data } = (await this.#harness.request(`/v1/payments/${id}`)).json;
    return [data.status, data.amount_received, data.amount_returned, data.amount_due];
  }

  /** A payment in euros. */
  async pay(amount = 49.9, more: object = {}): Promise<Payment> {
    return this.payment((await this.#harness.create({ amount, currency: 'EUR', ...more })).id);
  }

  open(options?: Parameters<typeof openLines>[2]) {
    return openLines(this.database, { ...MATCHING, now: this.#harness.clock.now() }, options);
  }

  /** The open lines whose payment is certain, with it. */
  async certain(open?: Awaited<ReturnType<Bank['open']>>) {
    return certainPairs(open ?? (await this.open()));
  }

  /** What is proposed first for an open line. */
  async proposal(id: string) {
    return (await this.open()).find(({ line }) => line.id === id)!.proposals[0]!;
  }
}
