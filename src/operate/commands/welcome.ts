// What a person at a terminal gets from a service that is ready: the banner, in development a demo, a line an event, and keys.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { developmentSetUp } from '../../administrators/manage.ts';
import { setUpUrl } from '../../administrators/set-up.ts';
import { INBOX_PATH } from '../../checkout/inbox.ts';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import { entryFacts } from '../../journal/rows.ts';
import { formatAmount } from '../../lib/money.ts';
import { SECOND_MS, systemClock } from '../../lib/time.ts';
import { VERSION } from '../../lib/version.ts';
import { pathOf } from '../../lib/web-address.ts';
import { DEV_MAIL_PATH } from '../../mail/dev-mail.ts';
import { type Caller, DEVELOPMENT_KEY } from '../../merchants/merchant.ts';
import { checkoutUrl, PAYMENT_PAGE } from '../../payments/present.ts';
import type { Configuration } from '../config.ts';
import { fillEmptyStore, newSample, sample } from '../demo.ts';
import { environment } from '../environment.ts';
import type { Service } from '../main.ts';
import { columns, shownPath, styled, type TerminalLog } from './terminal.ts';

interface Welcome {
  configuration: Configuration;
  service: Service;
  /** How long the start took, in milliseconds. */
  readyMs: number;
  /** The link of `setUpLink`. */
  setUp: string | undefined;
  /** Whether payments and an endpoint may be made for a person to look at. */
  mayDemo: boolean;
  log: TerminalLog;
  stop(): void;
}

/** Says that the service is ready and tells what happens from then on. A demo that cannot be made is left out. */
export async function welcome({ configuration, service, log, stop, ...said }: Welcome): Promise<void> {
  const isDevelopment = configuration.environment === 'development';
  const caller = said.mayDemo ? developmentCaller(configuration, service) : undefined;
  const demo = caller && { configuration, service, caller };
  const doors = doorsOf(configuration, service, said.setUp);
  // The service is ready all the same where its store takes no writes.
  const hasDemo = demo && (await fillEmptyStore(demo, doors.inbox!).catch(() => false));
  doors.pay = (demo && (await sample(demo).catch(() => undefined))) ?? doors.pay;
  console.log(banner(configuration, service, { ...said, doors, hasDemo: hasDemo === true }));
  log.greeted();
  if (!isDevelopment) return;
  service.feed.add({ isIdle: false, hear: (entries) => tellChanges(entries, service.checkoutBaseUrl, log) });
  await service.feed.begin();
  const open = (url: string) => {
    log.tell('○', url);
    openInBrowser(url);
  };
  const keys: PressedKey[] = [
    { letter: 'o', does: 'open pay page', press: () => open(doors.pay!) },
    { letter: 'a', does: 'open review', press: () => open(doors.review) },
    ...(doors.docs ? [{ letter: 'd', does: 'docs', press: () => open(doors.docs!) }] : []),
    ...(demo ? [{ letter: 'n', does: 'new payment', press: () => renew() }] : []),
    { letter: 'j', does: 'JSON log', press: () => log.toggleJson() },
    { letter: 'q', does: 'quit', press: stop },
  ];
  const renew = async () => {
    doors.pay = await newSample(demo!); // the feed tells of it
  };
  listenForKeys(keys, stop, log);
}

function doorsOf({ environment: kind }: Configuration, service: Service, setUp: string | undefined): Doors {
  const { baseUrl, checkoutBaseUrl, consoleBaseUrl, app } = service;
  const isDevelopment = kind === 'development';
  const hasDocs = app.hasRoute({ method: 'GET', url: `${pathOf(baseUrl)}/docs` });
  return {
    pay: `${checkoutBaseUrl}/${PAYMENT_PAGE}`,
    review: setUp ?? `${consoleBaseUrl}/console`,
    docs: hasDocs ? `${baseUrl}/docs` : undefined,
    mail: isDevelopment ? checkoutBaseUrl + DEV_MAIL_PATH : undefined,
    inbox: isDevelopment ? checkoutBaseUrl + INBOX_PATH : undefined,
  };
}

/** Tells each change of a payment in a line: of a new one its page, of any other what it was, what it is and who did it. */
function tellChanges(entries: readonly AuditEntry[], checkoutBaseUrl: string, log: TerminalLog): void {
  for (const entry of entries) {
    const { action, subject, actor } = entry;
    const { from, amount_minor, currency } = entryFacts(entry);
    const name = action.replace(/^payment\./, '');
    if (name === 'created')
      log.tell(
        '●',
        `pending  ${formatAmount(amount_minor as number)} ${currency}  ${checkoutUrl(checkoutBaseUrl, subject)}`,
      );
    else log.tell('●', `${typeof from === 'string' ? `${from} → ` : ''}${name}  ${subject}  by ${actor}`);
  }
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens an address in the person's browser, unless they are on another machine. Where there is none, the printed address is enough. */
function openInBrowser(url: string): void {
  if (environment.SSH_CONNECTION) return;
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(program, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

interface PressedKey {
  letter: string;
  /** What it does, in a word or two. */
  does: string;
  press(): void | Promise<void>;
}

/** Between two looks whether a service in the background is in the foreground by now. */
const LOOK_EACH_MS = SECOND_MS;
const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

/**
 * Names the keys and listens for them. Ctrl-C calls `stop` and Ctrl-Z suspends, as they do without. A terminal in whose background the
 * service runs is left alone until it is in the foreground: reading it there would stop the process.
 */
function listenForKeys(keys: readonly PressedKey[], stop: () => void, log: TerminalLog): void {
  const { stdin, stdout } = process;
  if (!stdin.isTTY) return;
  const names = keys.map(({ letter, does }) => `${letter} ${does}`).join(' · ');
  console.log(styled(stdout, 'dim', `  keys: ${names}\n`));
  let isListening = false;
  const begin = () => {
    if (isListening || !isInForeground()) return;
    isListening = true;
    stdin.setRawMode(true);
    stdin.resume();
  };
  const suspend = () => {
    isListening = false;
    stdin.setRawMode(false);
    stdin.pause();
    process.kill(0, 'SIGTSTP');
  };
  stdin.pause(); // a listener alone begins to read
  stdin.on('error', () => {}); // its window was closed
  stdin.on('data', async (typed) => {
    for (const letter of typed.toString()) {
      if (letter === CTRL_C) stop();
      else if (letter === CTRL_Z) suspend();
      else {
        const key = keys.find((one) => one.letter === letter.toLowerCase());
        try {
          await key?.press();
        } catch (error) {
          log.error({ err: error }, `${key!.does} failed`);
        }
      }
    }
  });
  // A job that runs in the background gets no signal when a shell brings it to the foreground.
  setInterval(begin, LOOK_EACH_MS).unref();
  begin();
}

/** Whether the terminal's foreground process group is that of this process. False where that cannot be found out. */
function isInForeground(): boolean {
  try {
    const [group, foreground] =
      process.platform === 'linux'
        ? readFileSync('/proc/self/stat', 'utf8')
            .replace(/^.*\) /, '')
            .split(' ')
            .filter((_, i) => i === 2 || i === 5)
        : execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' })
            .trim()
            .split(/\s+/);
    return group === foreground;
  } catch {
    return false;
  }
}

/** Whose the development key is; undefined in production, and where no merchant has it. */
function developmentCaller(configuration: Configuration, service: Service): Caller | undefined {
  return configuration.environment === 'development'
    ? service.directory.find(DEVELOPMENT_KEY, systemClock.now())
    : undefined;
}

const isRegistrationOpen = ({ environment, registration }: Configuration) =>
  environment === 'development' && registration.mode === 'open';

/** In development, the link to set up the first reviewer, until that is done: a new one at every start. */
export async function setUpLink(configuration: Configuration, service: Service): Promise<string | undefined> {
  if (configuration.environment !== 'development') return undefined;
  const secret = await developmentSetUp(service.database, service.journal);
  return secret && setUpUrl(service.consoleBaseUrl, secret);
}

/** What a script learns of a service that is ready. `readyMs`: milliseconds it took; `setUp` from `setUpLink`. */
export function readyLine(
  configuration: Configuration,
  service: Service,
  readyMs: number,
  setUp: string | undefined,
): object {
  return {
    event: 'ready',
    version: VERSION,
    environment: configuration.environment,
    base_url: service.baseUrl,
    checkout_base_url: service.checkoutBaseUrl,
    development_key: developmentCaller(configuration, service) ? DEVELOPMENT_KEY : null,
    setup_url: setUp ?? null,
    register_url: isRegistrationOpen(configuration) ? `${service.baseUrl}/register` : null,
    storage: configuration.storage,
    database: service.database.engine,
    port_taken: service.portTaken || null,
    ready_ms: Math.round(readyMs),
  };
}

/** The addresses that a person opens; undefined for what there is not. */
interface Doors {
  /** The page of a payment to pay. */
  pay: string | undefined;
  review: string;
  docs: string | undefined;
  /** Where letters and webhooks lie, in development. */
  mail: string | undefined;
  inbox: string | undefined;
}

interface Banner {
  readyMs: number;
  doors: Doors;
  setUp: string | undefined;
  /** Whether the store was filled with the demo at this start. */
  hasDemo: boolean;
}

/** What a person learns of a service that is ready: where it is, a payment to pay, where to review it, and how to make one. */
function banner(
  configuration: Configuration,
  service: Service,
  { readyMs, doors, setUp, hasDemo }: Banner,
): string {
  const out = process.stdout;
  const bold = (text: string) => styled(out, 'bold', text);
  const dim = (text: string) => styled(out, 'dim', text);
  const caller = developmentCaller(configuration, service);
  const database = service.database.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL; checkpoints and their key';
  const all: readonly (readonly [string, string | false | undefined])[] = [
    ['Pay it', doors.pay],
    ['Review it', doors.review],
    ['', setUp && dim('one-time set-up, 30 min')],
    ['Docs', doors.docs],
    ['Mail', doors.mail],
    ['Webhooks', doors.inbox],
    ['Register', isRegistrationOpen(configuration) && `${service.baseUrl}/register`],
    ['API', `${service.baseUrl}/v1`],
    ['OpenAPI', `${service.baseUrl}/openapi.json`],
    ['API key', caller && DEVELOPMENT_KEY],
    ['Data', `${shownPath(configuration.storage)} ${dim(`(${database}; private, never served)`)}`],
    ['Settings', shownPath(configuration.file)],
  ];
  const rows = all.flatMap(([name, value]) => (value ? [[name, value]] : []));
  const ready = styled(out, 'green', `ready in ${(readyMs / 1000).toFixed(1)} s`);
  const taken = service.portTaken;
  const demo = [
    `  ${bold('The demo')}: ${caller?.merchant.name} has a payment in each status, and its webhooks go to the inbox.`,
    dim('  It is made in development alone, in a store without payments. Without it: --no-demo'),
    '',
  ];
  const example = [
    `  ${bold('Create a payment')}`,
    '',
    `curl -s ${service.baseUrl}/v1/payments \\`,
    `  -H 'Authorization: Bearer ${DEVELOPMENT_KEY}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"amount": 49.90, "currency": "EUR", "description": "Two coffees"}'`,
    '',
    dim('  This key is for development: before production, replace it (npx counterfoil keys create).'),
  ];
  const noKeys = !service.directory.hasKeys;
  const lines = [
    '',
    `  ${bold(`counterfoil ${VERSION}`)}  ${ready}  ${dim(`${configuration.environment} · ${configuration.host}`)}`,
    '',
    ...(taken ? [`  Port ${taken} is taken; this is the next free one.`, ''] : []),
    ...columns(rows)
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    ...(hasDemo ? demo : []),
    ...(caller ? example : []),
    ...(noKeys
      ? ['  There are no keys yet. Make one: npx counterfoil keys create --merchant "Corner Shop"']
      : []),
    dim('  Ctrl-C stops it. What happens is told below.'),
    '',
  ];
  return lines.join('\n');
}
