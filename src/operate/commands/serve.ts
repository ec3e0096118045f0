// counterfoil serve: runs the service until it is stopped.
import { constants, copyFileSync, existsSync } from 'node:fs';
import { Command } from 'commander';
import { createLogger, type Logger } from '../../lib/log.ts';
import { type ClockStep, STEP_MS, type SteadyClock } from '../../lib/steady-clock.ts';
import { HOUR_MS, MINUTE_MS, monotonicMs, SECOND_MS, systemClock } from '../../lib/time.ts';
import { type Check, isDecisive, StartRefused, type Subject, skipped } from '../checks/check.ts';
import { CHECKS } from '../checks/checks.ts';
import { type Configuration, configurationFile, installationOf, readConfiguration } from '../config.ts';
import { environment } from '../environment.ts';
import type { Service } from '../main.ts';
import { controllingTerminal, terminalLog } from './terminal.ts';
import { CONFIG_OPTION } from './usage.ts';
import { readyLine, setUpLink, welcome } from './welcome.ts';

/**
 * A stop that takes longer is given up, before supervisors lose patience. Later than the last answer (`http/listener.ts`), and with
 * time to sign a last checkpoint.
 */
const STOP_DEADLINE_MS = 9800;

interface Options {
  deep?: boolean;
  json?: boolean;
  demo: boolean;
}

export function command(): Command {
  return new Command('serve')
    .description('run the service')
    .option(...CONFIG_OPTION)
    .option('--deep', 'prove every index of the store before serving, which reads all of it')
    .option('--json', 'on a terminal too, say ready and log in lines of JSON')
    .option('--no-demo', 'on a terminal in development too, make no payments to look at')
    .addHelpText(
      'after',
      `
Examples:
  counterfoil serve
  PORT=9000 counterfoil serve --config /etc/counterfoil.yaml
  npm start -- --config /etc/counterfoil.yaml

Environment, over the file: COUNTERFOIL_CONFIG, PORT, COUNTERFOIL_STORAGE, DATABASE_URL.
SIGTERM and SIGINT finish what was accepted and stop; SIGHUP reads merchants, keys, methods and the certificate again.`,
    )
    .action((options: Options & { config?: string }) =>
      serve(options.config ? configurationFile(options.config) : firstTry(), options),
    );
}

const SAMPLE = new URL('../../../counterfoil.yaml', import.meta.url);

/** The configuration file. Writes a sample for development where nothing names an installation and the folder has no trace of one. */
function firstTry(): string {
  const file = configurationFile(undefined);
  const { COUNTERFOIL_CONFIG, COUNTERFOIL_STORAGE, DATABASE_URL } = environment;
  const isNamed = Boolean(COUNTERFOIL_CONFIG || COUNTERFOIL_STORAGE || DATABASE_URL);
  if (isNamed || existsSync(file) || existsSync('storage')) return file;
  copyFileSync(SAMPLE, file, constants.COPYFILE_EXCL);
  console.error(
    'counterfoil.yaml is written, to try Counterfoil on this machine. For production: counterfoil init',
  );
  return file;
}

async function serve(file: string, options: Options): Promise<void> {
  const begun = monotonicMs();
  const configuration = readConfiguration(file);
  const interactive = process.stdout.isTTY === true && !options.json;
  const lines = createLogger(configuration.log_level);
  const tellsPages = configuration.environment === 'production';
  const words = interactive && terminalLog(process.stdout, configuration.time_zone, lines, { tellsPages });
  const log = words || lines;
  watchClock(systemClock, log);
  const subject = { ...subjectOf(configuration), deep: options.deep };
  await refuse(subject, ({ stage }) => stage === 'start');
  const { startService } = await import('../main.ts'); // clients that are refused by now have not waited for it
  const service = await startService(configuration, {
    log,
    clock: systemClock,
    onStore: (database) => refuse({ ...subject, store: { database } }, ({ stage }) => stage === 'store'),
    onBroken: (error) => {
      // The disk or the file failed. What happens next must be a fresh start's recovery, not this process's guess.
      log.error({ err: error }, 'the store is broken; ending');
      lines.flush();
      process.exit(1);
    },
  });

  let stopping = false;
  const stop = async () => {
    if (stopping) return; // Ctrl-C through npm arrives twice
    stopping = true;
    const deadline = setTimeout(() => process.exit(1), STOP_DEADLINE_MS);
    await service.stop();
    clearTimeout(deadline);
    if (interactive) console.log('\n  Stopped. What was accepted is on disk.');
    lines.flush();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const hadTerminal = interactive && controllingTerminal();
  process.on('SIGHUP', () => {
    if (hadTerminal && !controllingTerminal())
      stop(); // its terminal was closed: Ctrl-C is not possible any more
    else {
      renewCertificate(configuration, service, log);
      reread(file, configuration, service, log);
    }
  });

  const readyMs = monotonicMs() - begun;
  // The service answers already: what its store refuses now, a full disk say, it may take again by the next request.
  const [setUp] = await Promise.allSettled([setUpLink(configuration, service)]);
  const link = setUp.status === 'fulfilled' ? setUp.value : undefined;
  const mayDemo = options.demo;
  if (words) await welcome({ configuration, service, readyMs, setUp: link, mayDemo, log: words, stop });
  else process.stdout.write(`${JSON.stringify(readyLine(configuration, service, readyMs, link))}\n`);
  if (setUp.status === 'rejected')
    log.error({ err: setUp.reason }, 'no set-up link could be made: restart to get one');
}

function subjectOf(configuration: Configuration): Subject {
  const store = { none: skipped('The store is not open yet') };
  return { ...installationOf(configuration), clock: systemClock, deadlineMs: 0, store };
}

/** Shows the certificate that lies in its files by now, or goes on with the one that is and says why. */
function renewCertificate(
  { tls }: Configuration,
  service: Service,
  log: Pick<Logger, 'info' | 'error'>,
): void {
  if (!tls) return;
  try {
    service.renewCertificate();
    log.info('the certificate was read again');
  } catch (error) {
    log.error(`the certificate stays as it was: ${(error as Error).message}`);
  }
}

/** Takes over merchants, keys and methods from the file, or keeps what is and says why: whatever a start would refuse of them. */
async function reread(
  file: string,
  running: Configuration,
  service: Service,
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): Promise<void> {
  try {
    const configuration = readConfiguration(file);
    const { environment, merchants, methods } = configuration;
    // What development lets pass, the development key above all, must not reach a server in production.
    if (environment !== running.environment) throw new Error('environment changed: restart to take it over');
    // What a start would refuse of them.
    await refuse(subjectOf(configuration), ({ atReload }) => atReload);
    service.directory.replace(merchants);
    service.offer.replace(methods);
    service.webhooks.configure(configuration.endpoints);
    log.info('merchants, keys and methods were read again');
    const left = changedSince(running, configuration);
    if (left.length > 0) log.warn(`restart to take over what else changed: ${left.join(', ')}`);
  } catch (error) {
    log.error(`merchants, keys and methods stay as they were: ${(error as Error).message}`);
  }
}

/** The settings that are read at the start alone and are others by now. */
function changedSince(running: Configuration, now: Configuration): string[] {
  const { merchants: _m, methods: _e, written: _w, endpoints: _p, ...settings } = running;
  const names = Object.keys(settings) as (keyof typeof settings)[];
  return names.filter((name) => JSON.stringify(running[name]) !== JSON.stringify(now[name])).sort();
}

const EVERY_MS = SECOND_MS;
/** A service whose time is so far ahead nears the clock in weeks. So the warning is logged each hour until a restart. */
const AHEAD_MS = MINUTE_MS;
const REMIND_EACH_MS = HOUR_MS;

/** Watches until the process ends, which it does not keep from ending. */
function watchClock(clock: SteadyClock, log: Pick<Logger, 'warn'>): void {
  setInterval(() => {
    const step = clock.look();
    if (step) tell(step, log);
  }, EVERY_MS).unref();
  setInterval(() => {
    if (clock.ahead < -AHEAD_MS)
      log.warn(
        { ahead_s: inSeconds(clock.ahead) },
        'the service is ahead of the system clock: restart it to take that over',
      );
  }, REMIND_EACH_MS).unref();
}

const inSeconds = (ms: number) => Math.round(ms / 100) / 10;

function tell({ set, ahead, followed }: ClockStep, log: Pick<Logger, 'warn'>): void {
  const ahead_s = inSeconds(ahead);
  if (set !== 0) {
    const fields = { set_by_s: inSeconds(set), ahead_s };
    if (Math.abs(ahead) <= STEP_MS) log.warn(fields, 'the system clock was set and is right again');
    else if (ahead > 0)
      log.warn(fields, 'the system clock was set forward: it is followed in a minute if it stays so');
    else log.warn(fields, 'the system clock was set back: the service goes on without it');
  }
  if (followed > 0)
    log.warn({ followed_s: inSeconds(followed), ahead_s }, 'the service follows the system clock forward');
}

/**
 * Asks the checks that count, in their order, and throws `StartRefused` with the first that fails. In development few count. What a check
 * itself cannot look at (a `DatabaseError`) it throws.
 */
async function refuse(subject: Subject, counts: (check: Check) => boolean | undefined): Promise<void> {
  for (const check of CHECKS.filter(counts)) {
    if (!isDecisive(check, subject)) continue;
    const verdict = await check.look(subject);
    if (verdict.is === 'failed') throw new StartRefused(verdict);
  }
}
