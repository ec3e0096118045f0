// What is said when the service is ready: a page of text for a person, one line of JSON for a program.

import { developmentSetUp } from '../../administrators/manage.ts';
import { setUpUrl } from '../../administrators/set-up.ts';
import { MINUTE_MS, systemClock } from '../../lib/time.ts';
import { VERSION } from '../../lib/version.ts';
import { type Caller, DEVELOPMENT_KEY } from '../../merchants/merchant.ts';
import { createPayment } from '../../payments/create.ts';
import { checkoutUrl, PAYMENT_PAGE } from '../../payments/present.ts';
import { listPayments } from '../../payments/queries.ts';
import { parsePaymentRequest } from '../../payments/request.ts';
import type { Configuration } from '../config.ts';
import type { Service } from '../main.ts';
import { termsOf } from '../surface-settings.ts';
import { columns, shownPath, styled } from './terminal.ts';

const SAMPLE_REFERENCE = 'SAMPLE-1';
/** A sample with less time left than this is not worth opening. */
const SAMPLE_TIME_LEFT_MS = 10 * MINUTE_MS;

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

/**
 * What a person learns of it: where it is, a payment to look at, where to review it, and one to make. `readyMs`: milliseconds
 * it took; `setUp` from `setUpLink`.
 */
export async function banner(
  configuration: Configuration,
  service: Service,
  readyMs: number,
  setUp: string | undefined,
): Promise<string> {
  const out = process.stdout;
  const bold = (text: string) => styled(out, 'bold', text);
  const dim = (text: string) => styled(out, 'dim', text);
  const caller = developmentCaller(configuration, service);
  // Where none can be made, the service is ready all the same.
  const sample = caller && (await samplePayment(configuration, service, caller).catch(() => undefined));
  const isOpen = isRegistrationOpen(configuration);
  const database = service.database.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL; checkpoints and their key';
  const rows = [
    ['API', `${service.baseUrl}/v1`],
    ['OpenAPI', `${service.baseUrl}/openapi.json`],
    ['Checkout', sample ?? `${service.checkoutBaseUrl}/${PAYMENT_PAGE}`],
    ['Review it', setUp ?? `${service.consoleBaseUrl}/console`],
    ...(setUp ? [['', dim('one-time set-up, 30 min')]] : []),
    ...(caller ? [['API key', DEVELOPMENT_KEY]] : []),
    ...(isOpen ? [['Register', `${service.baseUrl}/register`]] : []),
    ['Data', `${shownPath(configuration.storage)} ${dim(`(${database}; private, never served)`)}`],
    ['Settings', shownPath(configuration.file)],
  ];
  const ready = styled(out, 'green', `ready in ${(readyMs / 1000).toFixed(1)} s`);
  const taken = service.portTaken;
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
    ...(caller ? example : []),
    ...(noKeys
      ? ['  There are no keys yet. Make one: npx counterfoil keys create --merchant "Corner Shop"']
      : []),
    dim('  Ctrl-C stops it. Each request is told below.'),
    '',
  ];
  return lines.join('\n');
}

/** The page of a pending payment to look at: the newest sample that has time left, else a new one. */
async function samplePayment(
  configuration: Configuration,
  service: Service,
  caller: Caller,
): Promise<string> {
  const [latest] = await listPayments(service.database, {
    merchant_id: caller.merchant.id,
    mode: caller.key.mode,
    merchant_reference: SAMPLE_REFERENCE,
    status: 'pending',
    before: undefined,
    limit: 1,
    now: systemClock.now() + SAMPLE_TIME_LEFT_MS,
  });
  const request = parsePaymentRequest(
    {
      amount: 49.9,
      currency: 'EUR',
      merchant_reference: SAMPLE_REFERENCE,
      description: 'A sample payment to look at',
    },
    { strict: true, httpsOnly: false },
  );
  const act = { actor: 'operator', request_id: null };
  const { id } =
    latest ??
    (await service.journal.commit((transaction) =>
      createPayment(transaction, caller, act, request, termsOf(configuration)),
    ));
  return checkoutUrl(service.checkoutBaseUrl, id);
}
