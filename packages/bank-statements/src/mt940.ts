// Reads MT940 and MT942 (SWIFT): fields, balances and statement lines (`:61:`). What `:86:` tells is read beside.
import { balanceFaults } from './balance.ts';
import { type LineRead, numbered } from './fingerprint.ts';
import { readInformation } from './mt940-information.ts';
import { StatementRefused } from './refusal.ts';
import type { Balance, Statement, StatementFault } from './statement.ts';
import { currencyCode, dayOf, folded, hundredths, ibanOf, present, referenceOf } from './values.ts';

interface Field {
  tag: string;
  /** The rows of the field. */
  rows: string[];
  line: number;
}

const TAG = /^:(\d{2}[A-Z]?):(.*)$/;
const ENTRY =
  /^(\d{6})(\d{4})?(RC|RD|EC|ED|C|D)([A-Z])?(\d{1,15}(?:,\d*)?)([A-Z][A-Z0-9]{3})(.*?)(?:\/\/(.*))?$/;
const BALANCE = /^([CD])(\d{6})([A-Z]{3})(\d{1,15}(?:,\d*)?)$/;

/** Whether the first characters of a file are those of MT940 or MT942, with or without the blocks of SWIFT around. */
export function isMt940(head: string): boolean {
  return /^\s*(?:\{1:|:\d{2}[A-Z]?:)|(?:^|[\r\n]):20:[^\r\n]*[\r\n]+(?:[^:\r\n]*[\r\n]+)*:(?:21|25|28C?)P?:/.test(
    head,
  );
}

/** Reads all statements of a file. Throws `StatementRefused` if there is none. */
export function readMt940(text: string, file: string): Statement[] {
  const messages: Field[][] = [];
  for (const field of fieldsOf(text)) {
    if (field.tag === '20' || messages.length === 0) messages.push([]);
    messages.at(-1)!.push(field);
  }
  const statements = messages.filter((fields) => fields.some(({ tag }) => /^(?:25P?|6\d.?)$/.test(tag)));
  if (statements.length === 0) throw new StatementRefused('The file holds no statement of MT940 or MT942.');
  return statements.map((fields) => statementOf(fields, file));
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

function statementOf(fields: readonly Field[], file: string): Statement {
  const one = (...tags: string[]) => fields.find(({ tag }) => tags.includes(tag));
  const faults: StatementFault[] = [];
  const opening = balanceOf(one('60F', '60M'), faults);
  const closing = balanceOf(one('62F', '62M'), faults);
  const isInterim = !one('60F', '60M', '62F', '62M') && one('34F', '13D', '13', '90C', '90D') !== undefined;
  const format = isInterim ? 'mt942' : 'mt940';
  const account = accountOf(one('25', '25P'));
  const currency =
    opening?.currency ??
    closing?.currency ??
    account.currency ??
    currencyCode(one('34F')?.rows[0]?.slice(0, 3));
  if (!account.iban && !account.other)
    faults.push({ line: fields[0]!.line, text: 'The statement names no account.' });
  if (currency === undefined)
    faults.push({
      line: fields[0]!.line,
      text: 'The statement names no currency, so its lines are left out.',
    });
  const { lines, sumMinor } = linesOf(currency === undefined ? [] : fields, currency ?? '', faults);
  const closingLine = one('62F', '62M')?.line ?? fields[0]!.line;
  faults.push(...balanceFaults(opening, closing, sumMinor, closingLine));
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
  const minor = hundredths(amount ?? '', ',');
  const currency = currencyCode(code);
  const day = shortDay(date ?? '');
  if (minor === undefined || currency === undefined || day === undefined) {
    faults.push({ line: field.line, text: `The balance in :${field.tag}: cannot be read.` });
    return undefined;
  }
  return { minor: sign === 'D' && minor !== 0 ? -minor : minor, currency, day };
}

function linesOf(fields: readonly Field[], currency: string, faults: StatementFault[]) {
  const lines: LineRead[] = [];
  let sumMinor: bigint | undefined = 0n;
  for (const [index, field] of fields.entries()) {
    if (field.tag !== '61') continue;
    const next = fields[index + 1];
    const line = lineOf(field, next?.tag === '86' ? next.rows : [], currency, faults);
    if (!line) sumMinor = undefined;
    else {
      lines.push(line);
      if (sumMinor !== undefined)
        sumMinor += BigInt(line.direction === 'credit' ? line.amountMinor : -line.amountMinor);
    }
  }
  return { lines, sumMinor };
}

function lineOf(
  { rows, line }: Field,
  information: readonly string[],
  currency: string,
  faults: StatementFault[],
): LineRead | undefined {
  const [, value, booking, mark, , amount, code, owner, bank] = ENTRY.exec(rows[0]!.trim()) ?? [];
  const amountMinor = hundredths(amount ?? '', ',');
  const valueDay = shortDay(value ?? '');
  if (amountMinor === undefined || valueDay === undefined || mark === undefined) {
    faults.push({ line, text: 'This line (:61:) is left out: its day, mark or amount cannot be read.' });
    return undefined;
  }
  const bookingDay = booking === undefined ? valueDay : nearestDay(booking, valueDay);
  if (bookingDay === undefined)
    faults.push({ line, text: `The calendar has no booking day "${booking}" (:61:).` });
  const more = rows.slice(1).join(' ');
  const told = readInformation(information);
  const charges = hundredths(/\/CHGS\/[A-Z]{3}(\d+,\d*)/.exec(more)?.[1] ?? '', ',');
  return {
    at: line,
    ...present({ bookingDay }),
    valueDay,
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
    ...present({ code: told.code ?? code, chargesMinor: charges || undefined }),
  };
}

/** YYMMDD. */
function shortDay(text: string): string | undefined {
  const [year, month, day] = [text.slice(0, 2), text.slice(2, 4), text.slice(4, 6)].map(Number);
  return text.length === 6 ? dayOf(year! < 80 ? 2000 + year! : 1900 + year!, month!, day!) : undefined;
}

/** MMDD in the year that brings it nearest to the value day: 31 December may be booked on 2 January. */
function nearestDay(text: string, valueDay: string): string | undefined {
  const [month, day] = [Number(text.slice(0, 2)), Number(text.slice(2))];
  const [year, valueMonth] = [Number(valueDay.slice(0, 4)), Number(valueDay.slice(5, 7))];
  const shift = month - valueMonth > 6 ? -1 : valueMonth - month > 6 ? 1 : 0;
  return dayOf(year + shift, month, day);
}
