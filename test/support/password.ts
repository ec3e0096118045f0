// The password of every administrator whom tests make, and what is kept of it.
import { argon2Sync } from 'node:crypto';
import type { Cost } from '../../src/administrators/password.ts';

export const PASSWORD = 'violet anchor drifts uphill';

/** Argon2id at the least that RFC 9106 allows (3.1): the hundreds of sign-ins of tests take a machine no minutes. */
export const CHEAP: Cost = { memory: 8, passes: 1, parallelism: 1 };
const nonce = Buffer.alloc(16, 'tests');
const tag = argon2Sync('argon2id', { message: PASSWORD, nonce, ...CHEAP, tagLength: 32 });
const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

/** In the form in which passwords are kept, which says what it costs to try one. */
export const PASSWORD_KEPT = `$argon2id$v=19$m=${CHEAP.memory},t=${CHEAP.passes},p=${CHEAP.parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
