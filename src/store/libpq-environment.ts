// The environment in which PostgreSQL's own tools reach the very database that the service does, with the same proof of who it is.
import pg from 'pg';
import { hostsOf } from './connection-string.ts';

/** In seconds: what does not answer by then is not there. */
const CONNECT_TIMEOUT_S = 10;

/**
 * The variables of libpq (PostgreSQL manual, 34.15) that say what a connection string says, as node-postgres reads it, over an
 * `environment` of which only the password file stays of what libpq reads. `roots`: a file with the certificates that Node.js trusts,
 * for where the string names none. Of a string that `hostsFault` finds nothing wrong with.
 */
export function libpqEnvironment(url: string, environment: object, roots: string): Record<string, string> {
  const clients = hostsOf(url).map((one) => new pg.Client({ connectionString: one.url }));
  const { user, password, database, ssl } = clients[0]! as (typeof clients)[0] & { ssl: Tls };
  const ours = {
    PGHOST: clients.map(({ host }) => host).join(),
    PGPORT: clients.map(({ port }) => port).join(),
    // The service uses none but this one of several, and a snapshot is known where it was taken alone.
    PGTARGETSESSIONATTRS: clients.length > 1 ? 'read-write' : undefined,
    PGUSER: user,
    PGPASSWORD: password ?? undefined,
    PGDATABASE: database,
    PGCONNECT_TIMEOUT: String(CONNECT_TIMEOUT_S),
    ...tlsEnvironment(ssl, new URLSearchParams(url.split('?')[1]), roots),
  };
  const kept = Object.entries(environment).filter(
    ([name]) => name === 'PGPASSFILE' || !name.startsWith('PG'),
  );
  return Object.fromEntries([...kept, ...Object.entries(ours)].filter(([, value]) => value !== undefined));
}

/** If this file of certificates exists, libpq verifies by it although no setting asks for that. */
const NO_FILE = '/nonexistent';

/** What node-postgres makes of the parameters for TLS. */
type Tls = boolean | { rejectUnauthorized?: boolean; checkServerIdentity?: unknown };

/** The words of libpq mean less than the same words mean to node-postgres, to which `require` verifies the host's certificate. */
function tlsEnvironment(ssl: Tls, parameters: URLSearchParams, roots: string) {
  if (ssl === false) return { PGSSLMODE: 'disable' };
  const { rejectUnauthorized = true, checkServerIdentity } = ssl === true ? {} : ssl;
  const verifying = checkServerIdentity === undefined ? 'verify-full' : 'verify-ca';
  return {
    PGSSLMODE: rejectUnauthorized ? verifying : 'require',
    PGSSLROOTCERT: rejectUnauthorized ? (parameters.get('sslrootcert') ?? roots) : NO_FILE,
    PGSSLCERT: parameters.get('sslcert') ?? undefined,
    PGSSLKEY: parameters.get('sslkey') ?? undefined,
    PGSSLNEGOTIATION: parameters.get('sslnegotiation') ?? undefined,
  };
}
