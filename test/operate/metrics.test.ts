// Measurements: on an address of their own, true, of few values, and the ones that the dashboard and its page speak of.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newestBackupAt } from '../../src/operate/checks/folder-checks.ts';
import { DatabaseError } from '../../src/store/database.ts';
import { acknowledgeAll } from '../support/acknowledge.ts';
import { hasOpenssl, temporaryCertificates } from '../support/certificates.ts';
import { run } from '../support/command.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { editOutside } from '../support/outside.ts';
import { eventually } from '../support/waiting.ts';
import { answering, WebhookReceiver } from '../support/webhook-receiver.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
const NAME = /\b(?:counterfoil|process|nodejs)_[a-z0-9_]+\b/g;

describe('measurements', () => {
  let service: Harness;
  let address: string;

  before(async () => {
    const [port] = await freePorts(1);
    address = `http://127.0.0.1:${port}`;
    service = await startHarness('sqlite', { configuration: `metrics: { port: ${port} }\n` });
  });
  after(() => service.close());

  const scrape = async () => (await fetch(`${address}/metrics`)).text();

  /** The value of a series, as its line names it; undefined where there is none. */
  function value(text: string, series: string): number | undefined {
    const line = text.split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }

  test('they are at /metrics of their own address, alone, and nowhere else.', async () => {
    const answer = await fetch(`${address}/metrics`);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/);
    for (const path of ['/', '/health', '/v1/payments', '/console', '/metrics/']) {
      const elsewhere = await fetch(address + path);
      assert.equal(elsewhere.status, 404, path);
      assert.equal(((await elsewhere.json()) as { error: { code: string } }).error.code, 'not_found');
    }
    assert.equal((await service.request('/metrics', { key: null })).status, 404);
  });

  test('requests are counted and timed by route, method and status; what is unknown is one route, whatever its path.', async () => {
    const count = (text: string, method: string, route: string, status: number) =>
      value(
        text,
        `counterfoil_http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`,
      ) ?? 0;
    const before = await scrape();
    const { id } = await service.create();
    await service.request(`/v1/payments/${id}`);
    await service.request('/v1/payments/SECRET-path?SECRET=query');
    for (let i = 0; i < 20; i++) await service.request(`/nothing-${i}`, { key: null });
    await service.request('/nothing', { key: null, method: 'PROPFIND' });
    await service.request('/nothing', { key: null, method: 'LOCK' });
    const text = await scrape();
    const more = (...series: [string, string, number]) => count(text, ...series) - count(before, ...series);
    assert.equal(more('POST', '/v1/payments', 201), 1);
    assert.equal(more('GET', '/v1/payments/:payment_id', 200), 1);
    assert.equal(more('GET', '/v1/payments/:payment_id', 404), 1);
    assert.equal(more('GET', 'unknown', 404), 20);
    assert.equal(more('other', 'unknown', 404), 2);
    assert.deepEqual(text.match(/SECRET|nothing-|PROPFIND|LOCK|pay_/g), null);
    const slowest = `counterfoil_http_request_duration_seconds_bucket{le="10",method="POST",route="/v1/payments",status="201"}`;
    assert.ok(value(text, slowest)! >= 1);
  });

  test('commits, works, batches and the sweeper are counted.', async () => {
    const before = await scrape();
    await Promise.all(Array.from({ length: 20 }, () => service.create({ expires_in: 300 })));
    service.clock.advance(301_000);
    const due = service.clock.now();
    let text = before;
    const more = (series: string) => (value(text, series) ?? 0) - (value(before, series) ?? 0);
    const expired = 'counterfoil_sweeper_expired_payments_total';
    const sweptAt = () => 1000 * (value(text, 'counterfoil_sweeper_last_success_timestamp_seconds') ?? 0);
    await eventually(
      async () => {
        text = await scrape();
        return more(expired) >= 20 && sweptAt() >= due;
      },
      () => `expired: ${more(expired)}, swept at ${sweptAt()}`,
    );
    assert.ok(sweptAt() <= service.clock.now());
    assert.ok(more('counterfoil_journal_works_total') >= 40);
    assert.ok(more('counterfoil_journal_commits_total') >= 2);
    assert.equal(
      value(text, 'counterfoil_journal_batch_works_sum'),
      value(text, 'counterfoil_journal_works_total'),
    );
    assert.equal(
      value(text, 'counterfoil_journal_batch_works_count'),
      value(text, 'counterfoil_journal_commits_total'),
    );
    assert.equal(more(expired), 20);
    assert.equal(value(text, 'counterfoil_journal_queue_works'), 0);
  });

  test('failures of the store are counted by their kind, and what cannot be read is left out alone.', async () => {
    const { database } = service.service;
    const before = await scrape();
    const waiting = 'counterfoil_review_waiting_payments';
    assert.equal(value(before, waiting), 0);
    assert.equal(value(before, 'counterfoil_review_oldest_waiting_age_seconds'), 0);
    await assert.rejects(database.query('select nothing from nowhere'), DatabaseError);
    const text = await scrape();
    const faults = 'counterfoil_store_errors_total{failure="fault"}';
    assert.equal((value(text, faults) ?? 0) - (value(before, faults) ?? 0), 1);
    const { query } = database;
    service.clock.advance(10_000);
    database.query = () => Promise.reject(new DatabaseError('unavailable', 'gone'));
    try {
      const without = await scrape();
      assert.equal(value(without, waiting), undefined);
      assert.equal(value(without, 'counterfoil_webhook_endpoints{state="enabled"}'), undefined);
      assert.ok(value(without, 'counterfoil_journal_commits_total') !== undefined, 'the rest is told');
    } finally {
      database.query = query;
    }
  });

  test('webhook endpoints are counted by their state, and the age of the longest failure is told.', async () => {
    const receiver = await WebhookReceiver.start();
    try {
      receiver.reply = answering(500);
      const state = (name: string) => `counterfoil_webhook_endpoints{state="${name}"}`;
      const failingAge = 'counterfoil_webhook_failing_age_seconds';
      const before = await scrape();
      for (const name of ['enabled', 'failing', 'disabled']) assert.equal(value(before, state(name)), 0);
      assert.equal(value(before, failingAge), 0);
      const add = async (body: object) =>
        (await service.request('/v1/webhook_endpoints', { method: 'POST', body })).json.data.id as string;
      await add({ url: receiver.url('/all') });
      await add({ url: receiver.url('/none'), types: ['payment.rejected'] });
      const off = await add({ url: receiver.url('/off') });
      const patch = { method: 'PATCH', body: { status: 'disabled' } };
      assert.equal((await service.request(`/v1/webhook_endpoints/${off}`, patch)).status, 200);
      await service.create({ expires_in: 1_000_000 });
      await eventually(async () => value(await scrape(), state('failing')) === 1);
      service.clock.advance(100_000);
      const text = await scrape();
      assert.deepEqual(
        ['enabled', 'failing', 'disabled'].map((name) => value(text, state(name))),
        [1, 1, 1],
      );
      const age = value(text, failingAge)!;
      assert.ok(age >= 100 && age < 200, `${age}`);
    } finally {
      await receiver.close();
    }
  });

  test('attempts are counted by what became of the delivery, and what waits and what was disabled is told.', async () => {
    const [port] = await freePorts(1);
    const other = await startHarness('sqlite', { configuration: `metrics: { port: ${port} }\n` });
    const receiver = await WebhookReceiver.start();
    const read = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const attempts = (status: string) => `counterfoil_webhook_attempts_total{status="${status}"}`;
    const disabledAt = 'counterfoil_webhook_endpoint_disabled_timestamp_seconds';
    const statuses: Record<string, number> = { '/well': 200, '/failing': 500, '/gone': 410, '/off': 500 };
    receiver.reply = (received, response) => answering(statuses[received.path]!)(received, response);
    const add = async (path: string) => {
      const body = { url: receiver.url(path) };
      const answer = await other.request('/v1/webhook_endpoints', { method: 'POST', body });
      return `/v1/webhook_endpoints/${answer.json.data.id}`;
    };
    const statusOf = async (endpoint: string) =>
      (await other.request(`${endpoint}/deliveries`)).json.data[0]?.status;
    try {
      const [well, failing, gone, off] = [
        await add('/well'),
        await add('/failing'),
        await add('/gone'),
        await add('/off'),
      ];
      other.clock.stop(); // so that nothing is tried again
      await other.create();
      for (const one of [failing, gone, off])
        await eventually(async () => (await statusOf(one)) === 'retrying');
      await eventually(async () => (await statusOf(well)) === 'delivered');
      await other.request(off, { method: 'PATCH', body: { status: 'disabled' } });
      const text = await read();
      assert.deepEqual(
        ['delivered', 'retrying', 'failed'].map((status) => value(text, attempts(status))),
        [1, 3, 0],
      );
      assert.equal(value(text, 'counterfoil_webhook_waiting_deliveries'), 1);
      assert.equal(value(text, disabledAt), other.clock.now() / 1000);
      other.clock.advance(7000);
      const age = value(await read(), 'counterfoil_webhook_oldest_waiting_age_seconds')!;
      assert.ok(age >= 7 && age < 8, `${age}`);
      await other.request(gone, { method: 'PATCH', body: { status: 'enabled' } });
      assert.equal(value(await read(), disabledAt), undefined);
    } finally {
      await other.close();
      await receiver.close();
    }
  });

  test('a first start fails no call to the store, and promtool finds nothing to say.', async (context) => {
    const [port] = await freePorts(1);
    await using _fresh = await startHarness('sqlite', { configuration: `metrics: { port: ${port} }\n` });
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    assert.doesNotMatch(text, /^counterfoil_store_errors_total\{/m);
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    if (checked.error) context.diagnostic('promtool is missing (Debian: prometheus)');
    else assert.equal(checked.status, 0, checked.stdout + checked.stderr);
  });

  test('what a node needs is told by its name, and the room on the disk in bytes.', async () => {
    const text = await scrape();
    const checks = ['store_writable', 'payments_writable', 'journal_followed', 'accepting_requests'];
    for (const check of checks) assert.equal(value(text, `counterfoil_ready{check="${check}"}`), 1);
    // Other processes may write and remove between the two looks.
    await eventually(async () => {
      const free = value(await scrape(), 'counterfoil_storage_free_bytes')!;
      const { bfree, bavail, bsize } = statfsSync(service.store.storage);
      return [bfree, bavail].some((blocks) => Math.abs(free - blocks * bsize) < 256 * 1024 * 1024);
    });
    const { database } = service.service;
    const { transaction } = database;
    database.transaction = () => Promise.reject(new DatabaseError('unavailable', 'gone'));
    try {
      await eventually(
        async () => value(await scrape(), 'counterfoil_ready{check="store_writable"}') === 0,
        () => 'store_writable is told',
      );
    } finally {
      database.transaction = transaction;
    }
  });

  test('the newest verified backup and the last verification are told, whoever made them.', async () => {
    const backups = mkdtempSync(join(tmpdir(), 'counterfoil-backups-'));
    assert.equal(await newestBackupAt(backups, Date.now()), 0);
    for (const [name, list] of [
      ['old', '{}'],
      ['new', '{"unverified":true}'],
    ] as const) {
      mkdirSync(join(backups, name));
      writeFileSync(join(backups, name, 'backup.json'), list);
    }
    const [port] = await freePorts(1);
    const configuration = `metrics: { port: ${port} }\nbackups: ${backups}\n`;
    const other = await startHarness('sqlite', { configuration });
    const read = async (series: string) =>
      value(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), series);
    try {
      assert.equal(await read('counterfoil_checkpoint_newest_timestamp_seconds'), undefined); // there are no entries to sign
      const made = (await read('counterfoil_backup_newest_timestamp_seconds'))!;
      assert.ok(Math.abs(made - statSync(join(backups, 'old')).mtimeMs / 1000) < 0.01, `${made}`);
      await other.create();
      const config = ['--config', join(other.store.storage, 'counterfoil.yaml')];
      const verify = async () =>
        (await run(['audit', 'verify', ...config], { env: { COUNTERFOIL_STORAGE: other.store.storage } }))
          .code;
      const at = 'counterfoil_verification_last_timestamp_seconds';
      const intact = 'counterfoil_verification_intact';
      assert.deepEqual([await read(at), await read(intact)], [undefined, undefined]);
      const begun = Date.now() / 1000;
      assert.equal(await verify(), 0);
      assert.equal(await read(intact), 1);
      const verified = (await read(at))!;
      assert.ok(verified > begun - 1 && verified <= Date.now() / 1000, `${verified - begun} s`);
      await editOutside(other.store, 'update payments set amount_minor = 1');
      assert.equal(await verify(), 1);
      assert.equal(await read(intact), 0);
      await acknowledgeAll(other, 'Edited by hand');
      assert.equal(await verify(), 0);
      assert.deepEqual(
        [await read(intact), await read('counterfoil_verification_acknowledged_faults')],
        [1, 1],
      );
    } finally {
      await other.close();
      rmSync(backups, { recursive: true, force: true });
    }
  });

  test('whatever the dashboard and the page on measurements name is measured, and the page names all of ours.', async () => {
    const text = await scrape();
    const exposed = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
    const known = (name: string) =>
      exposed.has(name) || exposed.has(name.replace(/_(bucket|sum|count)$/, ''));
    for (const file of ['deploy/grafana-dashboard.json', 'docs/metrics.md', 'deploy/alerts.yml']) {
      const named = new Set([...read(file).matchAll(NAME)].map(([name]) => name));
      assert.ok(named.size > 10, file);
      assert.deepEqual(
        [...named].filter((name) => !known(name)),
        [],
        file,
      );
    }
    const page = read('docs/metrics.md');
    assert.deepEqual(
      [...exposed].filter((name) => name.startsWith('counterfoil_') && !page.includes(`\`${name}\``)),
      [],
    );
  });
});

test('the end of the certificate is the one of the newest that was read.', {
  skip: !hasOpenssl && 'openssl is missing',
}, async () => {
  const certificates = temporaryCertificates();
  const files = certificates.make('short', ['-days', '10']);
  const [port] = await freePorts(1);
  const configuration = `metrics: { port: ${port} }\ntls: { certificate: ${files.certificate}, key: ${files.key} }\n`;
  const service = await startHarness('sqlite', { configuration });
  const daysLeft = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const [, end] = /^counterfoil_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text)!;
    return Math.round((Number(end) - service.clock.now() / 1000) / 86_400);
  };
  try {
    assert.equal(await daysLeft(), 10);
    const renewed = certificates.make('long', ['-days', '50']);
    copyFileSync(renewed.key, files.key);
    copyFileSync(renewed.certificate, files.certificate);
    service.service.renewCertificate();
    assert.equal(await daysLeft(), 50);
  } finally {
    await service.close();
    certificates.remove();
  }
});
