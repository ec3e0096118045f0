// What is printed of a run of tests: a line for each file, each failure at once and again at the end, and what was left out.
import { spentMs } from './processor-time.ts';
import type { FileDone, TestDone, Told } from './test-worker.ts';

/** What a file took. */
export interface Cost {
  file: string;
  ownMs: number;
  startedMs: number;
}

const paint = (code: number, text: string) =>
  process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text;
const whole = ({ ownMs, startedMs }: Cost) => ownMs + startedMs;
/** How many files `npm run bench:suite` names. */
const DEAREST = 20;
const RED = 31;
const GREEN = 32;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const many = (count: number, what: string) =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

export class Report {
  readonly costs: Cost[] = [];
  readonly #begun = performance.now();
  readonly #startedAt = new Map<string, number>();
  readonly #tests = new Map<string, TestDone[]>();
  readonly #late: string[] = [];

  /** Notes that a file begins. */
  begin(file: string | undefined): void {
    if (file !== undefined) this.#startedAt.set(file, performance.now());
  }

  /** Prints a file once all its tests have ended, and a failure that comes after that. */
  take(told: Told): void {
    if (told.kind === 'late') {
      this.#late.push(told.text);
      console.log(paint(RED, `✖ ${told.text}`));
    } else if (told.kind === 'test') {
      this.#of(told.file).push(told);
      if (told.error !== undefined) console.log(failureOf(told));
    } else this.#fileDone(told);
  }

  #of(file: string): TestDone[] {
    const known = this.#tests.get(file) ?? [];
    this.#tests.set(file, known);
    return known;
  }

  #fileDone({ file, ownMs, startedMs }: FileDone): void {
    this.costs.push({ file, ownMs, startedMs });
    const tests = this.#of(file);
    const failures = tests.filter(({ error }) => error !== undefined).length;
    const mark = failures > 0 ? paint(RED, '✖') : paint(GREEN, '✔');
    const took = seconds(performance.now() - this.#startedAt.get(file)!);
    const told =
      failures > 0 ? `${failures} of ${many(tests.length, 'test')} failed` : many(tests.length, 'test');
    console.log(`${mark} ${file}  ${told}, ${took}`);
  }

  /** Prints what the run took, once all that it started has ended, and the files that cost most. */
  tellCosts(): void {
    const { own, started } = spentMs();
    console.log(
      `\n${seconds(process.uptime() * 1000)} by the clock, ${seconds(own + started)} of processors, of which`,
    );
    const sum = (of: 'ownMs' | 'startedMs') => seconds(this.costs.reduce((all, cost) => all + cost[of], 0));
    console.log(
      `${sum('ownMs')} in test files and ${sum('startedMs')} in what they started; the rest: PostgreSQL, Chromium, types, lint`,
    );
    const dearest = this.costs.toSorted((one, other) => whole(other) - whole(one)).slice(0, DEAREST);
    for (const cost of dearest)
      console.log(
        `${seconds(whole(cost)).padStart(8)}  ${cost.file} (${seconds(cost.startedMs)} in what it started)`,
      );
  }

  /** Prints the whole: what was left out and why, each failure again, and the sum. */
  close(failedFiles: readonly string[]): void {
    const tests = [...this.#tests.values()].flat();
    const failures = tests.filter(({ error }) => error !== undefined);
    const skipped = Map.groupBy(
      tests.filter((test) => test.skipped !== undefined),
      (test) => test.skipped!,
    );
    for (const [why, left] of skipped)
      console.log(`left out: ${many(left.length, 'test')}${why === 'true' || why === '' ? '' : ` (${why})`}`);
    if (failures.length + this.#late.length > 0) {
      console.log(`\n${paint(RED, 'What failed:')}`);
      for (const failure of failures) console.log(failureOf(failure));
      for (const text of this.#late) console.log(text);
    }
    const sum = `${many(tests.length, 'test')} in ${many(this.costs.length, 'file')}, ${seconds(performance.now() - this.#begun)}`;
    if (failedFiles.length === 0) console.log(`\n${paint(GREEN, '✔ all passed')}: ${sum}`);
    else {
      console.log(`\n${paint(RED, `✖ ${many(failedFiles.length, 'file')} failed`)} of ${sum}:`);
      for (const file of failedFiles) console.log(`  npm test -- ${file}`);
    }
  }
}

function failureOf({ file, name, error = '' }: TestDone): string {
  return `\n${paint(RED, `✖ ${file}: ${name}`)}\n${error.replaceAll(/^/gm, '  ')}\n`;
}
