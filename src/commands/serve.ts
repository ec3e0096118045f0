// counterfoil serve: runs the service until it is told to stop.
import { Command } from 'commander';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { createLogger, type Logger } from '../lib/log.ts';
import { monotonicMs, systemClock } from '../lib/time.ts';
import { type Service, startService } from '../main.ts';
import { banner, readyLine, setUpLink } from './banner.ts';
import { controllingTerminal, terminalLog } from './terminal.ts';

/** A stop that takes longer is given up, before supervisors lose patience. */
const STOP_DEADLINE_MS = 9500;

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the service')
    .option('--config <file>', 'configuration file (default: COUNTERFOIL_CONFIG, else counterfoil.yaml)')
    .option('--json', 'on a terminal too, say ready and log in lines of JSON')
    .addHelpText(
      'after',
      `
Examples:
  counterfoil serve
  PORT=9000 counterfoil serve --config /etc/counterfoil.yaml
  npm start -- --config /etc/counterfoil.yaml

Environment, over the file: COUNTERFOIL_CONFIG, PORT, COUNTERFOIL_STORAGE, DATABASE_URL.
SIGTERM and SIGINT finish what was accepted and stop; SIGHUP reads merchants, keys and methods again.`,
    )
    .action((options: { config?: string; json?: boolean }) =>
      serve(configurationFile(options.config), options),
    );
}

async function serve(file: string, options: { json?: boolean }): Promise<void> {
  const begun = monotonicMs();
  const configuration = readConfiguration(file);
  const interactive = process.stdout.isTTY === true && !options.json;
  const lines = createLogger(configuration.log_level);
  const log = interactive ? terminalLog(process.stdout) : lines;
  const service = await startService(configuration, {
    log,
    clock: systemClock,
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
      stop(); // its window was closed: nobody is left to press Ctrl-C
    else reread(file, configuration.environment, service, log);
  });

  const readyMs = monotonicMs() - begun;
  const setUp = await setUpLink(configuration, service);
  if (interactive) console.log(await banner(configuration, service, readyMs, setUp));
  else process.stdout.write(`${JSON.stringify(readyLine(configuration, service, readyMs, setUp))}\n`);
}

/** Takes over merchants, keys and methods from the file, or keeps what is and says why. */
function reread(
  file: string,
  running: Configuration['environment'],
  service: Service,
  log: Pick<Logger, 'info' | 'error'>,
): void {
  try {
    const { environment, merchants, methods } = readConfiguration(file);
    // What development lets pass, the development key above all, must not reach a server in production.
    if (environment !== running) throw new Error('environment changed: restart to take it over');
    service.directory.replace(merchants);
    service.offer.replace(methods, merchants);
    log.info('merchants, keys and methods were read again');
  } catch (error) {
    log.error(`merchants, keys and methods stay as they were: ${(error as Error).message}`);
  }
}
