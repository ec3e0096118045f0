// Reads MT940 and MT942 (SWIFT): fields, balances and statement lines (`:61:`). What `:86:` tells is read beside.
import { balanceWarnings } from './balance.ts';
import { countFault } from './counts.ts';
import { type LineRead, numbered } from './fingerprint.ts';
import type { KnownAccount } from './known-account.ts';
import { readEntry, shortDay } from './mt940-entry.ts';
import { readInformation } from './mt940-information.ts';
import { StatementRefused } from './refusal.ts';
import type { Balance, Statement, StatementFault } from './statement.ts';
import {
  currencyCode,
  cutToHundredths,
  folded,
  hundredths,
  ibanOf,
  present,
  referenceOf,
  withoutGroups,
} from './values.ts';

interface Field {
  tag: string;
  /** The rows of the field. */
  rows: string[];
  line: number;
}

const TAG = /^(?:\s*(?=:(?:61|86):))?:(\d{2}[A-Z]?):(.*)$/;
const BALANCE = /^\s*([CD])\s*(\d{6}|\d{8})\s*([A-Z]{3})\s*(\d[\d.,' ]*|[.,]\d+)\s*$/i;
/** Lines as they are counted, wherever they stand. */
const LINE = /:61:(?=\s*\d)/g;

/** Fields that a page has of the one before. */
const PAGE = new Set(['20', '25', '25P', '28', '28C']);

/** Fields `:86:` behind one line that are read. SWIFT allows one. */
const INFORMATION_MAXIMUM = 20;

/** Whether the first characters of a file are those of MT940 or MT942, with or without the blocks of SWIFT around. */
export function isMt940(head: string): boolean {
  return /^\s*(?:\{1:|:\d{2}[A-Z]?:)|(?:^|[\r\n]):20:[^\r\n]*[\r\n]+(?:[^:\r\n]*[\r\n]+)*:(?:21|25|28C?)P?:/.test(
    head,
  );
}

/** Reads all statements of a file. Throws `StatementRefused` if there is none. */
export function readMt940(text: string, file: string, known: KnownAccount): Statement[] {
  const messages: Field[][] = [];
  for (const field of fieldsOf(text)) {
    const message = messages.at(-1);
    // A second opening balance begins another page of the same account.
    const isPage = field.tag.startsWith('60') && message?.some(({ tag }) => tag.startsWith('60'));
    if (field.tag === '20' || !message) messages.push([]);
    else if (isPage) messages.push(message.filter(({ tag }) => PAGE.has(tag)));
    messages.at(-1)!.push(field);
  }
  const statements = messages.filter((fields) => fields.some(({ tag }) => /^(?:25P?|6\d.?)$/.test(tag)));
  if (statements.length === 0) throw new StatementRefused('The file holds no statement of MT940 or MT942.');
  const read = statements.map((fields) => statementOf(fields, file, known));
  const lines = statements.flat().filter(({ tag }) => tag === '61');
  const lost = countFault('lines (:61:)', text.match(LINE)?.length ?? 0, lines.length);
  if (lost) read[0]!.faults.push(lost);
  return read;
}

function fieldsOf(text: string): Field[] {
  const fields: Field[] = [];
  for (const [index, row] of text.split(/\r\n|\n|\r/).entries()) {
    const [, tag, first] = TAG.exec(row.replace(/^(?:\{[^{}]*\})*\{4:(?=:)/, '')) ?? [];
    if (tag !== undefined) fields.push({ tag, rows: [first!], line: index + 1 });
    // A row that begins with "-}" or is "-" ends the message; a block of SWIFT begins the next.
    else if (!/^(?:-\}?.*|\{.*|\s*)$/.test(row) || (/^-[^}]/.test(row) && fields.at(-1)?.tag === '86'))
      fields.at(-1)?.rows.push(row);
  }
  return fields;
}

function statementOf(fields: readonly Field[], file: string, known: KnownAccount): Statement {
  const one = (...tags: string[]) => fields.find(({ tag }) => tags.includes(tag));
  const faults: StatementFault[] = [];
  const opening = balanceOf(one('60F', '60M'), faults);
  const closing = balanceOf(one('62F', '62M'), faults);
  const isInterim = !one('60F', '60M', '62F', '62M') && one('34F', '13D', '13', '90C', '90D') !== undefined;
  const format = isInterim ? 'mt942' : 'mt940';
  const account = known.accountOr(accountOf(one('25', '25P')));
  const currency =
    opening?.currency ??
    closing?.currency ??
    account.currency ??
    currencyCode(one('34F')?.rows[0]?.slice(0, 3)) ??
    known.currencyOf(account);
  if (!account.iban && !account.other)
    faults.push({ line: fields[0]!.line, text: 'The statement names no account.' });
  if (currency === undefined)
    faults.push({
      line: fields[0]!.line,
      text: 'The statement names no currency, so its lines are left out.',
    });
  const { lines, sumMinor, notes } = linesOf(currency === undefined ? [] : fields, currency ?? '', faults);
  const closingLine = one('62F', '62M')?.line ?? fields[0]!.line;
  notes.unshift(...balanceWarnings(opening, closing, sumMinor, closingLine, lines.length));
  for (const [tag, direction] of [
    ['90C', 'credit'],
    ['90D', 'debit'],
  ] as const) {
    const told = one(tag);
    const count = Number(/^\d{1,5}/.exec(told?.rows[0] ?? '')?.[0]);
    const found = lines.filter((line) => line.direction === direction).length;
    if (told && count > found)
      notes.unshift({
        line: told.line,
        text: `The statement says ${count} lines of ${direction} (:${tag}:), but shows ${found}.`,
        warning: true,
      });
  }
  if (one('60F', '60M') && !one('62F', '62M'))
    notes.unshift({
      line: fields.at(-1)!.line,
      text: 'The statement has no closing balance (:62F:): the file may end too early.',
      warning: true,
    });
  const named = present({ ...account, currency });
  return {
    format,
    file,
    account: named,
    ...present({
      number: referenceOf(one('28C', '28')?.rows[0]),
      from: opening?.day,
      to: closing?.day,
      opening,
      closing,
    }),
    lines: numbered({ account: named, format }, lines),
    faults,
    ...(notes.length > 0 && { notes }),
  };
}

/** `DE02…`, `50010517/0123456789EUR`, `NL91ABNA0417164300 EUR`: the currency behind the account is taken off. */
function accountOf(field: Field | undefined): Statement['account'] {
  const text = field?.rows[0]?.trim() ?? '';
  const [, before, code] = /^(.*\d)\s*([A-Z]{3})$/.exec(text) ?? [];
  const currency = currencyCode(code);
  const name = (currency === undefined ? text : before!).trim();
  const iban = ibanOf(name.replace(/^[A-Z]{6}[A-Z0-9]{2,5}\//, '').replace(/^\//, ''));
  return present({ iban, other: iban ? undefined : referenceOf(name), currency });
}

function balanceOf(field: Field | undefined, faults: StatementFault[]): Balance | undefined {
  if (!field) return undefined;
  const [, sign, date, code, amount] = BALANCE.exec(field.rows[0]!.trim()) ?? [];
  const currency = currencyCode(code);
  const written = withoutGroups(amount?.trim() ?? '');
  const { minor } = cutToHundredths(written, written.includes('.') ? '.' : ',', currency);
  const day = shortDay(date ?? '');
  if (minor === undefined || currency === undefined || day === undefined) {
    faults.push({
      line: field.line,
      text: `The balance in :${field.tag}: cannot be read: "${field.rows[0]}".`,
    });
    return undefined;
  }
  return { minor: sign?.toUpperCase() === 'D' && minor !== 0 ? -minor : minor, currency, day };
}

function linesOf(fields: readonly Field[], currency: string, faults: StatementFault[]) {
  const lines: LineRead[] = [];
  const notes: StatementFault[] = [];
  let sumMinor: bigint | undefined = 0n;
  for (const [index, field] of fields.entries()) {
    if (field.tag !== '61') continue;
    const behind = fields.slice(index + 1, index + 1 + INFORMATION_MAXIMUM);
    const other = behind.findIndex(({ tag }) => tag !== '86');
    const information = (other < 0 ? behind : behind.slice(0, other)).flatMap(({ rows }) => rows);
    const line = lineOf(field, information, currency, { faults, notes });
    if (!line) sumMinor = undefined;
    else {
      lines.push(line);
      if (sumMinor !== undefined)
        sumMinor += BigInt(line.direction === 'credit' ? line.amountMinor : -line.amountMinor);
    }
  }
  return { lines, sumMinor, notes };
}

function lineOf(
  { rows, line }: Field,
  information: readonly string[],
  currency: string,
  { faults, notes }: Record<'faults' | 'notes', StatementFault[]>,
): LineRead | undefined {
  const filled = rows.findIndex((row) => row.trim() !== '');
  const entry = readEntry(rows[filled]?.trim() ?? '', currency);
  if (typeof entry === 'string') {
    faults.push({ line, text: `This line (:61:) is left out: ${entry}.` });
    return undefined;
  }
  const { bookingDay, valueDay, mark, amountMinor, beyond, code, owner, bank } = entry;
  notes.push(...entry.notes.map((text) => ({ line, text })));
  const more = rows.slice(filled + 1).join(' ');
  const told = readInformation(information);
  const charges = hundredths(/\/CHGS\/[A-Z]{3}(\d+,\d*)/.exec(more)?.[1] ?? '', ',');
  return {
    at: line,
    ...present({ bookingDay, valueDay }),
    amountMinor,
    currency,
    // RC takes a credit back, so it is a debit.
    direction: ['C', 'RD', 'EC'].includes(mark) ? 'credit' : 'debit',
    status: mark.startsWith('E') ? 'pending' : 'booked',
    isReversal: mark.startsWith('R') || told.isReturned,
    references: present({
      ...told.references,
      bank: referenceOf(bank),
      owner: referenceOf(owner),
    }),
    text: [told.text, folded(more)].filter(Boolean).join('\n'),
    counterparty: told.counterparty,
    ...present({ code: told.code ?? code, chargesMinor: charges || undefined, beyond }),
  };
}
