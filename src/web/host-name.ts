// The host name of a request, as its Host or a trusted proxy says, and which peers may speak plain HTTP.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { inNetworks } from './network.ts';

/**
 * The host name that a request asks for, in lower case and without its port; empty if it names none. X-Forwarded-Host counts if it comes
 * from a trusted peer, and of several values the last: the peer did not write those before it.
 */
export function hostNameOf(
  { headers, socket }: IncomingMessage,
  isTrusted: (address: string | undefined) => boolean,
): string {
  const forwarded = headers['x-forwarded-host'];
  const told =
    forwarded && isTrusted(socket.remoteAddress) ? lastOf([forwarded].flat().at(-1)!) : headers.host;
  return (told ?? '').trim().replace(/:\d*$/, '').toLowerCase();
}

/** The last of a list. A Host is none: one with a comma in it is no host name, and matches none. */
const lastOf = (list: string) => list.slice(list.lastIndexOf(',') + 1);

const LOOPBACK = ['127.0.0.0/8', '::1'];

/**
 * Whether the peer of a connection may speak plain HTTP; decided once for each connection. `trustProxy`: IP addresses, and networks such
 * as 10.0.0.0/8.
 */
export function plainPeers(trustProxy: readonly string[]): (socket: Socket) => boolean {
  const isListed = inNetworks([...LOOPBACK, ...trustProxy]);
  const decided = new WeakMap<Socket, boolean>();
  return (socket) => {
    let may = decided.get(socket);
    if (may === undefined) {
      may = isListed(socket.remoteAddress);
      decided.set(socket, may);
    }
    return may;
  };
}
