// Holds the balances of a statement against its entries.
import type { Balance, StatementFault } from './statement.ts';

/** Hundredths in words: `4990` gives `49.90`. */
function formatAmount(minor: number): string {
  const digits = String(minor).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Signed hundredths in words: `-12.50`. */
export function signedAmount(minor: number | bigint): string {
  return minor < 0 ? `-${formatAmount(Number(-BigInt(minor)))}` : formatAmount(Number(minor));
}

/**
 * What is wrong with the balances; undefined if one of them is missing. `entriesMinor` is the sum of booked entries, credits positive;
 * undefined if an entry could not be read. `line` is the line of the closing balance.
 */
export function balanceFaults(
  opening: Balance | undefined,
  closing: Balance | undefined,
  entriesMinor: bigint | undefined,
  line: number,
): StatementFault[] {
  if (!opening || !closing) return [];
  if (opening.currency !== closing.currency)
    return [{ line, text: `The balances are in ${opening.currency} and ${closing.currency}.` }];
  if (entriesMinor === undefined) return [];
  const reached = BigInt(opening.minor) + entriesMinor;
  if (reached === BigInt(closing.minor)) return [];
  return [
    {
      line,
      text: `The balances do not add up: ${signedAmount(opening.minor)} and entries of ${signedAmount(entriesMinor)} give ${signedAmount(reached)}, but the closing balance is ${signedAmount(closing.minor)} ${closing.currency}.`,
    },
  ];
}
