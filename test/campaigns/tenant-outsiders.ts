// The moves of the walk among tenants that nobody needs a key for: a payment's page, and registering.
import assert from 'node:assert/strict';
import { changed, type Move, type Walk } from './tenant-calls.ts';
import { newCanary, type OwnPayment, registrationOf, type Tenant } from './tenants.ts';

/** The customer's page: for whoever has the link, and of that payment alone. */
export function openCheckout({ random, tenants }: Walk, tenant: Tenant): Move {
  const other = random.pick(tenants);
  const owner = other.payments.length > 0 ? other : tenant;
  const payment: OwnPayment | undefined = random.chance(0.8) ? owner.payments.at(-1) : undefined;
  const id = payment?.id ?? changed(random.pick(owner.payments).id);
  return {
    route: 'GET /payment.php',
    path: `/payment.php?payment_id=${id}&lang=en`,
    options: { key: null },
    readers: payment ? [owner.name, owner.merchant] : [],
    statuses: payment ? [200, 410] : [404],
    isAbsent: !payment,
    heard({ text }) {
      for (const one of text.match(/pay_[0-9a-z]{36}/g) ?? []) assert.equal(one, payment?.id);
    },
  };
}

/** Another merchant comes, with an address that may be known already: that tells nobody anything. */
export function register({ random, tenants }: Walk): Move {
  const known = random.pick(tenants);
  const canary = newCanary(random);
  const body = {
    ...registrationOf(canary),
    email: `${known.merchantCanary}@${known.merchantCanary}.example`,
  };
  return {
    route: 'POST /register',
    path: '/register',
    options: { method: 'POST', key: null, body },
    statuses: [201],
    readers: [canary, known.merchant], // the address was sent by whoever reads it
  };
}
