// counterfoil webhooks: the endpoints of all merchants, a test event, sending again, and switching one off and on.
import { Command } from 'commander';
import { ringOf, storedSecretKeys } from '../../journal/keys/open-ring.ts';
import { momentsIn } from '../../lib/moments.ts';
import { systemClock } from '../../lib/time.ts';
import { ENDPOINT_ACTS } from '../../webhooks/acts.ts';
import { sendTestEvent } from '../../webhooks/deliver.ts';
import { ENDPOINT_ID_PREFIX, type Endpoint } from '../../webhooks/endpoint.ts';
import { presentEndpoint } from '../../webhooks/present.ts';
import { findEndpoint, searchEndpoints } from '../../webhooks/queries.ts';
import { webhookRules } from '../settings/merchants.ts';
import { actCommands, listed, onStore, type Store } from './store.ts';
import { Failure } from './terminal.ts';
import { addCommands, newCommand, parseId } from './usage.ts';

const EXAMPLE = `${ENDPOINT_ID_PREFIX}01m7xy90z59x4m4bthzeq11xez7gvadtw35y`;
const ARGUMENT = [
  '<id>',
  'the id of the endpoint: whe_…',
  parseId(ENDPOINT_ID_PREFIX, 'counterfoil webhooks list'),
] as const;

const ENDPOINT = {
  argument: ARGUMENT,
  example: EXAMPLE,
  find: ({ database }: Store, id: string) => endpointWith(database, id),
};

async function endpointWith(database: Store['database'], id: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(database, id);
  if (!endpoint) throw new Failure(`there is no webhook endpoint ${id}; counterfoil webhooks list shows all`);
  return endpoint;
}

export function command(): Command {
  return addCommands(
    new Command('webhooks')
      .description('webhook endpoints of merchants: whether they answer, and what to do if not')
      .addHelpText('after', '\nExamples:\n  counterfoil webhooks list'),
    [
      newCommand('list', 'list the endpoints of all merchants, never their secrets', [
        'webhooks list --json',
      ]).action(onStore(list)),
      newCommand('test', 'send a test event now, and print what came back', [`webhooks test ${EXAMPLE}`])
        .argument(...ARGUMENT)
        .action(onStore(test)),
      ...actCommands(ENDPOINT_ACTS, ENDPOINT),
    ],
  );
}

async function list({ configuration, database }: Store) {
  const shown = (await searchEndpoints(database)).map((endpoint) => ({
    ...presentEndpoint(endpoint),
    merchant_id: endpoint.merchant_id,
  }));
  const words = momentsIn(configuration.time_zone);
  const state = (one: (typeof shown)[number]) => {
    const since = (at: string | null) => `since ${words.within(at!)}`;
    if (one.status === 'disabled') return `disabled (${one.disabled_reason}) ${since(one.disabled_at)}`;
    return one.failing_since ? `failing ${since(one.failing_since)}` : 'enabled';
  };
  const mode = ({ livemode }: (typeof shown)[number]) => (livemode ? 'live' : 'test');
  const cells = (one: (typeof shown)[number]) => [one.id, one.merchant_id, mode(one), one.url, state(one)];
  return listed('endpoints', shown, 'There are no webhook endpoints.', cells);
}

async function test({ configuration, database }: Store, id: string) {
  const endpoint = await endpointWith(database, id);
  const ring = ringOf(await storedSecretKeys(database), configuration);
  const rules = webhookRules(configuration);
  const sent = await sendTestEvent({ clock: systemClock, ring, rules }, endpoint);
  const { ok, status, ms, reason, event_id } = sent;
  if (!ok) process.exitCode = 1;
  return { json: { event_id, delivered: ok, status, ms: Math.round(ms), reason }, text: `${reason}.` };
}
