// What a person at a terminal gets from a service that is ready: the banner, in development a demo, a line an event, and keys.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { INBOX_PATH } from '../../checkout/inbox.ts';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import { entryFacts } from '../../journal/rows.ts';
import { formatAmount } from '../../lib/money.ts';
import { SECOND_MS } from '../../lib/time.ts';
import { pathOf } from '../../lib/web-address.ts';
import { DEV_MAIL_PATH } from '../../mail/dev-mail.ts';
import { checkoutUrl, PAYMENT_PAGE } from '../../payments/present.ts';
import type { Configuration } from '../config.ts';
import { fillEmptyStore, newSample, sample } from '../demo.ts';
import { environment } from '../environment.ts';
import type { Service } from '../main.ts';
import { banner, type Doors, developmentCaller } from './banner.ts';
import { styled, type TerminalLog } from './terminal.ts';

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
