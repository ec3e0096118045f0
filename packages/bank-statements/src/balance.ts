// Holds the balances of a statement against its entries.
import type { Balance, StatementFault } from './statement.ts';
import { hasThousandths } from './values.ts';

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
 * Warnings about the balances; none if one of them is missing. `entriesMinor` is the sum of booked entries, credits positive;
 * undefined if an entry could not be read. `line` is the line of the closing balance. In a currency of three decimals each of `entries`
 * and both balances may be less by up to a hundredth.
 */
export function balanceWarnings(
  opening: Balance | undefined,
  closing: Balance | undefined,
  entriesMinor: bigint | undefined,
  line: number,
  entries = 0,
): StatementFault[] {
  if (!opening || !closing) return [];
  if (opening.currency !== closing.currency)
    return [
      { line, text: `The balances are in ${opening.currency} and ${closing.currency}.`, warning: true },
    ];
  if (entriesMinor === undefined) return [];
  const reached = BigInt(opening.minor) + entriesMinor;
  const difference = reached - BigInt(closing.minor);
  const slack = hasThousandths(closing.currency) ? BigInt(entries + 1) : 0n;
  if (difference >= -slack && difference <= slack) return [];
  return [
    {
      line,
      text: `The balances do not add up: ${signedAmount(opening.minor)} and entries of ${signedAmount(entriesMinor)} give ${signedAmount(reached)}, but the closing balance is ${signedAmount(closing.minor)} ${closing.currency}.`,
      warning: true,
    },
  ];
}
