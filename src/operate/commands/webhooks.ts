// counterfoil webhooks: the endpoints of all merchants, a test event, sending again, and switching one off and on.
import { Command, Option } from 'commander';
import { ringOf } from '../../journal/keys/open-ring.ts';
import { storedSecretKeys } from '../../journal/keys/queries.ts';
import { counted } from '../../lib/counted.ts';
import { DAY_MS, systemClock } from '../../lib/time.ts';
import { disableEndpoint, enableEndpoint } from '../../webhooks/change.ts';
import { DELIVERIES_KEPT_MS } from '../../webhooks/delivery.ts';
import { ENDPOINT_ID_PREFIX, type Endpoint } from '../../webhooks/endpoint.ts';
import { presentEndpoint } from '../../webhooks/present.ts';
import { findEndpoint, listEndpoints, queuesOf } from '../../webhooks/queries.ts';
import { RESENDS, type Resend, resend } from '../../webhooks/resend.ts';
import { sendTestEvent } from '../../webhooks/test-event.ts';
import { webhookRules } from '../settings/webhook-endpoints.ts';
import { parseId, parsePast, parseText } from './arguments.ts';
import { ifMissing, OPERATOR, type Store, type StoreOptions, withStore } from './store.ts';
import { columns, Failure } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION } from './usage.ts';

const EXAMPLE = `${ENDPOINT_ID_PREFIX}01m7xy90z59x4m4bthzeq11xez7gvadtw35y`;
const idOf = parseId(ENDPOINT_ID_PREFIX, 'counterfoil webhooks list');

const noSuchEndpoint = (id: string) =>
  `there is no webhook endpoint ${id}; counterfoil webhooks list shows all`;

/** A command about one endpoint. */
function about(name: string, description: string, example = ''): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'the id of the endpoint: whe_…', idOf)
    .addHelpText('after', `\nExample:\n  counterfoil webhooks ${name} ${EXAMPLE}${example}`);
}

export function webhooksCommand(): Command {
  const command = new Command('webhooks')
    .description('webhook endpoints of merchants: whether they answer, and what to do if not')
    .addHelpText('after', '\nExamples:\n  counterfoil webhooks list')
    .addCommand(
      new Command('list')
        .description('list the endpoints of all merchants, never their secrets')
        .addHelpText('after', '\nExample:\n  counterfoil webhooks list --json')
        .action(list),
    )
    .addCommand(about('test', 'send a test event now, and print what came back').action(test))
    .addCommand(
      about('resend', 'send again what an endpoint did not take', ' --what missing --since 7d')
        .addOption(
          new Option('--what <what>', 'failed deliveries, or events that it never got')
            .choices(RESENDS)
            .default('failed'),
        )
        .requiredOption(
          '--since <moment>',
          'from when on, such as 24h, 7d or an ISO 8601 moment',
          parsePast(DELIVERIES_KEPT_MS / DAY_MS),
        )
        .action(sendAgain),
    )
    .addCommand(
      about('disable', 'send nothing to an endpoint', ' --reason "It answers with our own checkout"')
        .requiredOption('--reason <text>', 'what the merchant is told', parseText)
        .action(disable),
    )
    .addCommand(about('enable', 'send to an endpoint again, also what happened meanwhile').action(enable));
  for (const one of command.commands) one.option(...CONFIG_OPTION).option(...JSON_OPTION);
  return command;
}

async function list(options: StoreOptions): Promise<void> {
  await withStore(options, async ({ database }) => {
    const endpoints = await listEndpoints(database);
    const queues = await queuesOf(
      database,
      endpoints.map(({ id }) => id),
    );
    const shown = endpoints.map((endpoint) => {
      const queue = queues.find(({ endpoint_id }) => endpoint_id === endpoint.id);
      return { ...presentEndpoint(endpoint, queue), merchant_id: endpoint.merchant_id };
    });
    if (options.json) return console.log(JSON.stringify({ endpoints: shown }));
    if (shown.length === 0) return console.log('There are no webhook endpoints.');
    const state = (one: (typeof shown)[number]) => {
      if (one.status === 'disabled') return `disabled (${one.disabled_reason}) since ${one.disabled_at}`;
      return one.failing_since ? `failing since ${one.failing_since}` : 'enabled';
    };
    const mode = ({ livemode }: (typeof shown)[number]) => (livemode ? 'live' : 'test');
    console.log(columns(shown.map((one) => [one.id, one.merchant_id, mode(one), one.url, state(one)])));
  });
}

async function test(id: string, options: StoreOptions): Promise<void> {
  await withStore(options, async ({ configuration, database }) => {
    const endpoint = await findEndpoint(database, id);
    if (!endpoint) throw new Failure(noSuchEndpoint(id));
    const ring = ringOf(await storedSecretKeys(database), configuration);
    const rules = webhookRules(configuration);
    const { ok, status, ms, reason, event_id } = await sendTestEvent(
      { clock: systemClock, ring, rules },
      endpoint,
    );
    if (!ok) process.exitCode = 1;
    if (!options.json) return console.log(`${reason}.`);
    console.log(JSON.stringify({ event_id, delivered: ok, status, ms: Math.round(ms), reason }));
  });
}

async function sendAgain(id: string, options: StoreOptions & { what: Resend; since: number }): Promise<void> {
  await withStore(options, async ({ journal }) => {
    const { what, since } = options;
    const deliveries = await journal
      .commit((transaction) => resend(transaction, id, what, since, OPERATOR), id)
      .catch(ifMissing(noSuchEndpoint(id)));
    if (options.json) return console.log(JSON.stringify({ id, what, deliveries }));
    if (deliveries === null) return console.log('A server sends what is missing within a second.');
    console.log(`A server sends ${counted(deliveries, 'delivery', 'deliveries')} within a second.`);
  });
}

const disable = (id: string, options: StoreOptions & { reason: string }) =>
  withStore(options, async (store) => {
    const reason = options.reason.trim();
    await change(store, id, options, (transaction) =>
      disableEndpoint(transaction, id, 'operator', OPERATOR, reason),
    );
  });

const enable = (id: string, options: StoreOptions) =>
  withStore(options, (store) =>
    change(store, id, options, (transaction) => enableEndpoint(transaction, id, OPERATOR)),
  );

async function change(
  { journal }: Store,
  id: string,
  { json }: StoreOptions,
  work: (transaction: Parameters<typeof enableEndpoint>[0]) => Promise<Endpoint>,
): Promise<void> {
  const endpoint = await journal.commit(work, id).catch(ifMissing(noSuchEndpoint(id)));
  const { status } = presentEndpoint(endpoint, undefined);
  console.log(json ? JSON.stringify({ id, status }) : `${id} is ${status}.`);
}
