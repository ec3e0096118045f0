// What counts as one caller when requests are counted by where they come from.
import { normalizeIP } from '@fastify/rate-limit';

/** What an IPv6 subscriber has for themselves (RFC 6177). */
const SUBSCRIBER_BITS = 64;

/** What stands for one caller: an IPv4 address, or an IPv6 subscriber's network. Proxies may add a port. */
export function network(ip: string): string {
  const plain = /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^([\d.]+):\d+$/.exec(ip)?.[1] ?? ip;
  return normalizeIP(plain.split('%')[0]!, SUBSCRIBER_BITS);
}
