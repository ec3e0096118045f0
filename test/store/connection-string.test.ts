// Connection strings: one host or several, as libpq writes them, each with its port; what is wrong with one is said in words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { databaseName, hostsFault, hostsOf, speaksInTheClear } from '../../src/store/connection-string.ts';

/** What node-postgres makes of each host's own string. */
function read(url: string): { name: string; host: string; port: number; database: string | undefined }[] {
  assert.equal(hostsFault(url), undefined, url);
  return hostsOf(url).map((one) => {
    const { host, port, database, user } = new pg.Client(one.url);
    assert.equal(user, url.includes('user') ? 'user' : process.env.USER, one.url);
    return { name: one.name, host, port, database };
  });
}

test('each host of a connection string has its own port, or the one for all, or 5432.', () => {
  for (const [url, expected] of [
    ['postgres://user:p%40w@one/shop', ['one:5432']],
    ['postgres://user@one:5433/shop', ['one:5433']],
    ['postgresql://user:p%40w@one:5432,two:5433/shop?sslmode=disable', ['one:5432', 'two:5433']],
    ['postgres://user@one,two,three:1/shop', ['one:5432', 'two:5432', 'three:1']],
    ['postgres://user@/shop?host=one,two&port=5432,5433', ['one:5432', 'two:5433']],
    ['postgres://user@/shop?host=one,two&port=6000', ['one:6000', 'two:6000']],
    ['postgres://user@/shop?host=one,two', ['one:5432', 'two:5432']],
    ['postgres://user@[2001:db8::1]:5433,[::1]/shop', ['[2001:db8::1]:5433', '[::1]:5432']],
    ['postgres://user@%2Frun%2Fpg,two:5433/shop', ['/run/pg:5432', 'two:5433']],
    ['postgres://user@one,two/shop?target_session_attrs=read-write', ['one:5432', 'two:5432']],
  ] as const) {
    const found = read(url);
    assert.deepEqual(
      found.map(({ name }) => name),
      expected,
      url,
    );
    for (const { name, host, port, database } of found) {
      assert.equal(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, name, url);
      assert.equal(database, 'shop', url);
    }
  }
});

test('what else stands in the string is kept for each host: the password, the parameters.', () => {
  const hosts = hostsOf('postgres://user:p%40w%2F@one,two/shop?application_name=x%26y&sslmode=disable');
  for (const { url } of hosts) {
    const client = new pg.Client(url);
    assert.equal(client.password, 'p@w/');
    assert.equal(client.ssl, false);
    assert.match(url, /application_name=x%26y/);
  }
});

test('of a password with what belongs encoded it is said how that is written, and nothing of it repeated', () => {
  const encoded = /percent-encoded, such as # as %23$/;
  for (const character of ['#', '/', '?'])
    for (const url of [
      `postgres://user:se${character}cret@one/shop`,
      `postgres://user:se,x${character}cret@one/shop`,
      `postgres://user:1234${character}cret@one/shop`,
      `postgres://user:12@34${character}cret@one/shop`,
      `postgres://user:1234${character}cret=x@one/shop`,
    ]) {
      assert.match(hostsFault(url) ?? 'nothing', encoded, url);
      assert.doesNotMatch(hostsFault(url) ?? '', /cret|se[^a-z]|12|34/);
      assert.equal(databaseName(url), '', url);
    }
  assert.equal(hostsFault('postgres://user:100%@one/shop'), undefined, 'as node-postgres takes it');
  assert.doesNotMatch(hostsFault('postgres://user:secret@one:port/shop') ?? '', encoded);
});

test('a database is named by its name and its hosts, without what lets anybody in', () => {
  for (const [url, expected] of [
    ['postgres://user:p%40w@one/shop', 'shop on one:5432'],
    ['postgres://user:p%40w@one:5433,two/the%20shop?sslmode=disable', 'the shop on one:5433, two:5432'],
    ['postgres:///shop?host=/run/postgresql', 'shop on /run/postgresql:5432'],
    ['postgres://user@one', 'one:5432'],
    ['postgres:///shop', 'shop'],
    ['postgres://user:1/secret@one/shop', ''],
    ['postgres://user:p@w@one/shop?application_name=me%40x', 'shop on one:5432'],
  ] as const)
    assert.equal(databaseName(url), expected, url);
});

test('a string whose hosts cannot be made out is refused in words that repeat nothing of it.', () => {
  for (const [url, said] of [
    ['mysql://user:secret@one/shop', /^must begin with postgres:/],
    ['postgres://user:secret@one,,two/shop', /^must not name an empty host$/],
    [
      'postgres://user:secret@/shop?host=one,two&port=1,2,3',
      /^must give one port for all hosts, or one for each$/,
    ],
    ['postgres://user:secret@one:port,two/shop', /^must have port numbers from 1 to 65535$/],
    ['postgres://user:secret@one:65536,two/shop', /^must have port numbers from 1 to 65535$/],
    ['postgres://user:secret@one:0/shop', /^must have port numbers from 1 to 65535$/],
    [
      'postgres://user:secret@one,two/shop?target_session_attrs=any',
      /^must not ask for other target_session_attrs/,
    ],
    [
      'postgres://user:secret@one/shop?target_session_attrs=standby',
      /^must not ask for other target_session_attrs/,
    ],
    [`postgres://user:secret@${Array(9).fill('one').join(',')}/shop`, /^must name at most 8 hosts$/],
  ] as const) {
    assert.match(hostsFault(url) ?? 'nothing', said, url);
    assert.doesNotMatch(hostsFault(url) ?? '', /secret/);
  }
});

test('what asks for no encryption is noticed where any of the hosts is another machine.', () => {
  for (const [url, expected] of [
    ['postgres://user@localhost,127.0.0.1:5433,[::1]/shop?sslmode=disable', false],
    ['postgres://user@/shop?host=/run/postgresql&sslmode=disable', false],
    ['postgres:///shop?sslmode=disable', false],
    ['postgres://user@localhost,db.internal/shop?sslmode=disable', true],
    ['postgres://user@/shop?host=localhost,db.internal&sslmode=disable', true],
    ['postgres://user@one,two/shop?sslmode=verify-full', false],
    ['postgres://user@localhost,127.0.0.1:5433,[::1]/shop', false],
    ['postgres://user@/shop?host=/run/postgresql', false],
    ['postgres://user@localhost,db.internal/shop', true],
    ['postgres://user@10.0.0.5/shop', true],
  ] as const)
    assert.equal(speaksInTheClear(url), expected, url);
});

test('whether a connection is encrypted is told as node-postgres does it', () => {
  for (const parameters of [
    ...['', 'application_name=x', 'sslmode=', 'sslmode=disable', 'sslmode=allow', 'sslmode=prefer'],
    ...['sslmode=require', 'sslmode=verify-ca', 'sslmode=verify-full', 'sslmode=no-verify'],
    ...['uselibpqcompat=true&sslmode=prefer', 'uselibpqcompat=true&sslmode=disable'],
    ...['sslmode=verify-full&sslmode=disable', 'sslmode=disable&sslmode=verify-full'],
    ...['ssl=true', 'ssl=1', 'ssl=0', 'ssl=', 'ssl=no-verify', 'ssl=true&sslmode=disable'],
    ...['sslnegotiation=direct', 'sslrootcert=/dev/null', 'sslrootcert=/dev/null&sslmode=disable'],
  ]) {
    const url = `postgres://user@db.internal/shop?${parameters}`;
    const { ssl } = new pg.Client({ connectionString: url }) as unknown as { ssl: unknown };
    assert.equal(speaksInTheClear(url), !ssl, parameters);
  }
});
