// Checks that the settings alone answer: keys, addresses, ports and paths, proxies, nodes, accounts, the database.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isHttps, pathOf } from '../../lib/web-address.ts';
import { overridingParameter, speaksInTheClear } from '../../store/connection-string.ts';
import { inNetworks, isWideNetwork } from '../../web/network.ts';
import { DEVELOPMENT_RULES } from '../../webhooks/addresses.ts';
import {
  check,
  checkTable,
  failed,
  failedForNow,
  type Installation,
  ok,
  settingsCheck,
  skipped,
  type Verdict,
  warning,
} from './check.ts';

/** In the order in which a start asks them. */
export const READ_CHECKS = checkTable({
  development_key: settingsCheck('Development key', 'read', ({ settings: { written } }) => {
    const key = written.keys.find(({ isDevelopmentKey }) => isDevelopmentKey);
    if (!key) return ok('The development key is not there');
    return failed(
      `${key.name} is the development key, which everybody knows`,
      'make another with `counterfoil keys create` and remove this one',
      key.where,
    );
  }),
  plain_keys: settingsCheck('Keys in the file', 'read', ({ settings: { written } }) => {
    const key = written.keys.find(({ isPlain, isDevelopmentKey }) => isPlain && !isDevelopmentKey);
    if (!key) return ok('The configuration holds digests of keys, no key itself');
    return failed(
      `${key.name} is a plain key, which only development allows`,
      'put its SHA-256 under key_sha256',
      key.where,
    );
  }),
  https: settingsCheck('Base URL', 'read', ({ settings, urls }) => {
    const { written } = settings;
    if (settings.base_url === null)
      return failed(
        'base_url is missing',
        settings.environment === 'development'
          ? 'production needs an https URL'
          : 'production, which is the default environment, needs an https URL',
        written.place(['base_url']),
      );
    for (const [path, set, url] of [
      [['base_url'], settings.base_url, urls.public],
      [['checkout_base_url'], settings.checkout_base_url, urls.checkout],
      [['console', 'base_url'], settings.console.base_url, urls.console],
      [['admin', 'base_url'], settings.admin.base_url, urls.admin],
    ] as const) {
      if (isHttps(url)) continue;
      if (!set)
        return failed(
          `${path[0]} needs a base_url in production`,
          'the https URL that the proxy passes on to its port',
          written.place(path),
        );
      return failed(
        `${path.join('.')} must be an https URL in production`,
        'write the one that the proxy answers at, or the service itself with tls',
        written.place(path),
      );
    }
    return ok('Every address is reached by https');
  }),
  transport: settingsCheck('Proxy or certificate', 'read', ({ settings: { trust_proxy, tls, written } }) => {
    if (tls) return ok('The service speaks HTTPS itself');
    if (trust_proxy.length > 0) return ok(`The proxy at ${trust_proxy.join(', ')} speaks HTTPS`);
    // Without it, all customers would count as one, and one of them could use up what all may send.
    return failed(
      'trust_proxy is missing',
      'list the address of the proxy that speaks https, 127.0.0.1 where it runs on this machine; or set tls, to speak https without one',
      written.place(['trust_proxy']),
    );
  }),
  trusted_proxies: settingsCheck('Trusted proxies', 'read', ({ settings: { trust_proxy, written } }) => {
    const wide = trust_proxy.findIndex(isWideNetwork);
    if (wide === -1)
      return trust_proxy.length === 0
        ? ok('No proxy is trusted, and customers are told apart by where they call from')
        : ok('The proxies that are trusted are few');
    return failed(
      `trust_proxy[${wide}] is so large that strangers are in it, who could claim any address`,
      'name the proxies alone',
      written.place(['trust_proxy', wide]),
    );
  }),
  places: settingsCheck('Ports and paths', ['read', 'always'], (installation) => {
    const met = addressesMeet(installation) ?? pathsMeet(installation);
    return met ?? ok('No two parts of the service share a port or a path');
  }),
});

export const SETTINGS_CHECKS = checkTable({
  nodes: settingsCheck('Nodes', 'start', ({ settings: { nodes, database_url, written } }) => {
    if (nodes > 1 && database_url === null)
      return failed(
        `nodes is ${nodes}, and SQLite takes one`,
        'set nodes to 1, or database_url to a PostgreSQL that they share',
        written.place(['nodes']),
      );
    return ok(nodes === 1 ? 'One node serves' : `${nodes} nodes share a PostgreSQL`);
  }),
  sample_accounts: settingsCheck(
    'Bank accounts',
    ['start', 'atReload'],
    ({ settings: { methods, written } }) => {
      for (const [m, { accounts }] of methods.entries()) {
        const a = accounts.findIndex(({ iban, rows }) =>
          [iban ?? '', ...(rows ?? []).map(({ value }) => value)].some((number) =>
            SAMPLE_NUMBERS.has(number.replace(/[\s.-]/g, '').toUpperCase()),
          ),
        );
        if (a !== -1)
          return failed(
            `methods[${m}].accounts[${a}] is a sample account: customers would pay somebody else`,
            'put in your own, or remove it',
            written.place(['methods', m, 'accounts', a]),
          );
      }
      const accounts = methods.flatMap((method) => method.accounts);
      if (accounts.length === 0) return ok('No account is a sample');
      const holders = new Set(accounts.map(({ holder, currency }) => `${currency} ${holder}`));
      return ok(
        `No account is a sample. Payers' banks compare the holder letter by letter: ${[...holders].join(', ')}`,
      );
    },
  ),
  database_url: settingsCheck(
    'Connection string',
    'start',
    ({ settings: { database_url: url, written } }) => {
      if (url === null) return skipped('The store is SQLite: database_url is not set');
      const parameter = overridingParameter(url);
      if (parameter !== undefined)
        return failed(
          `database_url sets ${parameter}, with which it could overrule what the service promises`,
          'remove it there',
          written.place(['database_url']),
        );
      if (speaksInTheClear(url))
        return warning(
          'database_url asks for no encryption, and the database is not on this machine: what is stored crosses the network in the clear',
          'write sslmode=verify-full, or let both be in a network that is yours alone',
          written.place(['database_url']),
        );
      return ok('The connection string overrules nothing');
    },
  ),
  metrics_address: check('Measurements', 'start', async ({ settings: { metrics, written } }) => {
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
    const open = addresses.find(({ address }) => !isPrivate(address));
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
  }),
});

/** The accounts of the counterfoil.yaml that a clone comes with. */
const SAMPLE_NUMBERS = new Set(['DE89370400440532013000', '000123456789']);

export const LATER_SETTINGS_CHECKS = checkTable({
  console_apart: settingsCheck("The console's host", 'later', ({ settings, urls }) => {
    if (new URL(urls.console).hostname !== new URL(urls.checkout).hostname)
      return ok('The console has a host name of its own');
    return warning(
      'The console has the same host name as checkout: customers see where reviewers sign in',
      'give it another with console.base_url, and let only your own network reach that',
      settings.written.place(['console']),
    );
  }),
});

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

const isPrivate = inNetworks([
  ...DEVELOPMENT_RULES.allowedNetworks,
  '169.254.0.0/16',
  '100.64.0.0/10',
  'fe80::/10',
]);

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
