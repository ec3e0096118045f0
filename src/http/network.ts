// What counts as one caller when requests are counted by where they come from.
import { isIPv6 } from 'node:net';

/** What an IPv6 subscriber has for themselves (RFC 6177). */
const SUBSCRIBER_BITS = 64;
/** What an organisation has, and anybody who asks a tunnel broker (RFC 6177): 65,536 of the former. */
const SITE_BITS = 48;
/** Of an IPv6 address. */
const GROUPS = 8;
const GROUP_BITS = 16;

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
  const address = plain.split('%')[0]!;
  if (!isIPv6(address)) return address.toLowerCase();
  const shortest = shortestForm(address);
  const mapped = /^::ffff:([^:]+):([^:]+)$/.exec(shortest);
  if (mapped) return mapped.slice(1).map(twoBytes).join('.');
  const [head, tail] = shortest.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(GROUPS - head!.length - (tail?.length ?? 0)).fill('0');
  const groups = [...head!, ...zeros, ...(tail ?? [])];
  return shortestForm(`${groups.slice(0, bits / GROUP_BITS).join(':')}::`);
}

/** The one spelling that RFC 5952 leaves of an IPv6 address, as URLs are read. */
const shortestForm = (address: string) => new URL(`http://[${address}]`).hostname.slice(1, -1);

const twoBytes = (group: string) =>
  [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff].join('.');
