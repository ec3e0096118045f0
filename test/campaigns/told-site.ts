// A service as its operators run it, into which faults are injected: a process with measurements, its store, and `doctor` beside it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { COMMAND, plainEnvironment, start } from '../support/command.ts';
import { freePorts } from '../support/free-ports.ts';
import { KEY, writeConfiguration } from '../support/harness.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import type { Store } from '../support/stores.ts';

export interface SiteOptions {
  /** Variables of the service and of the commands beside it. */
  env?: Record<string, string>;
  /** A self-signed certificate for 127.0.0.1 and its key, as files. */
  tls?: { certificate: string; key: string };
}

export interface CommandResult {
  code: number | null;
  said: string;
}

export interface SiteAnswer {
  status: number | undefined;
  text: string;
}

/** A probe of readiness takes 2.5 seconds at most, and the runbook looks with 6. */
const ANSWERS_WITHIN_MS = 6000;

export class Site {
  readonly store: Store;
  readonly options: SiteOptions;
  readonly config: string;
  readonly port: number;
  readonly metricsPort: number;
  /** Where backups are put. */
  readonly backups: string;
  /** The process that serves, or the last one that did. */
  server!: ServerProcess;
  /** How the last start ended that was refused. */
  refused: CommandResult | undefined;

  readonly #ca: string | undefined;

  private constructor(store: Store, options: SiteOptions, [port, metricsPort]: number[]) {
    this.store = store;
    this.options = options;
    this.port = port!;
    this.metricsPort = metricsPort!;
    this.backups = mkdtempSync(join(tmpdir(), 'counterfoil-told-'));
    const { tls } = options;
    this.#ca = tls && readFileSync(tls.certificate, 'utf8');
    this.config = writeConfiguration(
      store,
      'development',
      `base_url: ${this.origin}
metrics: { port: ${metricsPort} }
backups: ${this.backups}
${tls ? `tls: { certificate: ${tls.certificate}, key: ${tls.key} }\n` : ''}`,
    );
  }

  /** Starts a service on a store, makes a payment and, on SQLite, a verified backup. */
  static async start(store: Store, options: SiteOptions = {}): Promise<Site> {
    const site = new Site(store, options, await freePorts(2));
    await site.start();
    await site.create();
    if (store.engine === 'postgres') return site;
    const backup = await site.run('backup', site.backups);
    if (backup.code !== 0) throw new Error(backup.said);
    return site;
  }

  /** Where the backups are once their folder is gone. */
  get gone(): string {
    return `${this.backups}-gone`;
  }

  get origin(): string {
    return `http${this.options.tls ? 's' : ''}://127.0.0.1:${this.port}`;
  }

  get #env(): Record<string, string> {
    const { tls, env } = this.options;
    return {
      COUNTERFOIL_STORAGE: this.store.storage,
      PORT: `${this.port}`,
      ...(this.store.database_url && { DATABASE_URL: this.store.database_url }),
      ...(tls && { NODE_EXTRA_CA_CERTS: tls.certificate }),
      ...env,
    };
  }

  /** Starts the service. A start that is refused is kept in `refused`. */
  async start(): Promise<void> {
    this.refused = undefined;
    const { store, config, port } = this;
    const { storage, database_url } = store;
    try {
      this.server = await startServerProcess({
        config,
        port,
        storage,
        database_url,
        env: this.options.env ?? {},
      });
    } catch (error) {
      const { message } = error as Error;
      this.refused = { code: Number(/^exited with (\d+)/.exec(message)?.[1]), said: message };
    }
  }

  /** Ends the service, changes something, and starts it again. */
  async restart(change: () => unknown): Promise<void> {
    await this.server.end('SIGTERM');
    await change();
    await this.start();
  }

  /** Runs `counterfoil …` beside the service. */
  async run(...args: string[]): Promise<CommandResult> {
    const environment = plainEnvironment(this.#env);
    const running = start(process.execPath, [COMMAND, ...args, '--config', this.config], { environment });
    const { code } = await running.ended;
    return { code, said: running.stdout + running.stderr };
  }

  /** The checks of `doctor` that are neither well nor skipped, by their ids. */
  async doctor(): Promise<Set<string>> {
    const { said } = await this.run('doctor', '--json');
    const { findings } = JSON.parse(said.slice(said.indexOf('{')).split('\n')[0]!);
    return new Set(
      findings.flatMap(({ id, outcome }: { id: string; outcome: string }) =>
        /^(failed|warning)$/.test(outcome) ? [id] : [],
      ),
    );
  }

  /** Creates a payment. Returns the status of the answer; undefined where none came. */
  async create(fields: object = {}): Promise<number | undefined> {
    return this.ask('/v1/payments', { amount: 1, ...fields }).then(({ status }) => status);
  }

  /** Asks the service. No answer in time: status undefined. */
  ask(path: string, body?: object): Promise<SiteAnswer> {
    return askAt(this.origin, path, body, this.#ca);
  }

  async end(): Promise<void> {
    const { child } = this.server;
    if (child.exitCode === null && child.signalCode === null) await this.server.end('SIGKILL');
    await this.store.drop();
    for (const folder of [this.backups, this.gone]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Asks an address. No answer in time, or a certificate that `ca` does not sign: status undefined. */
export function askAt(origin: string, path: string, body?: object, ca?: string): Promise<SiteAnswer> {
  const options = {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    agent: false as const,
    ...(ca && { ca }),
  };
  return new Promise((resolve) => {
    const silent = () => resolve({ status: undefined, text: '' });
    const request = origin.startsWith('https:') ? requestTls : requestPlain;
    request(origin + path, options, async (response) => {
      try {
        resolve({ status: response.statusCode, text: await text(response) });
      } catch {
        silent();
      }
    })
      .on('error', silent)
      .end(body && JSON.stringify(body));
  });
}
