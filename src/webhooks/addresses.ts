// Where webhooks may be sent: which URLs an endpoint may have, and which addresses a connection may be made to.
import { isIP } from 'node:net';
import { isLoopbackHost, webAddressFault } from '../lib/web-address.ts';
import { inNetworks, ipv6Groups, twoBytes } from '../web/network.ts';

export const URL_CHARACTERS = 2048;

/** What the operator allows beyond https to public addresses on port 443. */
export interface AddressRules {
  /** Whether plain http may be sent to public addresses too. To addresses of `allowedNetworks` it may be sent anyway. */
  allowHttp: boolean;
  /** Networks that may be reached though they are not public, in CIDR notation; an address alone is a network of one. */
  allowedNetworks: readonly string[];
  /** Ports beside 443. */
  ports: readonly number[] | 'any';
  /** An http(s) proxy through which all attempts go. It is asked for the checked address, not for the name. */
  proxy?: string;
}

/** IANA's registry of special-purpose IPv4 addresses, multicast, and Azure's host (168.63.129.16), which lies among public ones. */
const SPECIAL_IPV4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12
  192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
  198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;

/** Unicast IPv6 that IANA has assigned. Other addresses are not on the Internet. */
const GLOBAL_IPV6 = '2000::/3';
/** Within it: protocol assignments with Teredo, documentation, 6to4, AS112, documentation. */
const SPECIAL_IPV6 = '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20';

/**
 * The addresses of clouds' metadata services, which give credentials to every caller inside. Opened only by an entry for this one
 * address.
 */
const METADATA =
  `169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.253 100.100.100.200 192.0.0.192 168.63.129.16
  fd00:ec2::254 fd00:ec2::23 fd20:ce::254`.split(/\s+/);

/** This machine and its link. Opened only by an entry that lies within one of these, so that `0.0.0.0/1` does not. */
const NEAR = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::/127', 'fe80::/10'];

/** What development may reach: this machine and private networks, on any port. */
export const DEVELOPMENT_RULES: AddressRules = {
  allowHttp: true,
  allowedNetworks: ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  ports: 'any',
};

function splitNetwork(network: string): { address: string; bits: number } {
  const [address, bits] = network.split('/') as [string, string?];
  return { address, bits: Number(bits ?? (isIP(address) === 6 ? 128 : 32)) };
}

const isSpecialIpv4 = inNetworks(SPECIAL_IPV4.split(/\s+/));
const isGlobalIpv6 = inNetworks([GLOBAL_IPV6]);
const isSpecialIpv6 = inNetworks(SPECIAL_IPV6.split(' '));
const near = NEAR.map((network) => ({ bits: splitNetwork(network).bits, holds: inNetworks([network]) }));
const isUnspecified = inNetworks(['::/127']);
const isMetadata = inNetworks(METADATA);

/** Where an IPv6 prefix (leading bytes) says that an IPv4 address is embedded, by the positions of its four bytes. */
const EMBEDDINGS: { prefix: number[]; at: number[]; inverted?: true }[] = [
  { prefix: Array<number>(12).fill(0), at: [12, 13, 14, 15] }, // IPv4-compatible (RFC 4291)
  { prefix: [...Array<number>(10).fill(0), 255, 255], at: [12, 13, 14, 15] }, // IPv4-mapped (RFC 4291)
  { prefix: [...Array<number>(8).fill(0), 255, 255, 0, 0], at: [12, 13, 14, 15] }, // IPv4-translated (RFC 2765)
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], at: [12, 13, 14, 15] }, // NAT64 (RFC 6052)
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 1], at: [12, 13, 14, 15] }, // NAT64 of one network (RFC 8215)
  { prefix: [0x20, 0x02], at: [2, 3, 4, 5] }, // 6to4 (RFC 3056)
  { prefix: [0x20, 0x01, 0, 0], at: [4, 5, 6, 7] }, // Teredo's server (RFC 4380)
  { prefix: [0x20, 0x01, 0, 0], at: [12, 13, 14, 15], inverted: true }, // Teredo's client
];

/**
 * Every IPv4 address that an IPv6 address embeds, in any form; `::` and `::1` embed none. ISATAP (RFC 5214) embeds one behind any prefix.
 */
function embeddedIpv4(address: string): string[] {
  if (isIP(address) !== 6 || isUnspecified(address)) return [];
  const bytes = ipv6Groups(address).flatMap(twoBytes);
  const found = EMBEDDINGS.filter(({ prefix }) => prefix.every((byte, i) => bytes[i] === byte)).map(
    ({ at, inverted }) => at.map((i) => bytes[i]! ^ (inverted ? 255 : 0)).join('.'),
  );
  const isIsatap = (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return isIsatap ? [...found, bytes.slice(12).join('.')] : found;
}

/** Whether an address is a public host of the Internet. False for what is no IP address, and for one with a zone. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !isSpecialIpv4(address);
  if (isIP(address) !== 6 || address.includes('%')) return false;
  const isGlobal = isGlobalIpv6(address) && !isSpecialIpv6(address);
  return isGlobal && embeddedIpv4(address).every(isPublicAddress);
}

/** Entries of `allowedNetworks` that were looked into. They come out of the configuration, so they are few. */
const entries = new Map<string, ReturnType<typeof inNetworks>>();

function entryHolds(entry: string, address: string): boolean {
  const holds = entries.get(entry) ?? inNetworks([entry]);
  entries.set(entry, holds);
  return holds(address);
}

/** Whether an entry of `allowedNetworks` opens an address. */
function opens(entry: string, address: string): boolean {
  const { address: base, bits } = splitNetwork(entry);
  // A list of IPv6 networks also finds IPv4 addresses, as the mapped ones that they are not.
  if ((isIP(base) === 6 && isIP(address) === 4) || !entryHolds(entry, address)) return false;
  if (isMetadata(address) && bits !== (isIP(base) === 6 ? 128 : 32)) return false;
  const around = near.find(({ holds }) => holds(address));
  return !around || (around.holds(base) && bits >= around.bits);
}

/** Whether a connection may be made to an address, as a resolver gave it. Each IPv4 address inside it must be allowed too. */
export function mayConnect(address: string, rules: Pick<AddressRules, 'allowedNetworks'>): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  if (isPublicAddress(address)) return true;
  if (!rules.allowedNetworks.some((entry) => opens(entry, address))) return false;
  return embeddedIpv4(address).every((inner) => mayConnect(inner, rules));
}

/**
 * Returns what is wrong with the URL of an endpoint, as a sentence, or undefined. The addresses behind its name are checked at each
 * attempt.
 */
export function checkUrl(url: string, rules: AddressRules): string | undefined {
  if (url.length > URL_CHARACTERS) return `Must be at most ${URL_CHARACTERS} characters.`;
  const mayBePlain = rules.allowHttp || rules.allowedNetworks.length > 0;
  if (!mayBePlain && !/^https:/i.test(url)) return 'Must be an https URL.';
  const fault = webAddressFault(url, { httpsOnly: false });
  if (fault) return fault;
  const { hostname, port, protocol } = new URL(url);
  const isAddress = hostname.startsWith('[') || isIP(hostname.replace(/\.$/, '')) !== 0;
  const isThisMachine = isLoopbackHost(hostname) && mayConnect(hostname.replace(/^\[|\]$/g, ''), rules);
  if (isAddress && !(rules.allowHttp && isThisMachine))
    return 'Must name its host: an IP address is not allowed.';
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  if (number === 443 || rules.ports === 'any' || rules.ports.includes(number)) return undefined;
  return `Must have port ${[443, ...rules.ports].join(' or ')}.`;
}
