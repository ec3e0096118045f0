// A store that was moved serves on: everything read is what it was to the byte, keys, sessions and stored responses work, and back again.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type CsvLayout, readStatements } from '#bank-statements';
import { createLogger } from '../../../src/lib/log.ts';
import { createInvite } from '../../../src/merchants/invite.ts';
import type { Caller } from '../../../src/merchants/merchant.ts';
import { readConfiguration } from '../../../src/operate/config.ts';
import { createPayment } from '../../../src/payments/create.ts';
import { listFullStretches } from '../../../src/payments/history.ts';
import { STRETCH } from '../../../src/payments/history-queries.ts';
import { DEFAULT_TERMS } from '../../../src/payments/pay-by.ts';
import { STATUSES } from '../../../src/payments/payment.ts';
import { parsePaymentRequest } from '../../../src/payments/request.ts';
import { checkFile, importFile } from '../../../src/statements/import-file.ts';
import { acknowledgeSome } from '../../campaigns/acknowledging.ts';
import { actOrAdminister } from '../../campaigns/administration.ts';
import { addToken } from '../../support/admin.ts';
import { ACCOUNT, camt } from '../../support/camt.ts';
import { run } from '../../support/command.ts';
import { type Client, signIn } from '../../support/console.ts';
import { contentsOf } from '../../support/contents.ts';
import {
  type Harness,
  KEY,
  startHarness,
  startPatiently,
  writeConfiguration,
} from '../../support/harness.ts';
import { type MailServer, startMailServer, type Taken } from '../../support/mail-server.ts';
import { TEXTS } from '../../support/nasty-values.ts';
import { decide, erase, submit } from '../../support/payments.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { addMerchant } from '../../support/store-merchant.ts';
import { type Store, temporaryStore } from '../../support/stores.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';

/** One address wherever it listens, so that answers that hold it compare. */
const CONFIGURATION = 'base_url: http://pay.test/api\ncheckout_base_url: http://pay.test/checkout\n';
const PAGE = 50;
/** Of all kinds, drawn by chance. */
const ACTS = 100;
const ORDER = { method: 'POST', body: { amount: 7 }, headers: { 'idempotency-key': 'order-7' } };

const random = new SeededRandom();

describe('a moved store', () => {
  let service: Harness;
  let postgres: Store;
  let config: string;
  let browser: Client;
  let token: string;
  let merchantKey: string;
  let kept: string;
  let readBefore: string[];
  let entries: number;

  const sqlite = () => ({ storage: service.store.storage, database_url: null });
  const onPostgres = () => ({ storage: service.store.storage, database_url: postgres.database_url });

  /** Serves a store of the same storage directory in the place of the one that was served. */
  async function serve(store: ReturnType<typeof sqlite | typeof onPostgres>): Promise<void> {
    const configuration = readConfiguration(config, {
      PORT: '0',
      COUNTERFOIL_STORAGE: store.storage,
      DATABASE_URL: store.database_url ?? undefined,
    });
    service.service = await startPatiently(configuration, {
      log: createLogger('error', { write: () => {} }),
      clock: service.clock,
      onBroken: assert.ifError,
    });
    const { port } = service.service.app.server.address() as AddressInfo;
    service.origin = `http://127.0.0.1:${port}/api`;
  }

  const move = (to: string) =>
    run(['move', '--to', to], {
      env: {
        COUNTERFOIL_CONFIG: config,
        COUNTERFOIL_STORAGE: service.store.storage,
        DATABASE_URL: postgres.database_url!,
      },
    });

  /** Every page of a list, as text. */
  async function pages(path: string, key: string): Promise<string[]> {
    const texts: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer = await service.request(`${path}?limit=${PAGE}${cursor && `&cursor=${cursor}`}`, { key });
      assert.equal(answer.status, 200, answer.text);
      texts.push(answer.text);
      cursor = answer.json.next_cursor ?? null;
    }
    return texts;
  }

  /** All that merchants and administrators read, one after another. */
  async function everythingRead(): Promise<string[]> {
    const lists = [
      ...(await pages('/v1/payments', KEY)),
      ...(await pages('/v1/payments', merchantKey)),
      ...(await pages('/admin/payments', token)),
    ];
    const ids = new Set(lists.join('').match(/pay_[0-9a-z]{36}/g));
    const payments: string[] = [];
    for (const id of ids)
      for (const [path, key] of [
        ['/v1/payments', KEY],
        ['/admin/payments', token],
      ] as const)
        payments.push((await service.request(`${path}/${id}`, { key })).text);
    return [...lists, ...payments];
  }

  /** A live payment of the development merchant, which no key of the development reads: the administrator's token does. */
  function createLive(): Promise<unknown> {
    const caller: Caller = {
      merchant: { id: 'mer_development', name: 'Development Shop' },
      key: { id: 'key_0000000000000000', digest: '0', mode: 'live', expires_at: null },
      limits: {},
      actor: 'merchant:mer_development',
    };
    const request = parsePaymentRequest({ amount: 12 }, { strict: true, httpsOnly: false });
    return service.service.journal.commit((one) =>
      createPayment(one, caller, { actor: caller.actor, request_id: null }, request, DEFAULT_TERMS),
    );
  }

  /** Payments in every status, one of them erased, and an invitation. */
  async function payInEachWay(): Promise<void> {
    const [approved, rejected, waiting, cancelled] = await Promise.all(
      Array.from({ length: 4 }, async () => (await service.create({ description: 'Zoë' })).id as string),
    );
    for (const id of [approved!, rejected!, waiting!]) await submit(service, id);
    await decide(service, approved!);
    await decide(service, rejected!, 'reject');
    await service.request(`/v1/payments/${cancelled}/cancel`, { method: 'POST' });
    await erase(service, rejected!);
    await service.service.journal.commit((one) =>
      createInvite(one, { mode: 'live', note: 'Zoë 𝒵', days: 9 }, { actor: 'operator', request_id: null }),
    );
  }

  /** A webhook endpoint that got an event, and is off since. */
  async function deliverOne(): Promise<void> {
    const receiver = await WebhookReceiver.start();
    const post = { method: 'POST', body: { url: receiver.url() } };
    const { id } = (await service.request('/v1/webhook_endpoints', post)).json.data;
    await service.create();
    await receiver.have(1);
    const attempts = () => service.service.database.query('select number from webhook_attempts');
    while ((await attempts()).length === 0) await delay(20);
    const off = { method: 'PATCH', body: { status: 'disabled' } };
    assert.equal((await service.request(`/v1/webhook_endpoints/${id}`, off)).status, 200);
    await receiver.close();
  }

  /** A bank statement with a line, and how the account's CSV files are read. */
  async function importStatement(): Promise<void> {
    const read = readStatements(
      camt([{ amount: '49.90', bank: 'A1', text: 'Zoë 𝒵', name: 'Zoë 𝒵' }]),
      'november.xml',
    );
    const accounts = [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }];
    const act = { actor: 'operator', request_id: null };
    const options = { despiteFaults: false, dryRun: false };
    const layout: CsvLayout = {
      delimiter: 'semicolon',
      quote: 'double',
      dates: 'dmy',
      decimal: 'comma',
      sign: 'signed',
      columns: { day: ['Buchungstag'], amount: ['Betrag'] },
    };
    const confirmed = [{ account: ACCOUNT, shape: 'a', layout }];
    await importFile(
      service.service.journal,
      { ...checkFile(read, [{ accounts }]), confirmed },
      act,
      options,
    );
  }

  /** The line is ignored, and so are those like it from now on. */
  async function makeRule(): Promise<void> {
    const [line] = await service.service.database.query('select id from statement_lines');
    const page = await browser.get(`/statements/lines/${line!.id}`);
    const done = await browser.send(page, { reason: 'Rent', always: 'yes' }, /^Ignore/);
    assert.equal(done.status, 200, done.body);
  }

  /** A link that left by mail. */
  async function sendLink(mail: MailServer): Promise<void> {
    const { id } = await service.create({ customer: { email: 'zoe@example.com' } });
    assert.equal((await service.request(`/v1/payments/${id}/send_link`, { method: 'POST' })).status, 200);
    const isOurs = ({ letter }: Taken) => letter.text!.includes(id);
    while (!(await mail.next()).some(isOurs)) {}
  }

  /** Entries enough for a stretch of the history, and its list. */
  async function fillAStretch(): Promise<void> {
    const { database, journal } = service.service;
    const entry = { actor: 'operator', action: 'test.filled', subject: 'test', request_id: null, facts: {} };
    await journal.commit((one) => {
      for (let added = 0; added < STRETCH; added++) one.record(entry);
    });
    database.refresh();
    await listFullStretches(database, journal);
  }

  /** Whether what was read before is read again, and what was given then still works. Adds one payment. */
  async function requireWhole(): Promise<void> {
    const read = await everythingRead();
    assert.equal(read.length, readBefore.length);
    for (const [i, text] of read.entries()) assert.equal(text, readBefore[i]);
    const replayed = await service.request('/v1/payments', ORDER);
    assert.deepEqual([replayed.status, replayed.text], [201, kept]);
    assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
    assert.equal((await service.request('/v1/payments?limit=1', { key: merchantKey })).status, 200);
    assert.equal((await browser.get(new URL(`${service.origin}/console/account`))).h1, 'Your account');
    assert.equal((await service.verify()).entries, entries);
    await service.create();
    const verified = await service.verify();
    assert.equal(verified.entries, entries + 1, 'numbers go on');
    entries = verified.entries;
  }

  before(async () => {
    console.log(`move: seed ${random.seed} (COUNTERFOIL_SEED)`);
    await using mail = await startMailServer();
    service = await startHarness('sqlite', { configuration: CONFIGURATION + mail.configuration });
    postgres = await temporaryStore('postgres');
    config = writeConfiguration(service.store, 'development', CONFIGURATION);
    await payInEachWay(); // before what may end a reviewer's access
    await deliverOne();
    await importStatement();
    for (let i = 0; i < ACTS; i++) await actOrAdminister(service, random);
    await submit(service, (await service.create()).id); // what waited may have been decided by now
    for (const text of TEXTS)
      await service.request('/v1/payments', {
        method: 'POST',
        body: { amount: 1, description: text, metadata: { [text]: text } },
      });
    await createLive();
    merchantKey = (await addMerchant(service)).key;
    await service.create({}, { key: merchantKey });
    const account = await signIn(service);
    browser = account;
    await makeRule();
    await sendLink(mail);
    token = (await addToken(service, account.account.administrator.id, 'auditor')).token;
    kept = (await service.request('/v1/payments', ORDER)).text;
    await acknowledgeSome(service);
    await fillAStretch();
    await service.stop(); // signs what there is, which administrators are told of each entry
    await service.start();
    readBefore = await everythingRead();
    ({ entries } = await service.verify());
    await service.stop();
  });
  after(async () => {
    await service.service.stop();
    await service.store.drop();
    await postgres.drop();
  });

  test('serves on PostgreSQL what it served on SQLite', async () => {
    const { code, stdout, stderr } = await move('postgres');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Moved [\d,]+ rows of \d+ tables from SQLite to PostgreSQL, every one read/);
    assert.match(stdout, /, \d+ checkpoints?, with 3 acknowledged faults\.\n/);
    assert.match(stdout, /\nNext:\n {2}1\. write database_url into .*counterfoil\.yaml/);
    const contents = await contentsOf(onPostgres());
    assert.deepEqual(contents, await contentsOf(sqlite()));
    // Passkeys come by chance; what else there is, is there.
    for (const [table, rows] of Object.entries(contents))
      assert.ok(rows.length > 0 || table === 'passkeys', `${table} is not empty`);
    const statuses = contents.payments!.map((row) => JSON.parse(row).status);
    assert.deepEqual([...new Set(statuses)].sort(), [...STATUSES].sort());
    await serve(onPostgres());
    await requireWhole();
  });
});
