// A PostgreSQL connection string: the hosts it names, and what it says that matters to others.
import { isIPv6 } from 'node:net';
import { tried } from '../lib/tried.ts';
import { isLoopbackHost } from '../lib/web-address.ts';

const DEFAULT_PORT = '5432';
const MOST_HOSTS = 8;

/** Its parts: scheme and user, hosts as written, and what stands behind them. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^?#]*)(?:\?([^#]*))?/;

/** So nothing that stands in a password is taken for anything else: hosts, a database, a parameter. */
const CUT_SHORT =
  'has a #, / or ? before an @: in a password, a name or a parameter, # / ? @ and % are written percent-encoded, such as # as %23';

/** One host of a connection string. */
export interface PostgresHost {
  /** `db1.internal:5432`, as messages name it. */
  name: string;
  /** The connection string for this host alone. Holds the password. */
  url: string;
}

/** The parameter of a connection string (`postgres://…`) that sets options or deadlines of sessions, or undefined. */
export function overridingParameter(url: string): string | undefined {
  const names = [...new URLSearchParams(url.split('?')[1])].map(([name]) => name);
  return names.find((name) => /^options$|timeout/i.test(name));
}

/** Why the hosts of a connection string cannot be made out, as the end of a sentence; undefined where they can. */
export function hostsFault(url: string): string | undefined {
  const parts = partsOf(url);
  if (!parts) return 'must begin with postgres://';
  return isCutShort(url, parts) ? CUT_SHORT : faultIn(parts);
}

/** An @ behind what was taken for the hosts: they may stand there, and what was taken for them is half a password. */
function isCutShort(url: string, { user }: Parts): boolean {
  return url.slice(user.length).includes('@');
}

function faultIn({ hosts, ports, parameters }: Parts): string | undefined {
  const attributes = parameters.get('target_session_attrs') ?? 'read-write';
  if (attributes !== 'read-write')
    return 'must not ask for other target_session_attrs than read-write, which is what the service needs';
  if (hosts.length > MOST_HOSTS) return `must name at most ${MOST_HOSTS} hosts`;
  if (hosts.length > 1 && hosts.includes('')) return 'must not name an empty host';
  if (ports.length !== 1 && ports.length !== hosts.length)
    return 'must give one port for all hosts, or one for each';
  if (
    !ports.every(
      (port) => port === '' || (/^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536),
    )
  )
    return 'must have port numbers from 1 to 65535';
  return undefined;
}

/**
 * The hosts of a connection string in libpq's form (PostgreSQL manual, 34.1.1.3): `postgres://user@one:5432,two:5433/name`, or
 * `?host=one,two&port=5432,5433`. Of a string that `hostsFault` finds nothing wrong with.
 */
export function hostsOf(url: string): PostgresHost[] {
  const { user, hosts, ports, path, parameters } = partsOf(url)!;
  if (hosts.length === 1) return [{ name: `${hosts[0]}:${ports[0] || DEFAULT_PORT}`, url }];
  return hosts.map((host, position) => {
    const port = ports[ports.length === 1 ? 0 : position] || DEFAULT_PORT;
    const own = new URLSearchParams(parameters);
    own.set('host', host);
    own.set('port', port);
    const name = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
    // PostgreSQL ignores the host part if the parameters come before it.
    return { name, url: `${user}host${path}?${own}` };
  });
}

/**
 * The database of a connection string as messages name it: `shop on db1.internal:5432`. Never holds the password. Returns undefined if
 * the name cannot be separated from the rest.
 */
export function databaseName(url: string): string {
  const parts = partsOf(url);
  if (!parts || isCutShort(url, parts)) return '';
  const database = decoded(parts.path.slice(1));
  const hosts = hostsOf(url).flatMap(({ name }) => (name.startsWith(':') ? [] : [name]));
  return [database, hosts.join(', ')].filter((part) => part !== '').join(' on ');
}

/**
 * Whether a connection string leaves a database on another machine without encryption: unlike libpq, node-postgres encrypts only
 * where it is asked to, and then takes no server that refuses it, whatever mode is named.
 */
export function speaksInTheClear(url: string): boolean {
  const parts = partsOf(url);
  return parts !== undefined && !parts.hosts.every(isHere) && !asksForEncryption(parts.parameters);
}

/** As pg-connection-string reads it. */
function asksForEncryption(parameters: URLSearchParams): boolean {
  const mode = parameters.get('sslmode');
  if (mode) return mode !== 'disable';
  if (['sslcert', 'sslkey', 'sslrootcert'].some((name) => parameters.get(name))) return true;
  const ssl = parameters.get('ssl');
  return ssl ? ssl !== '0' : ssl === null && parameters.get('sslnegotiation') === 'direct';
}

/** Whether a host is this machine: none at all, a folder with a socket in it, or a loopback address. */
function isHere(host: string): boolean {
  return host === '' || host.startsWith('/') || isLoopbackHost(isIPv6(host) ? `[${host}]` : host);
}

interface Parts {
  user: string;
  /** Without the brackets of IPv6. */
  hosts: string[];
  /** One port for each host, or one for all of them. Empty if the connection string has no port. */
  ports: string[];
  path: string;
  parameters: URLSearchParams;
}

function partsOf(url: string): Parts | undefined {
  const [, user, authority, path, query] = PARTS.exec(url) ?? [];
  if (user === undefined) return undefined;
  // Of two of a name the last counts, to node-postgres as well.
  const parameters = new URLSearchParams(Object.fromEntries(new URLSearchParams(query)));
  const written = authority!.split(',').map((one) => /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(one));
  const named = parameters.get('host')?.split(',');
  const hosts = named ?? written.map((one) => decoded(one?.[1] ?? ''));
  const ports = parameters.get('port')?.split(',') ?? (named ? [''] : written.map((one) => one?.[2] ?? ''));
  return {
    user,
    hosts: hosts.map((host) => host.replace(/^\[(.*)\]$/, '$1')),
    ports,
    path: path!,
    parameters,
  };
}

const decoded = (text: string): string => tried(() => decodeURIComponent(text), text);
