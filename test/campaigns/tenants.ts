// Merchants in both modes, each with what it wrote and was told: whose every word, id and key is.
import assert from 'node:assert/strict';
import { newSecret, sha256Hex } from '../../src/lib/secrets.ts';
import { changeKeys, issueKey } from '../../src/merchants/api-keys.ts';
import { type Harness, OPERATOR } from '../support/harness.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

const MODES = ['live', 'test'] as const;
type Mode = (typeof MODES)[number];

/** What belongs to somebody wherever it stands: the canaries in all that merchants write, ids, and keys. */
const MARK =
  /canary[a-z]{8}|(?:pay|whe|dlv)_[0-9a-z]{36}|key_[0-9a-f]{16}|mer_[0-9a-z]+|cfk_(?:test|live)_[0-9A-Za-z]{49}/g;
const CURSOR = /"next_cursor":"([\w-]+)"/g;

/** Remembers whose each mark is. */
export class Marks {
  readonly #owners = new Map<string, string>();

  /** `owner`: a tenant's name, or a merchant's for what both of its modes may see. */
  give(mark: string, owner: string): void {
    assert.ok(!this.#owners.has(mark), `${mark} is given twice`);
    this.#owners.set(mark, owner);
  }

  /**
   * What in a text that `readers` were sent belongs to others. What nobody was sent before belongs to the first of them from now on,
   * so that of two who are told the same new id the second gives it away.
   */
  foreignIn(text: string, readers: readonly string[]): string[] {
    const cursors = [...text.matchAll(CURSOR)].map(([, cursor]) => Buffer.from(cursor!, 'base64url'));
    const marks = new Set([text, ...cursors].flatMap((one) => one.toString().match(MARK) ?? []));
    return [...marks].flatMap((mark) => {
      const owner = this.#owners.get(mark);
      if (owner === undefined && readers[0]) this.#owners.set(mark, readers[0]);
      return readers.includes(owner ?? readers[0]!) ? [] : [`${mark} of ${owner ?? 'nobody'}`];
    });
  }
}

export interface OwnKey {
  id: string;
  key: string;
  /** Whether it was revoked, or replaced with no overlap. */
  isOver: boolean;
  isReplaced: boolean;
}

export interface OwnPayment {
  id: string;
  status: string;
}

/** A webhook endpoint, and ids of deliveries to it. */
export interface OwnHook {
  id: string;
  deliveries: string[];
}

/** A merchant in one of its modes. */
export interface Tenant {
  /** `12/live` */
  name: string;
  /** `12` */
  merchant: string;
  mode: Mode;
  /** Stands in all that it writes; `merchantCanary` in what the merchant wrote for both modes. */
  canary: string;
  merchantCanary: string;
  /** The first works for ever. */
  keys: OwnKey[];
  payments: OwnPayment[];
  hooks: OwnHook[];
  /** The newest cursors it was given. */
  cursors: { payments: string; api_keys: string; events: string };
  /** The newest event it was told. A cursor may name an entry that is no event. */
  event: string;
  /** What each idempotency key stands for: the route and the request that were answered. */
  answered: Map<string, string>;
}

/** Everybody: no two share anything but the service. */
export interface World {
  tenants: Tenant[];
  marks: Marks;
}

/** Eight letters behind a word, as no other merchant has them. */
export function newCanary(random: SeededRandom): string {
  return `canary${Array.from({ length: 8 }, () => String.fromCharCode(random.between(97, 122))).join('')}`;
}

/** What a merchant says of itself, its canary in all of it. */
export const registrationOf = (canary: string) => ({
  business_name: `Shop ${canary}`,
  email: `${canary}@${canary}.example`,
  website: `https://${canary}.example/`,
});

/** A merchant that the configuration names, and the keys whose digests stand there. */
interface Configured {
  id: string;
  canary: string;
  keys: Record<Mode, string>;
}

/** Merchants for the configuration file, and its lines. */
export function configuredMerchants(count: number, random: SeededRandom) {
  const merchants = Array.from({ length: count }, (_, i): Configured => {
    const keys = { live: newSecret('cfk_live_'), test: newSecret('cfk_test_') };
    return { id: `mer_configured${i}`, canary: newCanary(random), keys };
  });
  const lines = merchants.map(
    ({ id, canary, keys }) => `  - id: ${id}
    name: Shop ${canary}
    website: https://${canary}.example/
    support: ${canary}@${canary}.example
    keys:
${MODES.map((mode) => `      - { key_sha256: ${sha256Hex(keys[mode])}, mode: ${mode} }\n`).join('')}`,
  );
  return { merchants, lines: lines.join('') };
}

/** The merchants of the configuration, and `registered` more that come in by /register; each with a key of either mode. */
export async function settle(
  harness: Harness,
  configured: readonly Configured[],
  registered: number,
  random: SeededRandom,
): Promise<World> {
  const world: World = { tenants: [], marks: new Marks() };
  for (const { id, canary, keys } of configured) addMerchant(world, id, canary, keys, random);
  const canaries = Array.from({ length: registered }, () => newCanary(random));
  const made = await Promise.all(canaries.map((canary) => register(harness, canary)));
  for (const [i, { id, keys }] of made.entries()) addMerchant(world, id, canaries[i]!, keys, random);
  return world;
}

async function register(harness: Harness, canary: string) {
  const body = registrationOf(canary);
  const answer = await harness.request('/register', { method: 'POST', key: null, body });
  assert.equal(answer.status, 201, answer.text);
  const { merchant, api_key } = answer.json.data;
  const wish = { merchantId: merchant.id, mode: 'live', name: null, expires_at: null } as const;
  const { key } = await changeKeys(harness.service, merchant.id, (transaction) =>
    issueKey(transaction, wish, OPERATOR),
  );
  return { id: String(merchant.id), keys: { live: key, test: String(api_key) } };
}

function addMerchant(
  world: World,
  id: string,
  merchantCanary: string,
  keys: Record<Mode, string>,
  random: SeededRandom,
): void {
  const merchant = String(world.tenants.length / MODES.length);
  for (const mark of [id, merchantCanary]) world.marks.give(mark, merchant);
  for (const mode of MODES) {
    const name = `${merchant}/${mode}`;
    const canary = newCanary(random);
    const key = ownKey(keys[mode]);
    for (const mark of [canary, key.id, key.key]) world.marks.give(mark, name);
    const empty = {
      payments: [],
      hooks: [],
      cursors: { payments: '', api_keys: '', events: '' },
      event: '',
      answered: new Map(),
    };
    world.tenants.push({ name, merchant, mode, canary, merchantCanary, keys: [key], ...empty });
  }
}

/** A key as its owner knows it. */
export function ownKey(key: string): OwnKey {
  return { id: `key_${sha256Hex(key).slice(0, 16)}`, key, isOver: false, isReplaced: false };
}
