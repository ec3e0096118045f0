// counterfoil doctor: what it finds of a running installation, of one that does not run, and of one that shows too much.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { createAdministrator } from '../../src/administrators/manage.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import { expiryVerdict } from '../../src/health/certificate-checks.ts';
import { CHECKS } from '../../src/health/checks.ts';
import { Journal } from '../../src/journal/journal.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from '../../src/lib/time.ts';
import {
  ANSI,
  COMMAND,
  hasTerminal,
  ROOT,
  type Running,
  run,
  start,
  startOnTerminal,
} from '../support/command.ts';
import { freePort } from '../support/postgres-server.ts';
import { type Installation, installation, SAFE } from '../support/production.ts';
import { temporaryStore } from '../support/stores.ts';

interface Found {
  id: string;
  outcome: string;
  says: string;
  where: string | null;
  mend: string | null;
}

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
  const { code, stdout, stderr } = await run(['doctor', '--json'], { cwd: at.folder, env });
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

const hasOpenssl = (() => {
  try {
    return /OpenSSL [3-9]|OpenSSL 1\.1\.1/.test(execFileSync('openssl', ['version'], { encoding: 'utf8' }));
  } catch {
    return false;
  }
})();

describe('a production installation that speaks https itself', { skip: !hasOpenssl && 'no openssl' }, () => {
  let made: Installation;
  let port: number;
  let serving: Running;
  const certificate = (days: number) => {
    const [cert, key] = [join(made.folder, 'cert.pem'), join(made.folder, 'key.pem')];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const args = ['req', '-x509', '-days', String(days), ...kind, '-out', cert, ...names];
    execFileSync('openssl', args, { stdio: 'ignore' });
    chmodSync(key, 0o600);
  };
  const trusting = () => ({ NODE_EXTRA_CA_CERTS: join(made.folder, 'cert.pem') });

  before(async () => {
    made = installation();
    port = await freePort();
    certificate(90);
    mkdirSync(join(made.folder, 'backups'));
    writeFileSync(join(made.folder, 'backups', 'today.tar'), '');
    made.write(
      at(
        `https://localhost:${port}`,
        `host: localhost\nport: ${port}\nbackups: ./backups\ntls: { certificate: cert.pem, key: key.pem }\nconsole: { base_url: 'https://127.0.0.1:${port}' }\n`,
      ).replace(/trust_proxy.*\n/, ''),
    );
    serving = start(process.execPath, [COMMAND, 'serve'], { cwd: made.folder });
    await serving.until(/^\{"event":"ready".*\n/);
  });
  after(async () => {
    serving.child.kill('SIGTERM');
    await serving.ended;
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
    assert.equal(found.verification!.mend, 'Run counterfoil audit verify.');
  });

  test('is told that browsers do not trust its certificate, where they do not', async () => {
    const found = await examine(made);
    assert.equal(found.certificate_presented!.outcome, 'failed');
    assert.match(found.certificate_presented!.says, /signed by nobody that is trusted here\.$/);
    assert.match(found.reach_api!.says, /its certificate is signed by nobody that is trusted here\.$/);
  });

  test('is told of a certificate in its file that ends soon, and of one that is not there', async () => {
    const shown = readFileSync(join(made.folder, 'cert.pem'));
    try {
      certificate(10);
      assert.deepEqual(
        [(await examine(made)).certificate_file!].map(({ outcome, says }) => [outcome, says])[0],
        ['warning', 'The certificate ends in 9 days.'],
      );
      writeFileSync(join(made.folder, 'cert.pem'), 'none');
      const { outcome, says } = (await examine(made)).certificate_file!;
      assert.equal(outcome, 'failed');
      assert.match(says, /^The certificate cannot be read \(/);
    } finally {
      writeFileSync(join(made.folder, 'cert.pem'), shown);
    }
  });
});

test('a certificate is warned of three weeks before its end, and fails three days before', () => {
  const now = Date.parse('2026-11-21T00:00:00Z');
  const isAt = (days: number) => expiryVerdict(now + days * DAY_MS, now, 'x').is;
  assert.deepEqual([21, 20.9, 3, 2.9, -1].map(isAt), ['ok', 'warning', 'warning', 'failed', 'failed']);
  assert.match(expiryVerdict(now - 1, now, 'x').says, /^The certificate ended at 2026-11-20T23:59:59/);
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
      assert.match(found.storage_served!.says, /^A private file is handed out to anybody\.$/);
    });

  test('that answers everything with a page of its own is a warning, and no API', async () => {
    const page = '<!doctype html><title>Shop</title>';
    const url = await webServer({ '/.git/config': page, '/health': page, '/payment.php': page });
    const found = await examine(place(at(url)));
    assert.equal(found.storage_served!.outcome, 'warning');
    assert.match(found.reach_api!.says, /another program answers \(200\)/);
    assert.match(found.reach_checkout!.says, /another program answers \(200\)/);
    assert.match(found.reach_console!.says, /the answer is 404/);
  });

  test('that never answers is given up', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    undo.push(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const begun = performance.now();
    const found = await examine(place(at(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)));
    assert.match(found.reach_api!.says, /nothing came within 5 s/);
    assert.ok(performance.now() - begun < 9000);
  });
});

test('backups are looked at in their folder: none, an old one, a new one', async () => {
  const made = place(`${SAFE}backups: ./backups\n`);
  const backups = async () => {
    const { outcome, says } = (await examine(made)).backups!;
    return [outcome, says];
  };
  assert.deepEqual(await backups(), ['failed', 'The folder is not there.']);
  mkdirSync(join(made.folder, 'backups'));
  writeFileSync(join(made.folder, 'backups', '.hidden'), '');
  assert.deepEqual(await backups(), ['failed', 'There is no backup.']);
  const file = join(made.folder, 'backups', 'a.tar');
  writeFileSync(file, '');
  const old = (Date.now() - 27 * HOUR_MS) / 1000;
  utimesSync(file, old, old);
  assert.deepEqual(await backups(), ['failed', 'The newest backup is 27 h old.']);
  const older = (Date.now() - 10 * DAY_MS) / 1000;
  utimesSync(file, older, older);
  assert.deepEqual(await backups(), ['failed', 'The newest backup is 10 days old.']);
  writeFileSync(join(made.folder, 'backups', 'b.tar'), '');
  assert.deepEqual(await backups(), ['ok', 'The newest backup is 0 h old.']);
  made.write(SAFE);
  assert.equal((await backups())[0], 'warning', 'nobody says where they are');
});

test('administrators are looked at: nobody, nobody set up, somebody without a second factor, and all well', async () => {
  const made = place();
  const database = await store(made);
  const journal = new Journal(database, systemClock);
  undo.push(async () => {
    await journal.close();
    await database.close();
  });
  const people = async () => {
    const { administrators, second_factors } = await examine(made);
    return [administrators!.outcome, second_factors!.outcome, administrators!.says, second_factors!.says];
  };
  assert.deepEqual((await people()).slice(0, 3), [
    'warning',
    'ok',
    'Nobody can review payments: there are no administrators.',
  ]);
  const who = { email: 'ana@example.org', name: 'Ana', role: 'administrator' as const };
  const act = { actor: 'operator', request_id: null };
  await journal.commit((transaction) => createAdministrator(transaction, who, act));
  assert.equal((await people())[2], 'No administrator has set up a password yet.');
  await database.script("update administrators set password = 'x'");
  assert.deepEqual(await people(), [
    'ok',
    'failed',
    '1 person may sign in to the console.',
    'ana@example.org has no second factor.',
  ]);
  await database.script("update administrators set totp_secret = 'x'");
  assert.deepEqual((await people()).slice(0, 2), ['ok', 'ok']);
});

test('entries that no checkpoint vouches for are told when they are older than five minutes', async () => {
  const made = place();
  const database = await store(made);
  const commitAt = async (ago: number) => {
    const journal = new Journal(database, { now: () => Date.now() - ago });
    const who = { email: `a${ago}@example.org`, name: 'Ana', role: 'auditor' as const };
    const act = { actor: 'operator', request_id: null };
    await journal.commit((transaction) => createAdministrator(transaction, who, act));
    await journal.close();
  };
  await commitAt(6 * MINUTE_MS);
  const found = (await examine(made)).checkpoint!;
  assert.deepEqual(
    [found.outcome, found.says],
    ['warning', 'The newest entries are 6 min old and no checkpoint vouches for them.'],
  );
  await commitAt(0);
  assert.equal((await examine(made)).checkpoint!.outcome, 'ok');
  await database.close();
});

test('a store that is not there, or behind, is told as that, and is not made', async () => {
  const made = place();
  const before = await examine(made);
  assert.equal(before.store!.outcome, 'skipped');
  assert.equal(before.store!.says, 'There is no store yet: the first start makes it.');
  assert.throws(() => readFileSync(join(made.storage, 'counterfoil.sqlite')));
  const gone = await examine(made, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  assert.equal(gone.store!.outcome, 'failed');
  assert.match(gone.store!.says, /^The store cannot be opened: .*ECONNREFUSED/);
  const postgres = await temporaryStore('postgres');
  undo.push(() => postgres.drop());
  const behind = await examine(made, { DATABASE_URL: postgres.database_url! });
  assert.equal(behind.schema!.outcome, 'warning');
  assert.match(behind.schema!.says, /^The schema lacks \d+ steps\.$/);
  assert.deepEqual([behind.database_clock!.outcome, behind.history_clock!.outcome], ['ok', 'ok']);
});

test('as text it is a page without colours where nobody sees them, every sentence within a hundred characters', async () => {
  const made = place();
  const { code, stdout, stderr } = await run(['doctor'], { cwd: made.folder });
  assert.deepEqual([code, stderr], [1, '']);
  assert.doesNotMatch(stdout, ANSI);
  assert.match(stdout, /^counterfoil doctor {2}production · \.\/counterfoil\.yaml\n\n/);
  assert.match(stdout, /\n {2}failed {3}The API +https:\/\/127\.0\.0\.1:1\/health: It does not answer/);
  assert.match(
    stdout,
    /\n\d+ ok, \d+ warnings, \d+ failed, \d+ skipped\. What each means: docs\/doctor\.md\.\n$/,
  );
  for (const line of stdout.split('\n')) assert.ok(line.length <= 100, `too wide: ${line}`);
});

test('on a terminal it is coloured', { skip: !hasTerminal && 'no util-linux script' }, async () => {
  const made = place();
  const running = startOnTerminal(`'${process.execPath}' '${COMMAND}' doctor`, { cwd: made.folder });
  await running.ended;
  assert.match(running.stdout, ANSI);
});

test('a configuration that cannot be read is told as every command tells it', async () => {
  const made = place('environment: production\nprot: 1\n');
  const { code, stdout, stderr } = await run(['doctor', '--json'], { cwd: made.folder });
  assert.deepEqual([code, stdout], [78, '']);
  assert.equal(stderr, 'counterfoil: counterfoil.yaml:2: prot is not a setting; did you mean port?\n');
});

test('docs/doctor.md explains every check, in the order of the list, and no other', () => {
  const page = readFileSync(join(ROOT, 'docs/doctor.md'), 'utf8');
  const explained = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, id]) => id);
  assert.deepEqual(
    explained,
    CHECKS.map(({ id }) => id),
  );
});
