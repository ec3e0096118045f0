// What a person at a terminal gets from a service that is ready: the banner, in development a demo, a line an event, and keys.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { developmentSetUp } from '../../administrators/manage.ts';
import { setUpUrl } from '../../administrators/set-up.ts';
import { INBOX_PATH } from '../../checkout/inbox.ts';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import { entryFacts } from '../../journal/rows.ts';
import { randomId } from '../../lib/ids.ts';
import { formatAmount } from '../../lib/money.ts';
import { MINUTE_MS, SECOND_MS, systemClock } from '../../lib/time.ts';
import { VERSION } from '../../lib/version.ts';
import { pathOf } from '../../lib/web-address.ts';
import { DEV_MAIL_PATH } from '../../mail/dev-mail.ts';
import { type Caller, DEVELOPMENT_KEY } from '../../merchants/merchant.ts';
import { createPayment } from '../../payments/create.ts';
import { checkoutUrl, PAYMENT_PAGE } from '../../payments/present.ts';
import { listPayments, paymentsAfter } from '../../payments/queries.ts';
import { parsePaymentRequest } from '../../payments/request.ts';
import { cancelByCustomer } from '../../payments/submit.ts';
import { type Trial, tryOut } from '../../review/try-out.ts';
import { changeEndpoint, createEndpoint } from '../../webhooks/change.ts';
import { listEndpoints } from '../../webhooks/queries.ts';
import { type Configuration, termsOf } from '../config.ts';
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
    ['o', 'open pay page', () => open(doors.pay!)],
    ['a', 'open review', () => open(doors.review)],
    ...(doors.docs ? [['d', 'docs', () => open(doors.docs!)] as const] : []),
    ...(demo ? [['n', 'new payment', () => renew()] as const] : []),
    ['j', 'JSON log', () => log.toggleJson()],
    ['q', 'quit', stop],
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

/** A key, what it does in a word or two, and how. */
type PressedKey = readonly [letter: string, does: string, press: () => void | Promise<void>];

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
  const names = keys.map(([letter, does]) => `${letter} ${does}`).join(' · ');
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
        const [, does, press] = keys.find(([one]) => one === letter.toLowerCase()) ?? [];
        try {
          await press?.();
        } catch (error) {
          log.error({ err: error }, `${does} failed`);
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

/** The demo's payments: what each is for, its amount in euros, and the moves that lead to its status. */
const PAYMENTS: readonly [description: string, amount: number, moves: readonly (Trial | 'cancel')[]][] = [
  ['Demo: a desk lamp, approved', 89, ['submit', 'approve']],
  ['Demo: a bicycle, rejected', 640.5, ['submit', 'reject']],
  ['Demo: two tickets, cancelled by the customer', 58, ['cancel']],
  ['Demo: a garden chair, expired, and its customer asks for a new link', 35, ['expire', 'request_link']],
  ['Demo: a bookshelf, paid and waiting for review', 129.9, ['record']],
  ['Demo: three cups, waiting for review', 24.3, ['submit']],
];

/** By which a later start knows the demo's endpoint again. */
const INBOX_DESCRIPTION = 'Demo: the inbox of this server';

/** The reference of the payments to pay, and the least time that one must have left. */
const SAMPLE_REFERENCE = 'SAMPLE-1';
const SAMPLE_TIME_LEFT_MS = 10 * MINUTE_MS;

const ACT = { actor: 'operator', request_id: null };

interface Demo {
  configuration: Configuration;
  service: Service;
  caller: Caller;
}

/** Creates a payment in euros and returns its id. Throws as `commit` does. */
async function create(
  { configuration, service, caller }: Demo,
  wish: { merchant_reference: string; amount: number; description: string },
): Promise<string> {
  const request = parsePaymentRequest({ currency: 'EUR', ...wish }, { strict: true, httpsOnly: false });
  const { id } = await service.journal.commit((transaction) =>
    createPayment(transaction, caller, ACT, request, termsOf(configuration)),
  );
  return id;
}

/**
 * Fills a store without payments: a payment in each status, and a webhook endpoint whose events lie at `inboxUrl`. All of it goes through
 * the journal, as what people do. Returns false if the store has payments: then the demo's endpoint alone is led to `inboxUrl`. Throws as
 * `commit` does.
 */
export async function fillEmptyStore(demo: Demo, inboxUrl: string): Promise<boolean> {
  const { caller } = demo;
  const { database, journal, ring } = demo.service;
  const tenant = { merchant_id: caller.merchant.id, mode: caller.key.mode };
  if ((await paymentsAfter(database, undefined, 1)).length > 0) {
    const endpoints = await listEndpoints(database, tenant);
    const moved = endpoints.find(
      ({ description, url }) => description === INBOX_DESCRIPTION && url !== inboxUrl,
    );
    if (moved)
      await journal.commit((transaction) => changeEndpoint(transaction, moved.id, { url: inboxUrl }, ACT));
    return false;
  }
  const requestId = randomId('req_', 16);
  for (const [i, [description, amount, moves]] of PAYMENTS.entries()) {
    const id = await create(demo, { merchant_reference: `DEMO-${i + 1}`, amount, description });
    for (const move of moves)
      await journal.commit(
        (transaction) =>
          move === 'cancel'
            ? cancelByCustomer(transaction, id, requestId)
            : tryOut(transaction, move, { id, merchant_id: tenant.merchant_id, requestId }),
        id,
      );
  }
  // Last, so that the inbox begins with what the newcomer does.
  const wish = { url: inboxUrl, types: null, description: INBOX_DESCRIPTION };
  await journal.commit((transaction) => createEndpoint(transaction, ring, tenant, wish, ACT));
  return true;
}

/** Creates a payment to pay, and returns its page. Throws as `commit` does. */
async function newSample(demo: Demo): Promise<string> {
  const id = await create(demo, {
    merchant_reference: SAMPLE_REFERENCE,
    amount: 49.9,
    description: 'A sample payment to look at',
  });
  return checkoutUrl(demo.service.checkoutBaseUrl, id);
}

/** The page of the newest payment to pay that has time left, otherwise of a new one. Throws as `commit` does. */
async function sample(demo: Demo): Promise<string> {
  const { merchant, key } = demo.caller;
  const { database, checkoutBaseUrl } = demo.service;
  const [latest] = await listPayments(database, {
    ...{ merchant_id: merchant.id, mode: key.mode, merchant_reference: SAMPLE_REFERENCE, status: 'pending' },
    ...{ before: undefined, limit: 1, now: systemClock.now() + SAMPLE_TIME_LEFT_MS },
  });
  return latest ? checkoutUrl(checkoutBaseUrl, latest.id) : newSample(demo);
}
