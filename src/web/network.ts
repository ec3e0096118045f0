// What counts as one caller when requests are counted by network, and how large a network is.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { hmac } from '../lib/secrets.ts';

/** What an IPv6 subscriber has for themselves (RFC 6177). */
const SUBSCRIBER_BITS = 64;
/** The size that an organisation gets, and anyone from a tunnel broker (RFC 6177): 65,536 of the former. */
const SITE_BITS = 48;
/** Of an IPv6 address. */
const GROUPS = 8;
const GROUP_BITS = 16;

/** What stands for one caller: an IPv4 address, or an IPv6 subscriber's network. Proxies may add a port. */
export function network(ip: string): string {
  return prefixOf(ip, SUBSCRIBER_BITS);
}

/** The same for a whole IPv6 allocation: for limits that the owner of many networks must not exceed. */
export function site(ip: string): string {
  return prefixOf(ip, SITE_BITS);
}

/** What the log holds of an address: its network, the address itself, or a digest of it. */
type LoggedAddresses = 'network' | 'address' | 'digest';

const DIGEST_CHARACTERS = 16;

/** Returns what makes the log's word for an address. `key` keys the digests: with the same one, an address has the same digest. */
export function addressForLog(kind: LoggedAddresses, key: string): (ip: string) => string {
  return (ip) => {
    const address = prefixOf(ip, GROUPS * GROUP_BITS);
    if (isIP(address) === 0) return 'unknown'; // a proxy may pass on whatever it was sent
    if (kind === 'address') return address;
    if (kind === 'digest') return hmac(key, `logged address ${address}`).slice(0, DIGEST_CHARACTERS);
    return isIPv6(address) ? `${network(address)}/64` : `${address.replace(/\d+$/, '0')}/24`;
  };
}

function prefixOf(ip: string, bits: number): string {
  const plain = /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^([\d.]+):\d+$/.exec(ip)?.[1] ?? ip;
  const address = plain.split('%')[0]!;
  if (!isIPv6(address)) return address.toLowerCase();
  const groups = ipv6Groups(address);
  if (/^0,0,0,0,0,65535,/.test(groups.join())) return groups.slice(6).flatMap(twoBytes).join('.');
  const kept = groups
    .slice(0, bits / GROUP_BITS)
    .map((group) => group.toString(16))
    .join(':');
  return shortestForm(bits < GROUPS * GROUP_BITS ? `${kept}::` : kept);
}

/** The eight groups of an IPv6 address, 16 bits each. */
export function ipv6Groups(address: string): number[] {
  const [head, tail = []] = shortestForm(address)
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(GROUPS - head!.length - tail.length).fill('0');
  return [...head!, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

/** The one spelling that RFC 5952 leaves of an IPv6 address, as URLs are read. */
const shortestForm = (address: string) => new URL(`http://[${address}]`).hostname.slice(1, -1);

export const twoBytes = (group: number): [number, number] => [group >> 8, group & 0xff];

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** Returns whether an address lies in one of `networks`: IP addresses, and networks such as 10.0.0.0/8. */
export function inNetworks(networks: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address, prefix] = network.split('/') as [string, string?];
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return (address) => address !== undefined && list.check(address, familyOf(address));
}

/** The largest networks of one operator: 10.0.0.0/8 (RFC 1918), fc00::/7 (RFC 4193); of public IPv6, what registries give at most. */
const WIDEST_BITS = { ipv4: 8, mappedIpv4: 96 + 8, uniqueLocal: 7, ipv6: 16 };

/** Whether a network is larger than any that belongs to one operator. Takes what `isNetwork` accepts. */
export function isWideNetwork(text: string): boolean {
  const [address, prefix] = text.split('/') as [string, string?];
  if (prefix === undefined) return false;
  const family =
    isIP(address) === 4
      ? 'ipv4'
      : /^(:|0+:)/.test(address) // where IPv4 addresses are, as IPv6 writes them
        ? 'mappedIpv4'
        : /^f[cd]/i.test(address)
          ? 'uniqueLocal'
          : 'ipv6';
  return Number(prefix) < WIDEST_BITS[family];
}
