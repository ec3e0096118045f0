// Holds the balance beside each row against the amounts: which way the rows run, and where a balance does not follow.
import { signedAmount } from './balance.ts';
import type { StatementFault } from './statement.ts';
import { hasThousandths } from './values.ts';

export interface BalanceRow {
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

/** Balances that are told. The first one says enough: what follows is often its consequence. */
const TOLD_MAXIMUM = 3;
/** How charges change the balance: they are in the amount, or are written as a positive or as a negative number beside it. */
const CHARGES = [0, -1, 1] as const;
/** Rows that a bank may have put into another order than the one in which it counted: a fee stands under its transfer. */
const SWAPPED_ROWS = 4;
/** The share of balances that may not follow, if there are some more: above it the amounts are read wrongly. */
const STRAY_SHARE = 0.5;
const STRAYS = 3;

/**
 * Opening and closing balance of what is booked on an account, each if it can be told, and what does not follow: warnings, or faults if
 * most balances do not, or more do with every sign turned. `rows` are in the order of the file. Undefined if no row has a balance.
 */
export function runningBalance(rows: readonly BalanceRow[], currency: string): RunningBalance | undefined {
  const size = rows.reduce(
    (sum, { minor, chargesMinor, balanceMinor = 0 }) =>
      sum + Math.abs(minor) + Math.abs(chargesMinor) + Math.abs(balanceMinor),
    0,
  );
  if (!Number.isSafeInteger(size)) return undefined;
  // By how many hundredths each number may be less than it was.
  const slack = hasThousandths(currency) ? 1 : 0;
  const charges = rows.some(({ chargesMinor }) => chargesMinor !== 0) ? CHARGES : CHARGES.slice(0, 1);
  const booked = rows.filter(({ isPending }) => !isPending);
  const reserved = rows.reduce((sum, { isPending, minor }) => sum + (isPending ? minor : 0), 0);
  // Pending rows are in some banks' balances.
  const ways = booked.length < rows.length ? [booked, rows] : [rows];
  const runs = ways.flatMap((way) =>
    runsOf(way, charges, slack).map((run) => ({
      ...run,
      closing: run.closing - (way === rows ? reserved : 0),
    })),
  );
  if (runs.length === 0) return undefined;
  const fewest = fewestBreaks(runs);
  const best = runs.filter(({ breaks }) => breaks === fewest);
  const sure = (which: 'opening' | 'closing') =>
    best.every((run) => run[which] === best[0]![which]) ? best[0]![which] : undefined;
  const { told, breaks, steps } = best[0]!;
  const turnedRuns = () => ways.flatMap((way) => runsOf(way.map(turned), charges, slack));
  const areStray =
    (breaks <= STRAYS || breaks <= steps * STRAY_SHARE) &&
    (breaks === 0 || fewestBreaks(turnedRuns()) >= breaks);
  return {
    opening: sure('opening'),
    closing: sure('closing'),
    faults: areStray ? [] : told,
    warnings: areStray ? told.map((one) => ({ ...one, warning: true as const })) : [],
  };
}

const fewestBreaks = (runs: readonly Run[]) => Math.min(...runs.map(({ breaks }) => breaks));

const turned = (row: BalanceRow): BalanceRow => ({
  ...row,
  minor: -row.minor,
  chargesMinor: -row.chargesMinor,
});

interface Run {
  opening: number;
  closing: number;
  told: StatementFault[];
  breaks: number;
  steps: number;
}

interface RunningBalance {
  opening: number | undefined;
  closing: number | undefined;
  faults: StatementFault[];
  warnings: StatementFault[];
}

function runsOf(rows: readonly BalanceRow[], charges: readonly number[], slack: number): Run[] {
  if (rows.every(({ balanceMinor }) => balanceMinor === undefined)) return [];
  const isDated = ({ day }: BalanceRow) => day !== '';
  const [first, last] = [rows.find(isDated)?.day ?? '', rows.findLast(isDated)?.day ?? ''];
  const orders = [...(first <= last ? [rows] : []), ...(first >= last ? [rows.toReversed()] : [])];
  return orders.flatMap((order) => charges.map((factor) => runOf(order, factor, slack)));
}

function runOf(rows: readonly BalanceRow[], factor: number, slack: number): Run {
  let known: number | undefined;
  let since = 0;
  let counted = 0;
  let opening = 0;
  const run = { told: [] as StatementFault[], breaks: 0, steps: 0 };
  const change = (i: number) => rows[i]!.minor + factor * rows[i]!.chargesMinor;
  for (let i = 0; i < rows.length; i++) {
    since += change(i);
    counted++;
    const { line, balanceMinor: balance } = rows[i]!;
    if (balance === undefined) continue;
    if (known === undefined) opening = balance - since;
    else {
      run.steps++;
      const reached = known + since;
      const follows = Math.abs(reached - balance) <= slack * (counted + 1);
      const swapped = follows ? 0 : swappedRows(rows, i, reached, change);
      if (swapped > 0) {
        for (let more = 1; more <= swapped; more++) since += change(i + more);
        known += since;
        since = 0;
        counted = 0;
        i += swapped;
        continue;
      }
      if (!follows) {
        const sum = `${signedAmount(known)} before it and ${signedAmount(since)} give ${signedAmount(reached)}`;
        const text = `The balance of this row is ${signedAmount(balance)}, but ${sum}.`;
        if (++run.breaks <= TOLD_MAXIMUM) run.told.push({ line, text });
      }
    }
    known = balance;
    since = 0;
    counted = 0;
  }
  return { ...run, opening, closing: known! + since };
}

/** How many rows behind one belong before it: together they lead to a balance that one of them has. 0 if none do. */
function swappedRows(
  rows: readonly BalanceRow[],
  place: number,
  reached: number,
  change: (i: number) => number,
): number {
  let sum = reached;
  for (let more = 1; more < SWAPPED_ROWS && place + more < rows.length; more++) {
    sum += change(place + more);
    for (let i = place; i < place + more; i++) if (rows[i]!.balanceMinor === sum) return more;
  }
  return 0;
}
