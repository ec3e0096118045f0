// What PostgreSQL's own tools are given to reach a database: what node-postgres makes of the same string, TLS above all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { libpqEnvironment } from '../../src/store/libpq-environment.ts';

const read = (url: string, environment = {}) => libpqEnvironment(url, environment, '/roots.pem');

test('hosts, ports, account, database and password are what the service reads in the string', () => {
  for (const [url, host, port, password] of [
    [
      'postgres://pay:not:known@to%anybody@db.internal:5433/shop',
      'db.internal',
      '5433',
      'not:known@to%anybody',
    ],
    ['postgres://pay:p%40ss%25@[::1]/shop', '::1', '5432', 'p@ss%'],
    ['postgres://pay@/shop?host=/run/postgresql&password=a%26b', '/run/postgresql', '5432', 'a&b'],
    ['postgres://pay:x@one:5433,two/shop', 'one,two', '5433,5432', 'x'],
  ] as const) {
    const { PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD, PGTARGETSESSIONATTRS } = read(url);
    assert.deepEqual([PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD], [host, port, 'pay', 'shop', password]);
    assert.equal(PGTARGETSESSIONATTRS, host.includes(',') ? 'read-write' : undefined, url);
  }
});

test('a host is believed on no less proof than the service asks for', () => {
  const certificate = process.env.NODE_EXTRA_CA_CERTS ?? import.meta.filename; // node-postgres reads it, and looks at nothing in it
  for (const [parameters, mode, roots] of [
    ['', 'disable', undefined],
    ['sslmode=disable', 'disable', undefined],
    ['sslmode=require', 'verify-full', '/roots.pem'],
    ['sslmode=verify-full', 'verify-full', '/roots.pem'],
    [`sslmode=verify-full&sslrootcert=${certificate}`, 'verify-full', certificate],
    [`sslmode=verify-ca&uselibpqcompat=true&sslrootcert=${certificate}`, 'verify-ca', certificate],
    ['sslmode=no-verify', 'require', '/nonexistent'],
    ['ssl=true', 'verify-full', '/roots.pem'],
  ] as const) {
    const { PGSSLMODE, PGSSLROOTCERT } = read(`postgres://pay@db.internal/shop?${parameters}`);
    assert.deepEqual([PGSSLMODE, PGSSLROOTCERT], [mode, roots], parameters);
  }
});

test('of what else libpq would read in the environment, which the service does not, only the password file is left', () => {
  const environment = {
    PATH: '/bin',
    PGSERVICE: 'other',
    PGHOSTADDR: '10.0.0.1',
    PGOPTIONS: '-c x=y',
    PGPASSFILE: '/f',
  };
  const { PATH, PGPASSFILE, ...rest } = read('postgres://pay@db.internal/shop', environment);
  assert.deepEqual([PATH, PGPASSFILE], ['/bin', '/f']);
  for (const name of ['PGSERVICE', 'PGHOSTADDR', 'PGOPTIONS']) assert.equal(Object.hasOwn(rest, name), false);
});
