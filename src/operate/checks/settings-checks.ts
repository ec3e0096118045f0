// Checks that the settings alone answer: keys, addresses, proxies, nodes, accounts, and the connection to the database.

import { isHttps } from '../../lib/web-address.ts';
import { overridingParameter, speaksInTheClear } from '../../store/connection-string.ts';
import { isWideNetwork } from '../../web/network.ts';
import { failed, ok, type SettingsCheck, skipped, warning } from './check.ts';

const development_key: SettingsCheck = {
  id: 'development_key',
  about: 'Development key',
  stage: 'read',
  look({ settings: { written } }) {
    const key = written.keys.find(({ isDevelopmentKey }) => isDevelopmentKey);
    if (!key) return ok('The development key is not there');
    return failed(
      `${key.name} is the development key, which everybody knows`,
      'make another with `counterfoil keys create` and remove this one',
      key.where,
    );
  },
};

const plain_keys: SettingsCheck = {
  id: 'plain_keys',
  about: 'Keys in the file',
  stage: 'read',
  look({ settings: { written } }) {
    const key = written.keys.find(({ isPlain, isDevelopmentKey }) => isPlain && !isDevelopmentKey);
    if (!key) return ok('The configuration holds digests of keys, no key itself');
    return failed(
      `${key.name} is a plain key, which only development allows`,
      'put its SHA-256 under key_sha256',
      key.where,
    );
  },
};

const https: SettingsCheck = {
  id: 'https',
  about: 'Base URL',
  stage: 'read',
  look({ settings, urls }) {
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
  },
};

const transport: SettingsCheck = {
  id: 'transport',
  about: 'Proxy or certificate',
  stage: 'read',
  look({ settings: { trust_proxy, tls, written } }) {
    if (tls) return ok('The service speaks HTTPS itself');
    if (trust_proxy.length > 0) return ok(`The proxy at ${trust_proxy.join(', ')} speaks HTTPS`);
    // Without it, all customers would count as one, and one of them could use up what all may send.
    return failed(
      'trust_proxy is missing',
      'list the address of the proxy that speaks https, 127.0.0.1 where it runs on this machine; or set tls, to speak https without one',
      written.place(['trust_proxy']),
    );
  },
};

const trusted_proxies: SettingsCheck = {
  id: 'trusted_proxies',
  about: 'Trusted proxies',
  stage: 'read',
  look({ settings: { trust_proxy, written } }) {
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
  },
};

const nodes: SettingsCheck = {
  id: 'nodes',
  about: 'Nodes',
  stage: 'start',
  look({ settings: { nodes, database_url, written } }) {
    if (nodes > 1 && database_url === null)
      return failed(
        `nodes is ${nodes}, and SQLite takes one`,
        'set nodes to 1, or database_url to a PostgreSQL that they share',
        written.place(['nodes']),
      );
    return ok(nodes === 1 ? 'One node serves' : `${nodes} nodes share a PostgreSQL`);
  },
};

/** The accounts of the counterfoil.yaml that a clone comes with. */
const SAMPLE_NUMBERS = new Set(['DE89370400440532013000', '000123456789']);

const sample_accounts: SettingsCheck = {
  id: 'sample_accounts',
  about: 'Bank accounts',
  stage: 'start',
  atReload: true,
  look({ settings: { methods, written } }) {
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
};

const database_url: SettingsCheck = {
  id: 'database_url',
  about: 'Connection string',
  stage: 'start',
  look({ settings: { database_url: url, written } }) {
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
};

const console_apart: SettingsCheck = {
  id: 'console_apart',
  about: "The console's host",
  stage: 'later',
  look({ settings, urls }) {
    if (new URL(urls.console).hostname !== new URL(urls.checkout).hostname)
      return ok('The console has a host name of its own');
    return warning(
      'The console has the same host name as checkout: customers see where reviewers sign in',
      'give it another with console.base_url, and let only your own network reach that',
      settings.written.place(['console']),
    );
  },
};

/** In the order in which a start asks them. */
export const READ_CHECKS: readonly SettingsCheck[] = [
  development_key,
  plain_keys,
  https,
  transport,
  trusted_proxies,
];
export const SETTINGS_CHECKS: readonly SettingsCheck[] = [nodes, sample_accounts, database_url];
export const LATER_SETTINGS_CHECKS: readonly SettingsCheck[] = [console_apart];
