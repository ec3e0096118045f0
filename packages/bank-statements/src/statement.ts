// What a bank statement says, whatever its format: its account, its balances, its lines and the faults found in it.

export type StatementFormat =
  | 'camt.052'
  | 'camt.053'
  | 'camt.054'
  | 'mt940'
  | 'mt942'
  | 'ofx'
  | 'csv'
  | 'pasted';

/** Something in a file that cannot be right. `line` counts lines of text from 1; it is 0 if the fault belongs to no line. */
export interface StatementFault {
  line: number;
  /** One sentence for the bookkeeper. */
  text: string;
  /** Set on a note that wants a look: every line was read, and the balances say that one may be missing. */
  warning?: true;
}

/** A balance in hundredths (for every currency, those without decimals too); negative if the account is overdrawn. */
export interface Balance {
  minor: number;
  currency: string;
  /** YYYY-MM-DD. */
  day?: string;
}

/** An account as a statement names it. `iban` has no spaces and upper case. `other` is what a bank writes in place of an IBAN. */
export interface StatementAccount {
  iban?: string;
  other?: string;
  currency?: string;
}

/** Who paid or was paid, as the bank names them. `account` is an IBAN without spaces, or the bank's own form. */
export interface Counterparty {
  name?: string;
  account?: string;
}

/** References that stand in fields of their own. Leading zeros are kept. Placeholders such as `NOTPROVIDED` and `NONREF` are left out. */
export interface LineReferences {
  /** Structured creditor reference: RF (ISO 11649), QRR and national forms. */
  creditor?: string;
  endToEnd?: string;
  mandate?: string;
  /** The account servicing bank's reference (`AcctSvcrRef`, `FITID`, the part of `:61:` behind `//`). */
  bank?: string;
  /** The bank's reference of the whole entry (`AcctSvcrRef` of `Ntry`), where `bank` may be that of one transaction in it. */
  booking?: string;
  /** The account owner's reference in `:61:`, before `//`. */
  owner?: string;
  /** `NtryRef`. Holds the QR-IBAN where a Swiss bank credits QR bills. */
  entry?: string;
}

/** One movement of money. An entry with several transactions becomes one line for each transaction. */
export interface StatementLine {
  /** Counts from 0 in its statement. */
  position: number;
  /** Line of text in the file, from 1. */
  at: number;
  /** YYYY-MM-DD. Pending lines may have none. */
  bookingDay?: string;
  /** YYYY-MM-DD. */
  valueDay?: string;
  /** Hundredths, never negative. Zero never matches a payment. */
  amountMinor: number;
  currency: string;
  /** `credit` adds to the account. */
  direction: 'credit' | 'debit';
  /** Pending lines are shown and never matched. */
  status: 'booked' | 'pending';
  /** True for a reversal or a returned transfer. */
  isReversal: boolean;
  references: LineReferences;
  /** Everything else the bank wrote for people, its parts separated by a line feed. */
  text: string;
  counterparty: Counterparty;
  /** The bank's code for the kind of transaction: `PMNT-RCDT-ESCT`, `NTRF`, `CREDIT`. */
  code?: string;
  /** The whole amount as the bank wrote it (`1.234 KWD`), if it has thousandths. `amountMinor` is less then. */
  beyond?: string;
  /** Charges that the bank took from this amount, in hundredths of `currency`. */
  chargesMinor?: number;
  /** The entry that this line is a part of, if the entry has several transactions. `minor` is the entry's amount. */
  partOf?: { minor: number; lines: number };
  /**
   * Identifies the same money in another file: in 052, 053 and 054, and in overlapping statements. 32 hexadecimal digits and the position
   * among lines alike. A pending line and the booked line that follows have the same one. An entry that one file shows whole and
   * another one by its transactions has different ones: compare `references.bank` and `partOf` there.
   */
  fingerprint: string;
}

/** One account's statement. Days are texts, YYYY-MM-DD. */
export interface Statement {
  format: StatementFormat;
  /** Name of the file, and behind `/` the name in the archive. */
  file: string;
  account: StatementAccount;
  /** The bank's number of the statement (`34`, `34/1`). */
  number?: string;
  from?: string;
  to?: string;
  opening?: Balance;
  closing?: Balance;
  lines: StatementLine[];
  /** Faults inside this statement. Its other lines are right. */
  faults: StatementFault[];
  /** What a person should know although every line is right. Missing if there is nothing. */
  notes?: StatementFault[];
}

/** Hears each line while a file is read. `statement` is the place of its statement among those of the file, from 0. */
export type TakeLine = (line: StatementLine, statement: number) => void;
