// What the history says of webhook endpoints, for holding their rows against it.
import { rowCheck } from '../journal/rows.ts';
import { ENDPOINT_ID_PREFIX, ENDPOINTS, type Endpoint } from './endpoint.ts';

export const verifyEndpoints = rowCheck<Endpoint>({
  table: ENDPOINTS,
  noun: 'webhook endpoint',
  prefix: ENDPOINT_ID_PREFIX,
  creates: ['webhook.created'],
  states: {
    first: 'enabled',
    after: new Map([
      ['webhook.disabled', 'disabled'],
      ['webhook.secret_lost', 'disabled'],
      ['webhook.enabled', 'enabled'],
    ]),
    of: ({ disabled_at }) => (disabled_at === null ? 'enabled' : 'disabled'),
  },
  mayBeGone: ({ last }) => last.row === null,
});
