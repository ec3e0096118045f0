// Holds the balance beside each row against the amounts: which way the rows run, and where a balance does not follow.
import { signedAmount } from './balance.ts';
import type { StatementFault } from './statement.ts';
import { hasThousandths } from './values.ts';

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

/** Numbers in blocks of 8 bytes each: a million rows of an export are kept until its last one. */
class Numbers {
  static readonly #block = 1 << 14;
  readonly #blocks: Float64Array[] = [];
  length = 0;

  push(value: number): void {
    const place = this.length++ % Numbers.#block;
    if (place === 0) this.#blocks.push(new Float64Array(Numbers.#block));
    this.#blocks.at(-1)![place] = value;
  }

  at(place: number): number {
    return this.#blocks[(place / Numbers.#block) | 0]![place % Numbers.#block]!;
  }
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

/** First and last day of some rows. */
interface Days {
  first: string;
  last: string;
}

/** Rows of an account in the order in which they are looked at. */
interface View extends Days {
  length: number;
  /** By how many hundredths each number may be less than it was: 0 or 1. */
  slack: number;
  line(i: number): number;
  minor(i: number): number;
  charges(i: number): number;
  /** NaN for none. */
  balance(i: number): number;
}

/** The rows of one account, in the order of the file, as far as its balances need them. */
export class BalanceRows {
  readonly #lines = new Numbers();
  readonly #minors = new Numbers();
  readonly #balances = new Numbers();
  readonly #charges = new Map<number, number>();
  /** Places of booked rows. Missing as long as all are. */
  #booked: number[] | undefined;
  readonly #days = { booked: { first: '', last: '' }, all: { first: '', last: '' } };
  #pendingMinor = 0;
  /** The sum of everything without signs: it has to stay exact. */
  #largest = 0;
  /** By how many hundredths each number may be less than it was. */
  readonly #slack: number;

  constructor(currency: string) {
    this.#slack = hasThousandths(currency) ? 1 : 0;
  }

  get length(): number {
    return this.#lines.length;
  }

  add({ line, day, minor, chargesMinor, balanceMinor, isPending }: BalanceRow): void {
    const place = this.#lines.length;
    if (chargesMinor !== 0) this.#charges.set(place, chargesMinor);
    this.#lines.push(line);
    this.#minors.push(minor);
    this.#balances.push(balanceMinor ?? Number.NaN);
    this.#largest += Math.abs(minor) + Math.abs(chargesMinor) + Math.abs(balanceMinor ?? 0);
    if (isPending) {
      this.#booked ??= Array.from({ length: place }, (_, i) => i);
      this.#pendingMinor += minor;
    } else this.#booked?.push(place);
    for (const days of isPending ? [this.#days.all] : [this.#days.all, this.#days.booked]) {
      if (days.first === '') days.first = day;
      if (day !== '') days.last = day;
    }
  }

  /** The booked rows, and all of them if others are among them: those are in some banks' balances. */
  #ways(): { view: View; reserved: number }[] {
    const { booked, all } = this.#days;
    const way = (places: number[] | undefined, days: Days): View => ({
      ...days,
      length: places?.length ?? this.#lines.length,
      slack: this.#slack,
      line: (i) => this.#lines.at(places ? places[i]! : i),
      minor: (i) => this.#minors.at(places ? places[i]! : i),
      charges: (i) => this.#charges.get(places ? places[i]! : i) ?? 0,
      balance: (i) => this.#balances.at(places ? places[i]! : i),
    });
    const whole = { view: way(undefined, all), reserved: this.#pendingMinor };
    return this.#booked ? [{ view: way(this.#booked, booked), reserved: 0 }, whole] : [whole];
  }

  /**
   * Opening and closing balance of what is booked, each if it can be told, and what does not follow: warnings, or faults if most balances
   * do not, or more do with every sign turned. Undefined if no row has a balance.
   */
  running(): RunningBalance | undefined {
    if (!Number.isSafeInteger(this.#largest)) return undefined;
    const charges = this.#charges.size > 0 ? CHARGES : CHARGES.slice(0, 1);
    const ways = this.#ways();
    const runs = ways.flatMap(({ view, reserved }) =>
      runsOf(view, charges).map((run) => ({ ...run, closing: run.closing - reserved })),
    );
    if (runs.length === 0) return undefined;
    const fewest = fewestBreaks(runs);
    const best = runs.filter(({ breaks }) => breaks === fewest);
    const sure = (which: 'opening' | 'closing') =>
      best.every((run) => run[which] === best[0]![which]) ? best[0]![which] : undefined;
    const { told, breaks, steps } = best[0]!;
    const areStray =
      (breaks <= STRAYS || breaks <= steps * STRAY_SHARE) &&
      (breaks === 0 || fewestBreaks(ways.flatMap(({ view }) => runsOf(turned(view), charges))) >= breaks);
    return {
      opening: sure('opening'),
      closing: sure('closing'),
      faults: areStray ? [] : told,
      warnings: areStray ? told.map((one) => ({ ...one, warning: true as const })) : [],
    };
  }
}

const fewestBreaks = (runs: readonly Run[]) => Math.min(...runs.map(({ breaks }) => breaks));

const turned = (view: View): View => ({
  ...view,
  minor: (i) => -view.minor(i),
  charges: (i) => -view.charges(i),
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

function runsOf(view: View, charges: readonly number[]): Run[] {
  let hasBalance = false;
  for (let i = 0; i < view.length && !hasBalance; i++) hasBalance = !Number.isNaN(view.balance(i));
  if (!hasBalance) return [];
  const { first, last, length } = view;
  const downwards: View = {
    ...view,
    line: (i) => view.line(length - 1 - i),
    minor: (i) => view.minor(length - 1 - i),
    charges: (i) => view.charges(length - 1 - i),
    balance: (i) => view.balance(length - 1 - i),
  };
  const orders = first < last ? [view] : first > last ? [downwards] : [view, downwards];
  return orders.flatMap((order) => charges.map((factor) => runOf(order, factor)));
}

function runOf(view: View, factor: number): Run {
  let known: number | undefined;
  let since = 0;
  let counted = 0;
  let opening = 0;
  const run = { told: [] as StatementFault[], breaks: 0, steps: 0 };
  const change = (i: number) => view.minor(i) + (factor === 0 ? 0 : factor * view.charges(i));
  for (let i = 0; i < view.length; i++) {
    since += change(i);
    counted++;
    const balance = view.balance(i);
    if (Number.isNaN(balance)) continue;
    if (known === undefined) opening = balance - since;
    else {
      run.steps++;
      const reached = known + since;
      const follows = Math.abs(reached - balance) <= view.slack * (counted + 1);
      const swapped = follows ? 0 : swappedRows(view, i, reached, change);
      if (swapped > 0) {
        for (let more = 1; more <= swapped; more++) since += change(i + more);
        known += since;
        since = 0;
        counted = 0;
        i += swapped;
        continue;
      }
      if (!follows) {
        const sum = () =>
          `${signedAmount(known!)} before it and ${signedAmount(since)} give ${signedAmount(known! + since)}`;
        const text = () => `The balance of this row is ${signedAmount(balance)}, but ${sum()}.`;
        if (++run.breaks <= TOLD_MAXIMUM) run.told.push({ line: view.line(i), text: text() });
      }
    }
    known = balance;
    since = 0;
    counted = 0;
  }
  return { ...run, opening, closing: known! + since };
}

/** How many rows behind one belong before it: together they lead to a balance that one of them has. 0 if none do. */
function swappedRows(view: View, place: number, reached: number, change: (i: number) => number): number {
  let sum = reached;
  for (let more = 1; more < SWAPPED_ROWS && place + more < view.length; more++) {
    sum += change(place + more);
    for (let i = place; i < place + more; i++) if (view.balance(i) === sum) return more;
  }
  return 0;
}
