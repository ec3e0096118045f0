// Holds the balance beside each row against the amounts: which way the rows run, and where a balance does not follow.
import { signedAmount } from './balance.ts';
import type { StatementFault } from './statement.ts';

interface BalanceRow {
  line: number;
  /** YYYY-MM-DD; empty for a pending row without one. */
  day: string;
  /** Hundredths, negative for money out. */
  minor: number;
  /** Charges beside the amount, with the sign that the bank writes. */
  chargesMinor: number;
  /** The balance afterwards, if the row has one. */
  balanceMinor: number | undefined;
  isPending: boolean;
}

/** Faults that are told. The first one says enough: what follows is often its consequence. */
const FAULTS_TOLD = 3;
/** How charges change the balance: they are in the amount, or are written as a positive or as a negative number beside it. */
const CHARGES = [0, -1, 1] as const;
/** Rows that a bank may have put into another order than the one in which it counted: a fee stands under its transfer. */
const SWAPPED_ROWS = 4;
/** The share of balances that may not follow where the others do: more, and the amounts are read wrongly. */
const STRAY_SHARE = 0.2;

interface Run {
  opening: bigint;
  closing: bigint;
  faults: StatementFault[];
  breaks: number;
  steps: number;
}

interface RunningBalance {
  opening: bigint | undefined;
  closing: bigint | undefined;
  faults: StatementFault[];
  notes: StatementFault[];
}

/**
 * Opening and closing balance of what is booked, each if it can be told, and what does not follow: notes if nearly everything does, else
 * faults. Undefined if no row has a balance. `rows` are in the order of the file. Pending rows are in some banks' balances.
 */
export function runningBalance(rows: readonly BalanceRow[]): RunningBalance | undefined {
  const booked = rows.filter(({ isPending }) => !isPending);
  const ways = [booked, rows].filter((one, i, all) => i === 0 || one.length > all[0]!.length);
  const runs = ways.flatMap((way) => {
    const reserved = way.reduce((sum, { isPending, minor }) => sum + (isPending ? BigInt(minor) : 0n), 0n);
    return runsOf(way).map((run) => ({ ...run, closing: run.closing - reserved }));
  });
  if (runs.length === 0) return undefined;
  const fewest = Math.min(...runs.map(({ breaks }) => breaks));
  const best = runs.filter(({ breaks }) => breaks === fewest);
  const sure = (which: 'opening' | 'closing') =>
    best.every((run) => run[which] === best[0]![which]) ? best[0]![which] : undefined;
  const { faults, breaks, steps } = best[0]!;
  const areStray = breaks <= steps * STRAY_SHARE;
  return {
    opening: sure('opening'),
    closing: sure('closing'),
    faults: areStray ? [] : faults,
    notes: areStray ? faults : [],
  };
}

function runsOf(rows: readonly BalanceRow[]): Run[] {
  if (!rows.some(({ balanceMinor }) => balanceMinor !== undefined)) return [];
  const days = rows.map(({ day }) => day).filter((day) => day !== '');
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const downwards = rows.toReversed();
  const orders = first < last ? [rows] : first > last ? [downwards] : [rows, downwards];
  const charges = rows.some(({ chargesMinor }) => chargesMinor !== 0) ? CHARGES : CHARGES.slice(0, 1);
  return orders.flatMap((order) => charges.map((factor) => runOf(order, factor)));
}

function runOf(rows: readonly BalanceRow[], factor: number): Run {
  let known: bigint | undefined;
  let since = 0n;
  let opening = 0n;
  let steps = 0;
  const faults: StatementFault[] = [];
  const change = ({ minor, chargesMinor }: BalanceRow) => BigInt(minor) + BigInt(factor * chargesMinor);
  for (let i = 0; i < rows.length; i++) {
    const { line, balanceMinor } = rows[i]!;
    since += change(rows[i]!);
    if (balanceMinor === undefined) continue;
    const balance = BigInt(balanceMinor);
    if (known === undefined) opening = balance - since;
    else {
      steps++;
      const swapped = known + since === balance ? 0 : swappedRows(rows, i, known + since, change);
      if (swapped > 0) {
        for (let more = 1; more <= swapped; more++) since += change(rows[i + more]!);
        known += since;
        since = 0n;
        i += swapped;
        continue;
      }
      if (known + since !== balance) {
        const sum = `${signedAmount(known)} before it and ${signedAmount(since)} give ${signedAmount(known + since)}`;
        faults.push({ line, text: `The balance of this row is ${signedAmount(balance)}, but ${sum}.` });
      }
    }
    known = balance;
    since = 0n;
  }
  const told = faults.slice(0, FAULTS_TOLD);
  return { opening, closing: known! + since, faults: told, breaks: faults.length, steps };
}

/** How many rows behind one belong before it: together they lead to a balance that one of them has. 0 if none do. */
function swappedRows(
  rows: readonly BalanceRow[],
  place: number,
  reached: bigint,
  change: (row: BalanceRow) => bigint,
): number {
  let sum = reached;
  for (let more = 1; more < SWAPPED_ROWS && place + more < rows.length; more++) {
    sum += change(rows[place + more]!);
    const group = rows.slice(place, place + more);
    if (group.some(({ balanceMinor }) => balanceMinor !== undefined && BigInt(balanceMinor) === sum))
      return more;
  }
  return 0;
}
