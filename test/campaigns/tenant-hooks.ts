// What tenants do with their webhook endpoints and deliveries, and what they ask about those of others.
import { absent, by, changed, type Move, type Walk } from './tenant-calls.ts';
import type { OwnHook, Tenant } from './tenants.ts';

const HOOKS = '/v1/webhook_endpoints';
const HOOK = `${HOOKS}/{endpoint_id}`;
const DELIVERY = '/v1/deliveries/{delivery_id}';
/** Fewer than a tenant may have. */
const HOOKS_MAXIMUM = 4;

/** A few merchants in both modes have endpoints, so that each has something to show. */
const few = ({ tenants }: Walk) => tenants.slice(0, 6);

/** One that no other move of the batch is about. */
function draw({ random, drawn }: Walk, hooks: readonly OwnHook[]): OwnHook | undefined {
  const hook = random.pick([undefined, ...hooks.filter(({ id }) => !drawn.has(id))]);
  if (hook) drawn.add(hook.id);
  return hook;
}

function create(walk: Walk, tenant: Tenant): Move {
  const { canary } = tenant;
  return by(walk, tenant, `POST ${HOOKS}`, HOOKS, {
    options: { body: { url: `https://${canary}.example/hook`, description: `Till ${canary}` } },
    statuses: [201],
    heard: ({ json }) => void tenant.hooks.push({ id: json.data.id, deliveries: [] }),
  });
}

/** A move about an endpoint of its own. */
export function useHook(walk: Walk, anybody: Tenant): Move {
  const { random } = walk;
  const tenant = few(walk).includes(anybody) ? anybody : random.pick(few(walk));
  if (random.chance(0.1)) return list(walk, tenant);
  const deliveries = draw(
    walk,
    tenant.hooks.filter((one) => one.deliveries.length > 0),
  );
  if (deliveries && random.chance(0.7)) {
    const id = random.pick(deliveries.deliveries);
    if (random.chance(0.5)) return by(walk, tenant, `GET ${DELIVERY}`, `/v1/deliveries/${id}`);
    return by(walk, tenant, `POST ${DELIVERY}/resend`, `/v1/deliveries/${id}/resend`);
  }
  const hook = draw(walk, tenant.hooks);
  if (!hook) return tenant.hooks.length < HOOKS_MAXIMUM ? create(walk, tenant) : list(walk, tenant);
  const path = `${HOOKS}/${hook.id}`;
  return random.pick<() => Move>([
    () => by(walk, tenant, `GET ${HOOK}`, path),
    () => by(walk, tenant, `PATCH ${HOOK}`, path, { options: { body: { types: null } } }),
    () => by(walk, tenant, `POST ${HOOK}/rotate_secret`, `${path}/rotate_secret`),
    () => by(walk, tenant, `POST ${HOOK}/test`, `${path}/test`),
    () => by(walk, tenant, `POST ${HOOK}/resend`, `${path}/resend`, { options: { body: missing() } }),
    ...Array.from({ length: 4 }, () => () => listDeliveries(walk, tenant, hook)),
    () =>
      by(walk, tenant, `DELETE ${HOOK}`, path, {
        heard() {
          tenant.hooks = tenant.hooks.filter((one) => one !== hook);
        },
      }),
  ])();
}

const missing = () => ({ what: 'missing', since: new Date(Date.now() - 3_600_000).toISOString() });

const list = (walk: Walk, tenant: Tenant) => by(walk, tenant, `GET ${HOOKS}`, HOOKS);

function listDeliveries(walk: Walk, tenant: Tenant, hook: OwnHook): Move {
  return by(walk, tenant, `GET ${HOOK}/deliveries`, `${HOOKS}/${hook.id}/deliveries?limit=100`, {
    heard({ json }) {
      hook.deliveries = json.data.map(({ id }: { id: string }) => id);
    },
  });
}

/** A move about an endpoint or a delivery of somebody else, or of none. */
export function trespassHook(walk: Walk, tenant: Tenant): Move {
  const { random } = walk;
  const others = few(walk).filter((one) => one !== tenant);
  const nobodys = { id: `whe_${'0'.repeat(36)}`, deliveries: [] };
  const theirs = random.pick([...others.flatMap(({ hooks }) => hooks), nobodys]);
  const whe = random.pick([theirs.id, theirs.id, changed(theirs.id), 'whe_']);
  const path = `${HOOKS}/${whe}`;
  const dlv = random.pick([...theirs.deliveries, `dlv_${'0'.repeat(36)}`]);
  return random.pick<() => Move>([
    () => by(walk, tenant, `GET ${HOOK}`, path, absent),
    () => by(walk, tenant, `PATCH ${HOOK}`, path, { options: { body: { status: 'disabled' } }, ...absent }),
    () => by(walk, tenant, `DELETE ${HOOK}`, path, absent),
    () => by(walk, tenant, `POST ${HOOK}/rotate_secret`, `${path}/rotate_secret`, absent),
    () => by(walk, tenant, `POST ${HOOK}/test`, `${path}/test`, absent),
    () =>
      by(walk, tenant, `POST ${HOOK}/resend`, `${path}/resend`, { options: { body: missing() }, ...absent }),
    () => by(walk, tenant, `GET ${HOOK}/deliveries`, `${path}/deliveries`, absent),
    () => by(walk, tenant, `GET ${DELIVERY}`, `/v1/deliveries/${dlv}`, absent),
    () => by(walk, tenant, `POST ${DELIVERY}/resend`, `/v1/deliveries/${dlv}/resend`, absent),
  ])();
}
