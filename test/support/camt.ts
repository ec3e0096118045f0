// Writes CAMT messages for tests: one statement with its entries.
import { DEFAULT_TERMS } from '../../src/payments/pay-by.ts';

/** What lines are matched by where the configuration says nothing of it. */
export const MATCHING = { timeZone: DEFAULT_TERMS.timeZone, calendar: DEFAULT_TERMS.calendar, prefixes: [] };

export const ACCOUNT = 'DE75512108001245126199';

/** The day of a service's clock, on which payments made now may be paid: no money comes before its payment. */
export const today = ({ clock }: { clock: { now(): number } }, laterMs = 0) =>
  new Date(clock.now() + laterMs).toISOString().slice(0, 10);

export interface Entry {
  /** As the bank writes it: `49.90`. */
  amount: string;
  currency?: string;
  direction?: 'CRDT' | 'DBIT';
  status?: 'BOOK' | 'PDNG';
  /** Empty for none. */
  day?: string;
  /** The bank's reference of the entry; null for none. */
  bank?: string | null;
  reversal?: boolean;
  /** What the bank took. */
  charges?: string;
  text?: string;
  endToEnd?: string;
  /** A structured creditor reference. */
  creditor?: string;
  name?: string;
  iban?: string;
  /** Transactions of the entry, in place of what stands above. */
  parts?: Pick<Entry, 'amount' | 'text' | 'endToEnd' | 'name' | 'iban' | 'creditor'>[];
}

const xml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const element = (name: string, content: string | undefined) =>
  content ? `<${name}>${content}</${name}>` : '';

function details(part: Entry, currency: string, isPart: boolean): string {
  const { text, endToEnd, creditor, name, iban } = part;
  const words = element('Ustrd', text && xml(text));
  const structured = creditor && `<Strd><CdtrRefInf><Ref>${creditor}</Ref></CdtrRefInf></Strd>`;
  return element(
    'TxDtls',
    [
      element('Refs', element('EndToEndId', endToEnd && xml(endToEnd))),
      isPart ? `<Amt Ccy="${currency}">${part.amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd>` : '',
      element(
        'RltdPties',
        element('Dbtr', element('Nm', name && xml(name))) +
          element('DbtrAcct', element('Id', element('IBAN', iban))),
      ),
      element('RmtInf', words + (structured ?? '')),
    ].join(''),
  );
}

function entryText(entry: Entry): string {
  const { amount, currency = 'EUR', direction = 'CRDT', status = 'BOOK', day = '2026-11-20', bank } = entry;
  const { parts, reversal, charges } = entry;
  const transactions = parts
    ? parts.map((part) => details(part, currency, true)).join('')
    : details(entry, currency, false);
  return `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${reversal ? '<RvslInd>true</RvslInd>' : ''}<Sts><Cd>${status}</Cd></Sts>
${element('BookgDt', element('Dt', day))}${element('AcctSvcrRef', bank ?? undefined)}${element('Chrgs', charges && `<Rcrd><Amt Ccy="${currency}">${charges}</Amt></Rcrd>`)}${element('NtryDtls', transactions)}</Ntry>`;
}

const MESSAGES = {
  '052': ['BkToCstmrAcctRpt', 'Rpt'],
  '053': ['BkToCstmrStmt', 'Stmt'],
  '054': ['BkToCstmrDbtCdtNtfctn', 'Ntfctn'],
} as const;

const balance = (code: string, text: string, currency: string, day: string) =>
  `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${text}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`;

/** A message as bytes. `balances` are the opening and the closing one. */
export function camt(
  entries: readonly Entry[],
  options: {
    message?: keyof typeof MESSAGES;
    account?: string;
    currency?: string;
    number?: string;
    balances?: readonly [string, string];
    /** The day of the balances. */
    day?: string;
  } = {},
): Buffer {
  const {
    message = '053',
    account = ACCOUNT,
    currency = 'EUR',
    number,
    balances,
    day = '2026-11-20',
  } = options;
  const [outer, inner] = MESSAGES[message];
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${message}.001.08"><${outer}><GrpHdr><MsgId>M</MsgId></GrpHdr>
<${inner}><Id>S</Id>${element('ElctrncSeqNb', number)}<Acct><Id><IBAN>${account}</IBAN></Id><Ccy>${currency}</Ccy></Acct>
${balances ? balance('OPBD', balances[0], currency, day) + balance('CLBD', balances[1], currency, day) : ''}
${entries.map(entryText).join('\n')}
</${inner}></${outer}></Document>
`);
}

/** One file of the statements of two. */
export function inOneFile(one: Buffer, two: Buffer): string {
  const statement = /<Stmt>[\s\S]*<\/Stmt>/;
  const [second] = statement.exec(two.toString())!;
  return one.toString().replace(statement, (first) => first + second);
}

/** The configuration of a transfer to `ACCOUNT`. */
export const TRANSFERS = `methods:
  - type: bank_transfer
    accounts:
      - currency: EUR
        holder: Development Shop
        iban: ${ACCOUNT}
`;
