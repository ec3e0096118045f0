// The address by which an administrator's mail program ends their digests at once (RFC 8058): nothing but a right token is taken.
import type { KeyRing } from '../journal/keys/key-ring.ts';

export const UNSUBSCRIBE_PATH = '/mail/unsubscribe';

const statement = (id: string) => JSON.stringify(['no digest', id]);

export const unsubscribeUrl = (ring: KeyRing, baseUrl: string, id: string): string =>
  `${baseUrl}${UNSUBSCRIBE_PATH}?from=${id}.${ring.mac('unsubscribe', statement(id))}`;

/** The administrator whom the `from` of such an address names; undefined if the token is not ours. */
export function unsubscriber(ring: KeyRing, from: string): string | undefined {
  const [, id, token] = /^(adm_[0-9a-z]{36})\.([\w-]{43})$/.exec(from) ?? [];
  return id !== undefined && ring.isMac('unsubscribe', statement(id), token!) ? id : undefined;
}
