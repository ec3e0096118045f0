// Holds the balance beside each row against the amounts: which way the rows run, and where a balance does not follow.
import { signedAmount } from './balance.ts';
import type { StatementFault } from './statement.ts';

interface BalanceRow {
  line: number;
  /** YYYY-MM-DD. */
  day: string;
  /** Hundredths, negative for money out. */
  minor: number;
  /** Charges beside the amount, with the sign that the bank writes. */
  chargesMinor: number;
  /** The balance afterwards, if the row has one. */
  balanceMinor: number | undefined;
}

/** Faults that are told. The first one says enough: what follows is often its consequence. */
const FAULTS_TOLD = 3;
/** How charges change the balance: they are in the amount, or are written as a positive or as a negative number beside it. */
const CHARGES = [0, -1, 1] as const;

interface Run {
  opening: bigint;
  closing: bigint;
  faults: StatementFault[];
  breaks: number;
}

/**
 * Opening and closing balance, each if it can be told, and what does not follow; undefined if no row has a balance. `rows` are booked,
 * in the order of the file.
 */
export function runningBalance(
  rows: readonly BalanceRow[],
): { opening: bigint | undefined; closing: bigint | undefined; faults: StatementFault[] } | undefined {
  if (!rows.some(({ balanceMinor }) => balanceMinor !== undefined)) return undefined;
  const [first, last] = [rows[0]!.day, rows.at(-1)!.day];
  const downwards = rows.toReversed();
  const orders = first < last ? [rows] : first > last ? [downwards] : [rows, downwards];
  const charges = rows.some(({ chargesMinor }) => chargesMinor !== 0) ? CHARGES : CHARGES.slice(0, 1);
  const runs = orders.flatMap((order) => charges.map((factor) => runOf(order, factor)));
  const fewest = Math.min(...runs.map(({ breaks }) => breaks));
  const best = runs.filter(({ breaks }) => breaks === fewest);
  const sure = (which: 'opening' | 'closing') =>
    best.every((run) => run[which] === best[0]![which]) ? best[0]![which] : undefined;
  return { opening: sure('opening'), closing: sure('closing'), faults: best[0]!.faults };
}

function runOf(rows: readonly BalanceRow[], factor: number): Run {
  let known: bigint | undefined;
  let since = 0n;
  let opening = 0n;
  const faults: StatementFault[] = [];
  for (const { line, minor, chargesMinor, balanceMinor } of rows) {
    since += BigInt(minor) + BigInt(factor * chargesMinor);
    if (balanceMinor === undefined) continue;
    const balance = BigInt(balanceMinor);
    if (known === undefined) opening = balance - since;
    else if (known + since !== balance) {
      const sum = `${signedAmount(known)} before it and ${signedAmount(since)} give ${signedAmount(known + since)}`;
      const text = `The balance of this row is ${signedAmount(balance)}, but ${sum}.`;
      faults.push({ line, text });
    }
    known = balance;
    since = 0n;
  }
  return { opening, closing: known! + since, faults: faults.slice(0, FAULTS_TOLD), breaks: faults.length };
}
