// The key ring: encrypts what the store must give back, and authenticates what browsers bring back, with keys that are not in the store.
import { decrypt, encrypt, hmac, isSame, newNonce } from '../../lib/secrets.ts';
import { type SecretKey, SecretKeysUnfit, subkey } from './key-file.ts';

/** `sealed.<key id>.<nonce>.<ciphertext and tag>`, the last two in base64url. */
const SEALED = /^sealed\.([0-9a-f]{16})\.([\w-]{16})\.([\w-]{22,})$/;

/** Where a sealed text stands in the store. It opens nowhere else. */
export interface Cell {
  table: string;
  row: string;
  column: string;
}

/** What a MAC is for. Each has keys of its own, so that no MAC passes for another. */
type Purpose = 'device' | 'session seen' | 'passkey challenge' | 'checkout form' | 'unsubscribe' | 'payer';

/** What a store says of its keys. */
export interface KeyOrders {
  /** The id of the key to seal with. */
  current: string;
  /** Ids of keys that count no more, even if they are still kept somewhere. */
  removed: readonly string[];
}

/** The id of the key that a text is sealed with; undefined if it is not sealed. */
export function sealedWith(text: string): string | undefined {
  return SEALED.exec(text)?.[1];
}

/** A key with what is derived from it, each once. */
class RingKey {
  readonly id: string;
  readonly #key: SecretKey;
  readonly #derived = new Map<string, Uint8Array>();

  constructor(key: SecretKey) {
    this.id = key.id;
    this.#key = key;
  }

  for(use: string): Uint8Array {
    const found = this.#derived.get(use) ?? subkey(this.#key, use);
    this.#derived.set(use, found);
    return found;
  }
}

export class KeyRing {
  readonly #read: () => readonly SecretKey[];
  #orders: KeyOrders;
  #keys: readonly RingKey[] = [];
  #current: RingKey;

  /** `read` returns the keys as they are kept now. Throws `SecretKeysUnfit` if the key to seal with is not among them. */
  constructor(read: () => readonly SecretKey[], orders: KeyOrders) {
    this.#read = read;
    this.#orders = orders;
    this.#readAgain();
    this.#current = this.#known(orders.current);
  }

  /** The id of the key that it seals with. */
  get current(): string {
    return this.#current.id;
  }

  /** Reads the keys again and follows other orders from now on. Throws `SecretKeysUnfit` as the constructor does. */
  use(orders: KeyOrders): void {
    this.#orders = orders;
    this.#readAgain();
    this.#current = this.#known(orders.current);
  }

  /** Encrypts `text` for one cell: AES-256-GCM with a random nonce, the cell as associated data. */
  seal(cell: Cell, text: string): string {
    const nonce = newNonce();
    const sealing = { key: this.#current.for('seal'), nonce, associated: associated(cell) };
    const bytes = encrypt(sealing, text);
    return `sealed.${this.#current.id}.${nonce.toString('base64url')}.${bytes.toString('base64url')}`;
  }

  /**
   * Decrypts what `seal` returned for the same cell. Reads the keys again if it does not know the key. Throws `SecretKeysUnfit` if
   * the key is missing, and `Error` if the text was changed or stands in another cell.
   */
  open(cell: Cell, sealed: string): string {
    const [, id, nonce, text] = SEALED.exec(sealed) ?? [];
    if (id === undefined) throw new Error(`${placeOf(cell)} is not sealed`);
    if (!this.#find(id)) this.#readAgain();
    const key = this.#known(id).for('seal');
    const sealing = { key, nonce: Buffer.from(nonce!, 'base64url'), associated: associated(cell) };
    try {
      return decrypt(sealing, Buffer.from(text!, 'base64url'));
    } catch (cause) {
      throw new Error(`${placeOf(cell)} was changed, or sealed for another place`, { cause });
    }
  }

  /** Authenticates `text` for one purpose: HMAC with SHA-256, base64url, 43 characters. */
  mac(purpose: Purpose, text: string): string {
    return hmac(this.#current.for(`mac ${purpose}`), text);
  }

  /** Whether `given` is a MAC of `text` for `purpose`, by any key of the ring: one from before a rotation goes on. */
  isMac(purpose: Purpose, text: string, given: string): boolean {
    return this.#keys.some((key) => isSame(given, hmac(key.for(`mac ${purpose}`), text)));
  }

  #readAgain(): void {
    const { removed } = this.#orders;
    const keys = this.#read().filter(({ id }) => !removed.includes(id));
    this.#keys = keys.map((key) => this.#find(key.id) ?? new RingKey(key));
  }

  #find(id: string): RingKey | undefined {
    return this.#keys.find((key) => key.id === id);
  }

  #known(id: string): RingKey {
    const found = this.#find(id);
    if (!found) throw new SecretKeysUnfit(`the key ${id} for secrets in the store is missing`);
    return found;
  }
}

function associated({ table, row, column }: Cell): Buffer {
  return Buffer.from(JSON.stringify([table, row, column]));
}

function placeOf({ table, row, column }: Cell): string {
  return `${column} of ${row} in ${table}`;
}
