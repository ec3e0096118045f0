// How large a network of IP addresses is, judged by the length of its prefix (CIDR, RFC 4632).
import { isIP } from 'node:net';

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
