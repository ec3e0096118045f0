// What merchants and their keys bring to a history: invitations, registrations, keys that come, are replaced and end, limits.
import { changeKeys, issueKey, OVERLAPS_MS, revokeKey, rotateKey } from '../../src/merchants/api-keys.ts';
import { limitMerchant } from '../../src/merchants/change.ts';
import { createInvite, listInvites, revokeInvite } from '../../src/merchants/invite.ts';
import { type Registered, registerMerchant } from '../../src/merchants/register.ts';
import { type Harness, OPERATOR } from '../support/harness.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** The key that the campaigns themselves call with must go on working. */
const CALLING = 'mer_development';

/** Registers a merchant, with an invitation or without. */
async function register({ service }: Harness, name: string, invite: string | null): Promise<Registered> {
  const { database, journal, directory } = service;
  const wanted = { business_name: name, email: 'zoe@example.org', website: null, invite };
  const parts = { database, journal, directory, mode: 'open' as const, contact: undefined };
  return registerMerchant(parts, wanted, OPERATOR);
}

async function invite({ service }: Harness, random: SeededRandom): Promise<string> {
  const wanted = {
    mode: random.pick(['live', 'test'] as const),
    note: 'For Zoë 𝒵',
    days: random.between(1, 90),
  };
  return (await service.journal.commit(async (one) => createInvite(one, wanted, OPERATOR))).code;
}

/** Makes, replaces or ends a key of somebody's. */
async function changeKey(
  { service }: Harness,
  random: SeededRandom,
  key: Parameters<typeof rotateKey>[1],
): Promise<unknown> {
  const { merchant_id: merchantId, mode } = key;
  const name = random.chance(0.5) ? 'Zoë’s till' : null;
  const expires_at = random.chance(0.3) ? Date.now() + random.between(1, 100) * 86_400_000 : null;
  const overlapMs = random.pick(Object.values(OVERLAPS_MS));
  return random.pick([
    () =>
      changeKeys(service, merchantId, (one) =>
        issueKey(one, { merchantId, mode, name, expires_at }, OPERATOR),
      ),
    () => changeKeys(service, merchantId, (one) => rotateKey(one, key, { overlapMs, name }, OPERATOR)),
    () => changeKeys(service, merchantId, (one) => revokeKey(one, key, OPERATOR)),
  ])();
}

/** One thing that is done to merchants or their keys. Throws what the domain throws where it is not open to what was drawn. */
export async function manageMerchants(harness: Harness, random: SeededRandom): Promise<void> {
  const { database, journal, directory } = harness.service;
  const others = directory.merchants.filter(({ id }) => id !== CALLING);
  const merchant = random.pick(others).id;
  const keys = directory.keysOf(merchant);
  const invites = await listInvites(database);
  await random.pick<() => Promise<unknown>>([
    () => register(harness, `Zoë ${random.between(1, 1e9)}`, null),
    async () => register(harness, 'Zoë', await invite(harness, random)),
    () => invite(harness, random),
    async () => {
      const id = invites.length > 0 ? random.pick(invites).id : undefined;
      if (id) await journal.commit((one) => revokeInvite(one, id, OPERATOR), id);
    },
    () => limitMerchant(journal, merchant, { writes_per_second: random.between(1, 9) }, OPERATOR),
    async () => keys.length > 0 && changeKey(harness, random, random.pick(keys)),
    async () => keys.length > 0 && changeKey(harness, random, random.pick(keys)),
    async () => keys.length > 0 && changeKey(harness, random, random.pick(keys)),
  ])();
}

/** What an intruder needs to find there: an invitation that was used and one that was revoked, keys that were revoked and replaced. */
export async function oneOfEachKey(harness: Harness, random: SeededRandom): Promise<void> {
  const { journal, directory } = harness.service;
  const { merchant, row } = await register(harness, 'Max & Moritz', await invite(harness, random));
  await invite(harness, random);
  const [open] = (await listInvites(harness.service.database)).filter(
    ({ used_at, revoked_at }) => used_at === null && revoked_at === null,
  );
  await journal.commit((one) => revokeInvite(one, open!.id, OPERATOR), open!.id);
  const first = directory.key(row.digest)!;
  await changeKeys(harness.service, merchant.id, (one) =>
    rotateKey(one, first, { overlapMs: OVERLAPS_MS['7d'] }, OPERATOR),
  );
  const wish = { merchantId: merchant.id, mode: 'test', name: null, expires_at: null } as const;
  const last = await changeKeys(harness.service, merchant.id, (one) => issueKey(one, wish, OPERATOR));
  const known = directory.key(last.row.digest)!;
  await changeKeys(harness.service, merchant.id, (one) => revokeKey(one, known, OPERATOR));
}
