// Checks of where everything is: that no two places meet, and that strangers reach no measurements.
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { pathOf } from '../../lib/web-address.ts';
import {
  type Check,
  failed,
  failedForNow,
  type Installation,
  ok,
  type SettingsCheck,
  skipped,
  type Verdict,
} from './check.ts';

const places: SettingsCheck = {
  id: 'places',
  about: 'Ports and paths',
  stage: 'read',
  always: true,
  look(installation) {
    const met = addressesMeet(installation) ?? pathsMeet(installation);
    return met ?? ok('No two parts of the service share a port or a path');
  },
};

/** The first two addresses to listen on that the system would not give beside one another. */
function addressesMeet({ settings: { metrics, written }, listeners }: Omit<Installation, 'env'>) {
  const addresses = [
    ...listeners.map(({ host, port, sites }, i) => ({
      path: i === 0 ? ['port'] : [sites[0]!.surfaces[0]!, 'port'],
      host,
      port,
    })),
    ...(metrics ? [{ path: ['metrics', 'port'], ...metrics }] : []),
  ];
  for (const [i, later] of addresses.entries())
    for (const earlier of addresses.slice(0, i))
      if (later.port !== 0 && later.port === earlier.port && hostsMeet(later.host, earlier.host))
        return failed(
          `${later.path.join('.')} is ${later.port} at ${later.host}, where ${earlier.path.join('.')} is already${later.host === earlier.host ? '' : ` (at ${earlier.host})`}`,
          'choose another port',
          written.place(later.path),
        );
  return undefined;
}

/** Every address of this machine; as IPv6, those of IPv4 as well. */
const EVERY_IPV4 = new Set(['0.0.0.0', '0']);
const EVERY_ADDRESS = '::';

/** Whether one port cannot be listened on at both. Of names `localhost` alone is known; what others come to, the start finds out. */
function hostsMeet(...hosts: [string, string]): boolean {
  const [one, other] = hosts.map((host) => host.toLowerCase()) as [string, string];
  const either = (test: (host: string, beside: string) => boolean) => test(one, other) || test(other, one);
  return (
    one === other ||
    either((host) => host === EVERY_ADDRESS) ||
    either((host, beside) => EVERY_IPV4.has(host) && isIP(beside) !== 6) ||
    either((host, beside) => host === 'localhost' && (beside === '127.0.0.1' || beside === '::1'))
  );
}

/** The first two paths of one site that lead into one another. */
function pathsMeet(installation: Omit<Installation, 'env'>): Verdict | undefined {
  for (const { surfaces } of installation.listeners.flatMap(({ sites }) => sites)) {
    const mounts = surfaces.flatMap((surface) => mountsOf(surface, installation));
    for (const [i, later] of mounts.entries()) {
      const earlier = mounts.slice(0, i).find(({ at }) => nested(at, later.at));
      if (!earlier) continue;
      const { setting } = later.isSet ? later : earlier; // what is not set follows from what is
      return failed(
        `${setting.join('.')} makes two places meet: ${earlier.at} and ${later.at}`,
        'give it another path, or a host name of its own',
        installation.settings.written.place(setting),
      );
    }
  }
  return undefined;
}

interface Mount {
  at: string;
  setting: string[];
  isSet: boolean;
}

/** Everything that a surface answers at, but for what its pages load. */
function mountsOf(
  surface: 'public' | 'console' | 'admin',
  { settings, urls }: Omit<Installation, 'env'>,
): Mount[] {
  const below = (url: string, setting: string[], isSet: boolean, ...names: string[]) =>
    names.map((name) => ({ at: `${pathOf(url)}/${name}`, setting, isSet }));
  if (surface !== 'public')
    return below(urls[surface], [surface, 'base_url'], settings[surface].base_url !== undefined, surface);
  const checkoutIsSet = settings.checkout_base_url !== null;
  return [
    ...below(urls.public, ['base_url'], true, 'v1', 'register', 'openapi.json', 'health'),
    ...below(urls.checkout, ['checkout_base_url'], checkoutIsSet, 'payment.php', 'csp-report'),
  ];
}

const nested = (one: string, other: string) =>
  `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv6');

const metrics_address: Check = {
  id: 'metrics_address',
  about: 'Measurements',
  stage: 'start',
  async look({ settings: { metrics, written } }) {
    if (!metrics) return skipped('Metrics are not served: metrics is not set');
    const { host } = metrics;
    const where = written.place(['metrics', 'host']);
    const addresses = await addressesOf(host);
    if (addresses.length === 0)
      return failedForNow(
        `metrics.host is ${host}, for which no address is known`,
        'write an address of this machine',
        where,
      );
    const open = addresses.find(({ address, family }) => !PRIVATE.check(address, `ipv${family}`));
    if (!open) return ok(`Measurements are given at ${host} alone`);
    const told = open.address === host ? host : `${host} (${open.address})`;
    const isEvery = open.address === '0.0.0.0' || open.address === EVERY_ADDRESS;
    return failed(
      `metrics.host is ${told}, which strangers may reach, and measurements need no password`,
      isEvery
        ? "write 127.0.0.1, or this machine's or container's own address in the network that monitoring is in"
        : 'write 127.0.0.1, or an address of the network that monitoring is in',
      where,
    );
  },
};

/** The addresses that listening on a host comes to: names are looked up, and so is what only looks like none (`0`, `0x0`). */
async function addressesOf(host: string): Promise<{ address: string; family: 4 | 6 }[]> {
  try {
    const found = await lookup(host, { all: true });
    return found.map(({ address, family }) => ({
      address: address.split('%')[0]!,
      family: family === 4 ? 4 : 6,
    }));
  } catch {
    return [];
  }
}

/** In the order in which a start asks them. */
export const READ_PLACE_CHECKS: readonly SettingsCheck[] = [places];
export const PLACE_CHECKS: readonly Check[] = [metrics_address];
