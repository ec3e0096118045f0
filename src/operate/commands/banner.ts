// What is said when the service is ready: a page of text for a person, one line of JSON for a program.

import { developmentSetUp } from '../../administrators/manage.ts';
import { setUpUrl } from '../../administrators/set-up.ts';
import { systemClock } from '../../lib/time.ts';
import { VERSION } from '../../lib/version.ts';
import { type Caller, DEVELOPMENT_KEY } from '../../merchants/merchant.ts';
import type { Configuration } from '../config.ts';
import type { Service } from '../main.ts';
import { columns, shownPath, styled } from './terminal.ts';

/** Whose the development key is; undefined in production, and where no merchant has it. */
export function developmentCaller(configuration: Configuration, service: Service): Caller | undefined {
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
export interface Doors {
  /** The page of a payment to pay. */
  pay: string | undefined;
  review: string;
  docs: string | undefined;
  /** Where letters and webhooks lie, in development. */
  mail: string | undefined;
  inbox: string | undefined;
}

interface Welcome {
  /** How long the start took, in milliseconds. */
  readyMs: number;
  doors: Doors;
  /** From `setUpLink`. */
  setUp: string | undefined;
  /** Whether the store was filled with the demo at this start. */
  hasDemo: boolean;
}

/** What a person learns of a service that is ready: where it is, a payment to pay, where to review it, and how to make one. */
export function banner(
  configuration: Configuration,
  service: Service,
  { readyMs, doors, setUp, hasDemo }: Welcome,
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
