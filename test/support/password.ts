// The password of every administrator whom tests make, and what is kept of it.
import crypto, { argon2Sync } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { after, before } from 'node:test';

export const PASSWORD = 'violet anchor drifts uphill';

/** Argon2id at the least that RFC 9106 allows (3.1): the hundreds of sign-ins of tests take a machine no minutes. */
const CHEAP = { memory: 8, passes: 1, parallelism: 1 };
const nonce = Buffer.alloc(16, 'tests');
const tag = argon2Sync('argon2id', { message: PASSWORD, nonce, ...CHEAP, tagLength: 32 });
const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

/** In the form in which passwords are kept, which says what it costs to try one. */
export const PASSWORD_KEPT = `$argon2id$v=19$m=${CHEAP.memory},t=${CHEAP.passes},p=${CHEAP.parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;

/** Lets what a suite hashes cost as little, where it is not about the hash: it is Argon2id still, and says it cost what it should. */
export function hashCheaply(): void {
  const { argon2 } = crypto;
  const set = (one: typeof argon2) => {
    crypto.argon2 = one;
    syncBuiltinESMExports(); // what was imported by name is another from now on
  };
  before(() => set((algorithm, given, done) => argon2(algorithm, { ...given, ...CHEAP }, done)));
  after(() => set(argon2));
}
