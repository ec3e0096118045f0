// Who may speak plain HTTP to a service that is promised over https alone: the proxies that speak it, and this machine itself.
import type { Socket } from 'node:net';
import { trustedPeers } from './host-name.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];

/**
 * Whether the peer of a connection may speak plain HTTP; decided once for each connection. `trustProxy`: IP addresses, and networks such
 * as 10.0.0.0/8.
 */
export function plainPeers(trustProxy: readonly string[]): (socket: Socket) => boolean {
  const isListed = trustedPeers([...LOOPBACK, ...trustProxy]);
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
