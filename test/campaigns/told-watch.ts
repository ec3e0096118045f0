// What is said of a fault, and after how long: by health, readiness, doctor, measurements, log and runbook.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { entry } from '../operating/runbook.ts';
import { ROOT } from '../support/command.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { holdsWithin } from './promised-time.ts';
import { askAt, type Site } from './told-site.ts';

/** What is to be said. What is left out is to be silent: `/health` 200, nothing failing, no finding of doctor. */
export interface Told {
  /** The status of `/health`, or that none comes. */
  health?: 503 | 'no answer';
  /** What `/health/ready` names. */
  failing?: string;
  /** The checks of doctor that fail or warn because of it. */
  doctor?: readonly string[];
  /** An alert of deploy/alerts.yml, and the line of /metrics that it looks at: `null` where the node no longer answers Prometheus. */
  alert?: { name: string; line?: RegExp | null };
  /** A line of the log. */
  log?: RegExp;
  /** How a start, or a command that an operator runs, is refused. */
  refused?: { code: number; says: RegExp };
  /** The entry of the runbook, and words of it by which it is found. */
  runbook: { entry: string; words: RegExp };
}

const ALERTS = readFileSync(join(ROOT, 'deploy/alerts.yml'), 'utf8');
/** More than the slowest of what is told takes. */
const TOLD_WITHIN_MS = 75_000;
const LOOK_EACH_MS = 50;
/** What is not to be said has so long to be said all the same. */
const SILENT_FOR_MS = 7000;

const measure = ({ metricsPort }: Site) => askAt(`http://127.0.0.1:${metricsPort}`, '/metrics');

export class Watch {
  readonly #site: Site;
  readonly #baseline: Set<string>;
  readonly #server: ServerProcess;
  readonly #logged: number;

  /** What was measured before. */
  readonly #measured: string;

  private constructor(site: Site, baseline: Set<string>, measured: string) {
    this.#site = site;
    this.#baseline = baseline;
    this.#measured = measured;
    this.#server = site.server;
    this.#logged = site.server.output.length;
  }

  /** Call it before the fault: what doctor finds now is not the fault's. */
  static async of(site: Site): Promise<Watch> {
    return new Watch(site, await site.doctor(), (await measure(site)).text);
  }

  /** Waits until all is said. Returns the cells of the fault's row. Fails where something is not said, or is said and should not be. */
  async cells(told: Told): Promise<string[]> {
    const begun = performance.now();
    const after = async (what: string, holds: () => Promise<boolean> | boolean) => {
      await holdsWithin(
        TOLD_WITHIN_MS,
        holds,
        () => `never told: ${what}; the log: ${this.#log().slice(-5).join('\n')}`,
      );
      return `${((performance.now() - begun) / 1000).toFixed(1)} s`;
    };
    const cells = await Promise.all([
      this.#health(told, after),
      this.#ready(told, after),
      this.#measurements(told, after),
      this.#logLine(told, after),
    ]);
    if (told.health === undefined) await this.#requireSilence();
    const doctor = await this.#doctor(told);
    const { entry: heading, words } = told.runbook;
    assert.match(entry(heading).replace(/\s+/g, ' '), words, `"${heading}" is not found by what is told`);
    return [...cells.slice(0, 2), doctor, ...cells.slice(2), heading];
  }

  /** The lines of the log since the watch began, and what a refused start or command said. */
  #log(): string[] {
    const { server, refused } = this.#site;
    const lines = server === this.#server ? server.output.slice(this.#logged) : server.output;
    return [...lines, refused?.said ?? ''];
  }

  async #health({ health }: Told, after: After): Promise<string> {
    if (health === undefined) return '200';
    const wanted = health === 'no answer' ? undefined : health;
    const when = await after(
      `/health ${health}`,
      async () => (await this.#site.ask('/health')).status === wanted,
    );
    return `${health}: ${when}`;
  }

  async #ready({ failing, health }: Told, after: After): Promise<string> {
    if (failing === undefined) return health === 'no answer' ? 'no answer' : '200';
    const when = await after(failing, async () => {
      const { status, text } = await this.#site.ask('/health/ready');
      return status === 503 && JSON.parse(text).failing.includes(failing);
    });
    return `\`${failing}\`: ${when}`;
  }

  async #measurements({ alert }: Told, after: After): Promise<string> {
    if (!alert) return 'says nothing';
    const { name, line } = alert;
    const rule = new RegExp(`alert: ${name}\n\\s+expr: (.*)\n(?:\\s+for: (\\w+)\n)?`).exec(ALERTS);
    assert.ok(rule, `there is no alert ${name}`);
    const waits = rule[2] ? `, alert ${rule[2]} later` : '';
    if (line === undefined) return `\`${name}\`, by its rule`;
    const measured = line && /\w+/.exec(line.source)![0];
    if (measured) assert.ok(rule[1]!.includes(measured), `${name} does not look at ${measured}`);
    if (line) assert.doesNotMatch(this.#measured, line, `${name} was raised before the fault`);
    const when = await after(name, async () => {
      const { status, text } = await measure(this.#site);
      return line === null ? status === undefined : line.test(text);
    });
    return `\`${name}\`: ${when}${waits}`;
  }

  async #logLine({ log, refused }: Told, after: After): Promise<string> {
    if (refused) {
      const { code, said } = this.#site.refused!;
      assert.equal(code, refused.code, said);
      const found = refused.says.exec(said);
      assert.ok(found, said);
      return `at once, and it ends with ${code}: \`${found[0]}\``;
    }
    if (!log) return 'says nothing';
    let found: string | undefined;
    const when = await after(`${log} in the log`, () => {
      found = this.#log()
        .map((line) => log.exec(line)?.[0])
        .find(Boolean);
      return found !== undefined;
    });
    return `\`${found}\`: ${when}`;
  }

  async #doctor({ doctor = [] }: Told): Promise<string> {
    const found = [...(await this.#site.doctor())].filter((id) => !this.#baseline.has(id));
    assert.deepEqual(found.sort(), [...doctor].sort(), 'what doctor finds');
    return doctor.length === 0 ? 'says nothing' : doctor.map((id) => `\`${id}\``).join(', ');
  }

  async #requireSilence(): Promise<void> {
    const end = performance.now() + SILENT_FOR_MS;
    while (performance.now() < end) {
      assert.equal((await this.#site.ask('/health')).status, 200, 'health says something after all');
      const { status, text } = await this.#site.ask('/health/ready');
      assert.equal(status, 200, text);
      await sleep(LOOK_EACH_MS);
    }
  }
}

type After = (what: string, holds: () => Promise<boolean> | boolean) => Promise<string>;
