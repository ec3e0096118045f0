// What counts as one caller when requests are counted by where they come from.
import { normalizeIP } from '@fastify/rate-limit';

/** What an IPv6 subscriber has for themselves (RFC 6177). */
const SUBSCRIBER_BITS = 64;
/** What an organisation has, and anybody who asks a tunnel broker (RFC 6177): 65,536 of the former. */
const SITE_BITS = 48;

/** What stands for one caller: an IPv4 address, or an IPv6 subscriber's network. Proxies may add a port. */
export function network(ip: string): string {
  return prefixOf(ip, SUBSCRIBER_BITS);
}

/** The same, but a whole allocation of IPv6: for what one who has many networks must not take more of. */
export function site(ip: string): string {
  return prefixOf(ip, SITE_BITS);
}

function prefixOf(ip: string, bits: number): string {
  const plain = /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^([\d.]+):\d+$/.exec(ip)?.[1] ?? ip;
  return normalizeIP(plain.split('%')[0]!, bits);
}
