// counterfoil doctor: what it finds of a running installation, of one that does not run, and of one that shows too much.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import pg from 'pg';
import { createAdministrator } from '../../../src/administrators/manage.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from '../../../src/lib/time.ts';
import { changeMerchantState } from '../../../src/merchants/change.ts';
import { expiryVerdict } from '../../../src/operate/checks/certificate-checks.ts';
import type { Subject, Verdict } from '../../../src/operate/checks/check.ts';
import { CHECKS } from '../../../src/operate/checks/checks.ts';
import { inspect } from '../../../src/operate/commands/doctor.ts';
import { readConfiguration } from '../../../src/operate/config.ts';
import type { Service } from '../../../src/operate/main.ts';
import type { Database } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { openDatabase } from '../../../src/store/open.ts';
import { hasOpenssl, temporaryCertificates } from '../../support/certificates.ts';
import { COMMAND, ROOT, run, start } from '../../support/command.ts';
import { freePort } from '../../support/free-ports.ts';
import { startPatiently } from '../../support/harness.ts';
import { unhurried } from '../../support/journal.ts';
import { type Installation, installation, SAFE } from '../../support/production.ts';
import { openPatiently, temporaryStore } from '../../support/stores.ts';

interface Found {
  id: string;
  outcome: string;
  says: string;
  where: string | null;
  fix: string | null;
}

const isRoot = process.getuid?.() === 0;

let undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

function place(text?: string): Installation {
  const made = installation(text);
  undo.push(() => made.remove());
  return made;
}

/** What doctor finds, by the checks' names, and its exit code. */
async function examine(at: Installation, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run(['doctor', '--json', '--timeout', '300'], {
    cwd: at.folder,
    env,
  });
  assert.notEqual(stdout, '', stderr);
  const { findings, counts } = JSON.parse(stdout);
  const found = Object.fromEntries(findings.map((one: Found) => [one.id, one])) as Record<string, Found>;
  const outcomes = Object.values(found).map(({ outcome }) => outcome);
  for (const [outcome, count] of Object.entries(counts))
    assert.equal(outcomes.filter((one) => one === outcome).length, count);
  assert.equal(code, counts.failed > 0 ? 1 : 0);
  return found;
}

/** The safe configuration at another address, with more lines. */
const at = (url: string, more = '') => SAFE.replace('https://127.0.0.1:1', url) + more;

async function store(of: Installation) {
  const database = await openDatabase({ storage: of.storage, database_url: null }, (error) => {
    throw error;
  });
  await migrate(database);
  return database;
}

describe('a production installation that speaks https itself', { skip: !hasOpenssl && 'no openssl' }, () => {
  let made: Installation;
  let port: number;
  let serving: Service;
  const certificates = temporaryCertificates();
  /** Puts a certificate and its key into the folder. */
  const certify = (...dates: string[]) => {
    const { certificate, key } = certificates.make('localhost', dates);
    copyFileSync(certificate, join(made.folder, 'cert.pem'));
    copyFileSync(key, join(made.folder, 'key.pem'));
  };
  const trusting = () => ({ NODE_EXTRA_CA_CERTS: join(made.folder, 'cert.pem') });

  before(async () => {
    made = installation();
    port = await freePort();
    certify();
    mkdirSync(join(made.folder, 'backups'));
    writeFileSync(join(made.folder, 'backups', 'counterfoil.dump'), 'x');
    made.write(
      at(
        `https://localhost:${port}`,
        `host: localhost\nport: ${port}\nbackups: ./backups\ntls: { certificate: cert.pem, key: key.pem }\nconsole: { base_url: 'https://127.0.0.1:${port}' }\n`,
      ).replace(/trust_proxy.*\n/, ''),
    );
    const log = createLogger('silent');
    const configuration = readConfiguration(made.config, {});
    serving = await startPatiently(configuration, { log, clock: systemClock, onBroken: assert.ifError });
  });
  after(async () => {
    await serving.stop();
    certificates.remove();
    made.remove();
  });

  test('starts, answers at its own addresses, and hands out no private file', async () => {
    const found = await examine(made, trusting());
    for (const id of [
      ...['transport', 'reach_api', 'reach_checkout', 'storage_served', 'backups', 'console_apart'],
      ...['certificate_file', 'certificate_presented', 'store', 'schema', 'durability', 'disk_space'],
    ])
      assert.equal(found[id]!.outcome, 'ok', JSON.stringify(found[id]));
    assert.equal(found.administrators!.outcome, 'warning');
    assert.equal(found.verification!.fix, 'Run counterfoil audit verify.');
  });

  test('is told that browsers do not trust its certificate, where they do not', async () => {
    const found = await examine(made);
    assert.equal(found.certificate_presented!.outcome, 'failed');
    for (const id of ['certificate_presented', 'reach_api']) {
      assert.match(found[id]!.says, /by no authority/);
      assert.match(found[id]!.fix!, /NODE_EXTRA_CA_CERTS/);
    }
  });

  test('is told of a certificate in its file that ends soon, and of one that is not there', async () => {
    const shown = readFileSync(join(made.folder, 'cert.pem'));
    try {
      certify('-days', '10');
      const soon = (await examine(made)).certificate_file!;
      assert.match(`${soon.outcome}: ${soon.says}`, /^warning: .* in 9 days/);
      writeFileSync(join(made.folder, 'cert.pem'), 'none');
      const found = await examine(made);
      assert.equal(found.certificate_file!.outcome, 'skipped');
      assert.equal(found.key_pair!.outcome, 'failed');
      assert.match(found.key_pair!.says, /cert\.pem holds no/);
    } finally {
      writeFileSync(join(made.folder, 'cert.pem'), shown);
    }
  });
});

test('a certificate is warned of three weeks before its end, and fails three days before', () => {
  const now = Date.parse('2026-11-21T00:00:00Z');
  const isAt = (days: number) => expiryVerdict(now + days * DAY_MS, now, 'x', 'UTC').is;
  assert.deepEqual([21, 20.9, 3, 2.9, -1].map(isAt), ['ok', 'warning', 'warning', 'failed', 'failed']);
  assert.match(expiryVerdict(now - 1, now, 'x', 'Europe/Berlin').says, /21 Nov 2026, 00:59 GMT\+1$/);
});

/** A web server that answers some paths with files, and else says that there is nothing. */
async function webServer(files: Record<string, string>): Promise<string> {
  const server: Server = createServer(({ url }, response) => {
    const file = files[url!];
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('another web server in the service’s place', () => {
  const shown: [what: string, path: string, content: string][] = [
    ['the database', '/storage/counterfoil.sqlite', 'SQLite format 3\0 and more'],
    ['the configuration', '/counterfoil.yaml', '# Ours\nenvironment: production\n'],
    ['the checkpoints', '/shop/storage/checkpoints.jsonl', '{"seal":1,"last_entry":1}\n'],
    ['the repository', '/.git/config', '[core]\n\tbare = false\n'],
  ];
  for (const [what, path, content] of shown)
    test(`that hands out ${what} is found`, async () => {
      const url = await webServer({ [path]: content });
      const found = await examine(place(at(`${url}/shop`)));
      assert.equal(found.storage_served!.outcome, 'failed');
      assert.equal(found.storage_served!.where, url + path);
    });
});

test('backups are looked at in their folder: none, empty ones, an old one, a new one, and one from a time to come', async () => {
  const made = place(`${SAFE}backups: ./backups\n`);
  const { at, backups, put } = backupsOf(made);
  const folder = join(made.folder, 'backups');
  assert.match(await backups(), /^skipped: .*nothing to back up/);
  const database = await store(made);
  assert.match(await backups(), /^warning: .*no backup yet$/, 'without an entry');
  await enter(database, 25 * HOUR_MS);
  assert.match(await backups(), /^warning: .*no backup yet$/, 'within the first day');
  await database.close();
  rmSync(made.storage, { recursive: true });
  await servedSinceYesterday(made);
  assert.match(await backups(), /^failed: The folder is not/);
  mkdirSync(folder);
  writeFileSync(join(folder, '.hidden.dump'), 'x');
  assert.match(await backups(), /^failed: .*no backup$/);
  put('empty.dump', '');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
  mkdirSync(join(folder, 'empty'));
  assert.match(await backups(), /^failed: Nothing in the/);
  put('later.dump');
  at('later.dump', -HOUR_MS);
  assert.match(await backups(), /^failed: Every backup .*to come/);
  put('a.dump.gz');
  at('a.dump.gz', 27 * HOUR_MS);
  assert.match(await backups(), /^failed: .*newest backup is 27 h/);
  at('a.dump.gz', 10 * DAY_MS);
  assert.match(await backups(), /^failed: .*newest backup is 10 days/);
  put('empty/counterfoil.dump');
  assert.match(await backups(), /^ok: .*newest backup is 0 h/);
  made.write(SAFE);
  assert.match(await backups(), /^warning/, 'nobody says where they are');
});

test('only what is a backup counts as one: not a file that the runbook puts beside them, not one that was not verified', async () => {
  const made = place(`${SAFE}backups: ./backups\n`);
  const { at, backups, put } = backupsOf(made);
  await servedSinceYesterday(made);
  mkdirSync(join(made.folder, 'backups'));
  put('checkpoints-of-what-was-lost.jsonl');
  put('counterfoil-keys.sealed');
  put('replaced-2026-11-21T041700Z/checkpoints.jsonl');
  put('SHA256SUMS');
  assert.match(await backups(), /^failed: Nothing in the/);
  put('2026-11-21T041701Z/backup.json', '{"unverified":"a row is not what it was"}');
  put('2026-11-21T041702Z/backup.json', '{"made');
  assert.match(await backups(), /^failed: No .*verified/);
  for (const backup of [
    '2026-11-20T041700Z/backup.json',
    '2026-11-20T041700Z.tar.age',
    'base/backup_manifest',
  ]) {
    put(backup, '{}');
    const [name] = backup.split('/');
    at(name!, 27 * HOUR_MS);
    assert.match(await backups(), /^failed: .*newest verified .*27 h/, backup);
    rmSync(join(made.folder, 'backups', name!), { recursive: true });
  }
});

/** Writes an entry with a clock that is `agoMs` behind. */
async function enter(database: Database, agoMs: number): Promise<void> {
  const journal = unhurried(database, { now: () => Date.now() - agoMs });
  const by = { actor: 'operator', by: 'operator', request_id: null };
  await changeMerchantState(journal, 'mer_shop', 'suspended', by, 'For the test.');
  await journal.close();
}

/** Makes a store whose first backup is overdue. */
async function servedSinceYesterday(made: Installation): Promise<void> {
  const database = await store(made);
  await enter(database, 27 * HOUR_MS);
  await database.close();
}

/** Puts things into the folder of backups that `made` names, and asks what is said of them. */
function backupsOf(made: Installation) {
  const folder = join(made.folder, 'backups');
  return {
    put(path: string, content = 'x') {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    },
    at(name: string, agoMs: number) {
      const then = (Date.now() - agoMs) / 1000;
      utimesSync(join(folder, name), then, then);
    },
    async backups() {
      const checks = CHECKS.filter(({ id }) => id === 'backups');
      const [found] = await inspect(readConfiguration(made.config, {}, { unfinished: true }), checks);
      return `${found!.is}: ${found!.says}`;
    },
  };
}

test('administrators are looked at: nobody, nobody set up, somebody without a second factor, and all well', async () => {
  const made = place();
  const database = await store(made);
  const journal = unhurried(database);
  undo.push(async () => {
    await journal.close();
    await database.close();
  });
  const people = async () => {
    const { administrators, second_factors } = await examine(made);
    return [administrators!.outcome, second_factors!.outcome, administrators!.says, second_factors!.says];
  };
  const nobody = await people();
  assert.deepEqual(nobody.slice(0, 2), ['warning', 'ok']);
  assert.match(nobody[2]!, /are no administrators/);
  const who = { email: 'ana@example.org', name: 'Ana', role: 'administrator' as const };
  const act = { actor: 'operator', request_id: null };
  await journal.commit((transaction) => createAdministrator(transaction, who, act));
  assert.match((await people())[2]!, /^No administrator .*password/);
  await database.script("update administrators set password = 'x'");
  const [may, factors, , lacking] = await people();
  assert.deepEqual([may, factors], ['ok', 'failed']);
  assert.match(lacking!, /^ana@example\.org has no/);
  await database.script("update administrators set totp_secret = 'x'");
  assert.deepEqual((await people()).slice(0, 2), ['ok', 'ok']);
});

test('entries that no checkpoint vouches for are told when they are older than five minutes', async () => {
  const made = place();
  const database = await store(made);
  const commitAt = async (ago: number) => {
    const journal = unhurried(database, { now: () => Date.now() - ago });
    const who = { email: `a${ago}@example.org`, name: 'Ana', role: 'auditor' as const };
    const act = { actor: 'operator', request_id: null };
    await journal.commit((transaction) => createAdministrator(transaction, who, act));
    await journal.close();
  };
  await commitAt(6 * MINUTE_MS);
  const found = (await examine(made)).checkpoint!;
  assert.match(`${found.outcome}: ${found.says}`, /^warning: .* [6-9] min old .*no checkpoint/);
  await commitAt(0);
  assert.equal((await examine(made)).checkpoint!.outcome, 'ok');
  await database.close();
});

test('a damaged lock and a checkpoint key that no start signs with are failures', async () => {
  const made = place();
  const database = await store(made);
  const { storage } = made;
  const put = (name: string, text: string) => writeFileSync(join(storage, name), text, { mode: 0o600 });
  const failures = async () => {
    const { store, checkpoint } = await examine(made);
    return [store, checkpoint].filter((one) => one!.outcome === 'failed').map((one) => one!.fix);
  };
  assert.deepEqual(await failures(), []);
  put('checkpoints.jsonl', '{}\n');
  assert.match((await failures()).join(), /checkpoint-key\.pem is missing/);
  put('checkpoint-key.pem', 'none');
  assert.match((await failures()).join(), /checkpoint-key\.pem is not/);
  rmSync(join(storage, 'checkpoints.jsonl'));
  rmSync(join(storage, 'checkpoint-key.pem'));
  put('server.lock', 'none');
  assert.match((await failures()).join(), /^Remove it/);
  await database.close();
});

test('a PostgreSQL that does not let the service in, or not write, is a failure, never an empty store', async () => {
  const postgres = await temporaryStore('postgres');
  undo.push(() => postgres.drop());
  const client = new pg.Client(postgres.database_url!);
  await client.connect();
  const database = await openPatiently(postgres);
  await migrate(database);
  await database.close();
  const name = new URL(postgres.database_url!).pathname.slice(1);
  const roles = ['stranger', 'visitor', 'reader'].map((role) => `${name}_${role}`);
  const [stranger, visitor, reader] = roles as [string, string, string];
  for (const role of roles) await client.query(`create role ${role} login password 'right'`);
  undo.push(async () => {
    for (const role of roles) await client.query(`drop owned by ${role}; drop role ${role}`);
    await client.end();
  });
  await client.query(`grant select on all tables in schema public to ${visitor}`);
  await client.query(`grant select, insert, update on all tables in schema public to ${reader}`);
  await client.query(`alter role ${reader} set default_transaction_read_only = on`);
  const as = (username: string, more: { password?: string; pathname?: string } = {}) => ({
    DATABASE_URL: Object.assign(new URL(postgres.database_url!), { username, password: 'right', ...more })
      .href,
  });
  const made = place();
  const unlet = as(stranger);
  for (const [env, said] of [
    [as(reader, { password: 'incorrect' }), /^The store cannot be opened: password authentication failed/],
    [as(reader, { pathname: '/nothing' }), /^The store cannot be opened: database "nothing" does not exist/],
    [unlet, /^The account that database_url names may not select, insert, update in the table \w+\.$/],
    [as(visitor), /^The account that database_url names may not insert, update in the table \w+\.$/],
    [as(reader), /^The account that database_url names may not write: its transactions are read-only\.$/],
  ] as const) {
    const found = await examine(made, env);
    assert.equal(found.store!.outcome, 'failed', JSON.stringify(found.store));
    assert.match(found.store!.says, said);
    assert.doesNotMatch(JSON.stringify(found), /has not this program's tables|incorrect|schema lacks/);
    if (env === unlet) assert.equal(found.history_clock!.outcome, 'failed', 'nobody knows that it is empty');
  }
});

test('storage that this account may not read is a failure', { skip: !isRoot && 'needs root' }, async () => {
  const made = place(SAFE.replace('allow_root: true\n', ''));
  await (await store(made)).close();
  execFileSync('chown', ['65534:65534', made.folder, made.config]);
  const account = ['--reuid=65534', '--regid=65534', '--clear-groups'];
  const running = start('setpriv', [...account, process.execPath, COMMAND, 'doctor', '--json'], {
    cwd: made.folder,
  });
  assert.equal((await running.ended).code, 1);
  const { findings } = JSON.parse(running.stdout) as { findings: Found[] };
  const { outcome, says, where } = findings.find(({ id }) => id === 'store')!;
  assert.deepEqual([outcome, where], ['failed', made.storage]);
  assert.match(says, /\(EACCES\)/);
});

test('a connection in the clear to another machine is a warning, on this one it is none', async () => {
  const outcome = (host: string, parameters = '') => {
    const url = `postgres://somebody@${host}:1/x${parameters}`;
    const check = CHECKS.find(({ id }) => id === 'database_url')!;
    const settings = { database_url: url, written: { place: () => 'x' } };
    return (check.look({ settings } as unknown as Subject) as Verdict).is;
  };
  for (const host of ['db.example', '10.0.0.5', '[2001:db8::1]']) {
    assert.equal(outcome(host), 'warning', host);
    assert.equal(outcome(host, '?sslmode=disable'), 'warning', host);
    assert.equal(outcome(host, '?sslmode=verify-full'), 'ok', host);
  }
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '%2Frun%2Fpostgresql'])
    assert.equal(outcome(host, '?sslmode=disable'), 'ok', host);
});

test('a configuration that cannot be read is told as every command tells it', async () => {
  const made = place('environment: production\nprot: 1\n');
  const { code, stdout, stderr } = await run(['doctor', '--json'], { cwd: made.folder });
  assert.deepEqual([code, stdout], [78, '']);
  assert.equal(stderr, 'counterfoil: counterfoil.yaml:2: prot is not a setting; did you mean port?\n');
});

test('the page for people has each finding, and one line for each reason for which checks were skipped', async () => {
  const made = place(SAFE);
  const { stdout } = await run(['doctor'], { cwd: made.folder });
  const found = Object.values(await examine(made)) as (Found & { about: string; says: string })[];
  const words = stdout.replaceAll(/\s+/g, ' ');
  for (const { outcome, about, says } of found)
    assert.ok(words.includes(outcome === 'skipped' ? about : `${outcome} ${about} `), says);
  const skipped = found.filter(({ outcome }) => outcome === 'skipped').map(({ says }) => says);
  for (const reason of new Set(skipped)) assert.equal(words.split(reason).length, 2, reason);
});

test('no two checks have one title.', () => {
  const titles = CHECKS.map(({ about }) => about.toLowerCase());
  assert.deepEqual(titles, [...new Set(titles)]);
});

test('docs/doctor.md explains every check, in the order of the list, and no other', () => {
  const page = readFileSync(join(ROOT, 'docs/doctor.md'), 'utf8');
  const explained = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, id]) => id);
  assert.deepEqual(
    explained,
    CHECKS.map(({ id }) => id),
  );
});
