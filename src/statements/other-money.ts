// Tells two lines apart which a bank gave one reference and one amount: lines of other money must not be taken for known ones.

import { sha256Hex } from '../lib/secrets.ts';
import { DAY_MS } from '../lib/time.ts';
import { type KeptLine, saidOn } from './kept.ts';

/** The days that files may differ by when they show one booking. A bank that counts anew each year uses its references again later. */
const DAYS_APART = 10;

/**
 * Whether two booked or pending lines with one fingerprint name different payers or references, or days far apart. The fingerprint of a
 * line without a bank's reference holds its payer, references and day, if it has one.
 */
export function isOtherMoney(known: KeptLine, line: KeptLine): boolean {
  const { references } = saidOn(line);
  if ((references.booking ?? references.bank) === undefined) return false;
  const days = Math.abs(Date.parse(known.day) - Date.parse(line.day)) / DAY_MS;
  if (days > DAYS_APART) return true;
  const [one, other] = [namesOf(known), namesOf(line)];
  return one.some((name, i) => name !== undefined && other[i] !== undefined && name !== other[i]);
}

/** The fingerprint of a line whose own is that of other money. */
export function ownFingerprint(line: KeptLine): string {
  const own = sha256Hex(JSON.stringify([line.day, ...namesOf(line).map((name) => name ?? null)]));
  return `${line.fingerprint}~${own.slice(0, 16)}`;
}

/** What every file says alike of one booking, if it says it at all: who paid, and the references of the payer. */
function namesOf(line: KeptLine): (string | undefined)[] {
  const { counterparty, references } = saidOn(line);
  return [counterparty.account, references.endToEnd, references.creditor];
}
