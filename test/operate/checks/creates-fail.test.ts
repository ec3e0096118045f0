// A store in which no payment can be stored: readiness, doctor and the log say so within seconds, and that it is over within one.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Subject, Verdict } from '../../../src/operate/checks/check.ts';
import { CHECKS } from '../../../src/operate/checks/checks.ts';
import { DELETED_FROM } from '../../../src/store/rights.ts';
import { clockwork } from '../../support/clockwork.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { type OwnedStore, ownedStore } from '../../support/owned-store.ts';
import { ENGINES, type Engine, type Store, temporaryStore } from '../../support/stores.ts';
import { becomes, eventually, LONGER_THAN_A_TEST_MS } from '../../support/waiting.ts';

/** A rehearsal that went well is good for so long; tests let this time pass at once. */
const REHEARSED_FOR_MS = 5000;
const DEFECTS_COUNT_FOR_MS = 10_000;

interface Broken {
  service: Harness;
  /** Changes the database behind the service. */
  change(sql: string): Promise<void>;
}

async function withService(engine: Engine, use: (broken: Broken) => Promise<void>): Promise<void> {
  const store: Store = engine === 'postgres' ? await ownedStore() : await temporaryStore('sqlite');
  await using service = await startHarness(engine, { store });
  const change = async (sql: string) => {
    if (engine === 'postgres') return (store as OwnedStore).asSuperuser(sql);
    await editOutside(store, sql);
  };
  await use({ service, change });
}

const createStatus = async ({ request }: Harness) =>
  (await request('/v1/payments', { method: 'POST', body: { amount: 1 } })).status;

/** The status of `/health`, and the status of `/health/ready` with what it names. */
async function told({ request }: Harness) {
  const health = await request('/health', { key: null });
  const ready = await request('/health/ready', { key: null });
  return [health.status, ready.status, ...ready.json.failing];
}
const WELL = [200, 200];
const BROKEN = [503, 503, 'payments_writable'];

/** What one check of doctor says of the store as it is. */
async function verdict({ service }: Harness, id: string): Promise<Verdict> {
  const check = CHECKS.find((one) => one.id === id)!;
  service.database.refresh();
  return check.look({ store: { database: service.database } } as unknown as Subject);
}

/** What doctor says of the service's own address. */
async function reached({ store, origin }: Harness): Promise<Verdict> {
  const check = CHECKS.find(({ id }) => id === 'reach_api')!;
  const settings = { environment: 'production', ...store };
  const subject = { settings, urls: { public: origin }, deadlineMs: LONGER_THAN_A_TEST_MS };
  return check.look(subject as unknown as Subject);
}

/** A way to break creates, how doctor tells of it, and how it is put right: by what doctor says. */
interface Fault {
  what: string;
  engines: readonly Engine[];
  breaks: string;
  check: string;
  says: RegExp;
  fix: RegExp;
  /** `MENDED` stands for what doctor says to run. */
  fixes?: (fix: string) => string;
}

const FAULTS: readonly Fault[] = [
  {
    what: 'a column renamed',
    engines: ENGINES,
    breaks: 'alter table payments rename column customer to customers',
    check: 'tables',
    says: /^Column payments\.customer is missing, column payments\.customers was added by another hand$/,
    fix: /^rename it back: alter table payments rename column customers to customer$/,
  },
  {
    what: 'INSERT on payments revoked',
    engines: ['postgres'],
    breaks: 'revoke insert on payments from OWNER',
    check: 'store',
    says: /^The account that database_url names may not insert in the table payments$/,
    fix: /^run grant insert on payments to owner_\w+$/,
  },
  {
    what: 'UPDATE on payments revoked',
    engines: ['postgres'],
    breaks: 'revoke update on payments from OWNER',
    check: 'store',
    says: /^The account that database_url names may not update in the table payments$/,
    fix: /^run grant update on payments to owner_\w+$/,
  },
  {
    what: 'the table of stored responses belongs to somebody else',
    engines: ['postgres'],
    breaks: 'alter table idempotency_keys owner to postgres',
    check: 'store',
    says: /may not select, insert, delete|may not select, insert, update, delete in the table idempotency_keys$/,
    fix: /^run grant select, insert, update, delete on idempotency_keys to owner_\w+$/,
  },
  {
    what: 'a trigger of another hand that refuses payments',
    engines: ['sqlite'],
    breaks: "create trigger no_payments before insert on payments begin select raise(abort, 'no'); end",
    check: 'tables',
    says: /^Trigger no_payments was added by another hand$/,
    fix: /^drop the trigger no_payments, then run counterfoil audit verify$/,
    fixes: () => 'drop trigger no_payments',
  },
];

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    for (const { what, engines, breaks, check, says, fix, fixes } of FAULTS) {
      if (!engines.includes(engine)) continue;
      test(`${what}: health, readiness, log and doctor say so, and what doctor says to run puts it right.`, async (context) => {
        const pass = clockwork(context);
        await withService(engine, async ({ service, change }) => {
          const owner = (service.store as OwnedStore).role;
          await becomes(WELL, () => told(service));
          assert.equal((await verdict(service, check)).is, 'ok');
          await change(breaks.replace('OWNER', owner));
          pass(REHEARSED_FOR_MS);
          await becomes(BROKEN, () => told(service));
          assert.ok(service.logged.some((line) => line.includes('no payment can')));
          const found = await verdict(service, check);
          assert.equal(found.is, 'failed');
          assert.match(found.says, says);
          assert.match(found.fix!, fix);
          const address = await reached(service);
          assert.match(address.says, /503: no payment/);
          assert.match(address.fix!, /^it runs: .*\/health\/ready/);
          const statement = fixes ? fixes(found.fix!) : found.fix!.replace(/^(run|rename it back:) /, '');
          await change(statement);
          await becomes(WELL, () => told(service));
          assert.equal(await createStatus(service), 201);
          assert.ok(service.logged.some((line) => line.includes('stored again')));
          assert.notEqual((await verdict(service, check)).is, 'failed');
          await service.verify();
        });
      });
    }

    test('a create that fails as a defect is told of at once, and a rehearsal leaves nothing behind.', async () => {
      await withService(engine, async ({ service, change }) => {
        await becomes(WELL, () => told(service));
        await change('alter table payments rename column customer to customers');
        assert.equal(await createStatus(service), 500);
        await becomes(BROKEN, () => told(service));
        await change('alter table payments rename column customers to customer');
        await becomes(WELL, () => told(service));
        const count = async (table: string) =>
          (
            await service.service.database.query<{ count: number }>(`select count(*) as count from ${table}`)
          )[0]!.count;
        for (const table of ['payments', 'idempotency_keys', 'audit_entries', 'seals'])
          assert.equal(await count(table), 0, table);
        await service.verify();
      });
    });

    test('changes that fail as defects make a node unready for ten seconds, until one stands; refusals do not.', async (context) => {
      const pass = clockwork(context);
      await withService(engine, async ({ service }) => {
        const { journal } = service.service;
        const defect = () =>
          assert.rejects(
            journal.commit(() => {
              throw new TypeError('a defect');
            }),
            TypeError,
          );
        for (let i = 0; i < 5; i++) await service.request('/v1/payments/nothing/cancel', { method: 'POST' });
        for (let i = 0; i < 2; i++) await defect();
        assert.deepEqual(await told(service), WELL);
        await defect();
        assert.deepEqual(await told(service), [200, 503, 'payments_writable']);
        await service.create();
        assert.deepEqual(await told(service), WELL);
        for (let i = 0; i < 3; i++) await defect();
        assert.deepEqual(await told(service), [200, 503, 'payments_writable']);
        pass(DEFECTS_COUNT_FOR_MS);
        assert.deepEqual(await told(service), WELL);
      });
    });

    test('webhooks that cannot be written leave a node ready, and are reported once.', async (context) => {
      await withService(engine, async ({ service, change }) => {
        if (engine === 'postgres') return; // readiness does not ask which engine refused
        const body = { url: 'http://localhost:9/hook' };
        await service.request('/v1/webhook_endpoints', { method: 'POST', body });
        const refuse = "before insert on webhook_deliveries begin select raise(abort, 'no'); end";
        await change(`create trigger no_webhooks ${refuse}`);
        await service.create();
        const failed = () =>
          service.logged.filter((line) => line.includes('webhooks cannot be delivered')).length;
        await becomes(1, failed);
        const tries = context.mock.method(service.service.journal, 'commitAside').mock;
        await eventually(async () => {
          assert.deepEqual(await told(service), WELL);
          return tries.callCount() > 2;
        });
        assert.equal(failed(), 1);
        await change('drop trigger no_webhooks');
        await becomes(true, () =>
          service.logged.some((line) => line.includes('webhooks are delivered again')),
        );
      });
    });

    test('doctor tells of webhooks that are due and that no node sends.', async () => {
      await withService(engine, async ({ service }) => {
        const body = { url: 'http://localhost:9/hook' };
        await service.request('/v1/webhook_endpoints', { method: 'POST', body });
        await service.create();
        const { database } = service.service;
        const due = () => database.query('select due_at from webhook_deliveries where attempts > 0');
        await eventually(async () => (await due()).length > 0);
        const check = CHECKS.find(({ id }) => id === 'webhooks')!;
        const look = async (inMs: number) => {
          const clock = { now: () => Date.now() + inMs };
          return (await check.look({ store: { database }, clock, settings: { time_zone: 'UTC' } } as Subject))
            .is;
        };
        assert.equal(await look(0), 'ok');
        assert.equal(await look(3_600_000), 'warning', 'as after an hour in which nobody sent');
      });
    });

    test('a column, an index and a table that another version or hand added are no reason to be unready.', async (context) => {
      const pass = clockwork(context);
      await withService(engine, async ({ service, change }) => {
        await change('alter table payments add column note_of_later text');
        await change('create index later on payments (note_of_later)');
        pass(REHEARSED_FOR_MS);
        await becomes(WELL, () => told(service));
        assert.equal(await createStatus(service), 201);
        const found = await verdict(service, 'tables');
        assert.equal(found.is, 'warning');
        assert.match(found.says, /payments\.note_of_later was added .*index later was/);
      });
    });

    test('an index and a trigger that are missing are named with the statement that makes them again.', async () => {
      await withService(engine, async ({ service, change }) => {
        for (const [kind, name, drop] of [
          ['index', 'payments_by_reference', 'drop index payments_by_reference'],
          engine === 'sqlite'
            ? ['trigger', 'seals_no_update', 'drop trigger seals_no_update']
            : ['trigger', 'seals_append_only', 'drop trigger seals_append_only on seals'],
        ] as const) {
          await change(drop);
          const found = await verdict(service, 'tables');
          assert.equal(found.says, `${kind[0]!.toUpperCase()}${kind.slice(1)} ${name} is missing`);
          const statement = /^run (create .*?)(?:, then counterfoil audit verify: .*)?$/.exec(
            found.fix!,
          )?.[1];
          assert.ok(statement, found.fix!);
          await change(statement);
          assert.equal((await verdict(service, 'tables')).is, 'ok');
          await service.verify();
        }
      });
    });
  });
}

test('tables that belong to another account on PostgreSQL are a warning: only an upgrade needs their owner.', async () => {
  await withService('postgres', async ({ service, change }) => {
    const { role } = service.store as OwnedStore;
    await change(`alter table sessions owner to postgres; grant all on sessions to ${role}`);
    const found = await verdict(service, 'store');
    assert.equal(found.is, 'warning');
    assert.match(found.says, /not own .*table sessions, /);
    assert.match(
      found.fix!,
      new RegExp(`^run alter table sessions owner to ${role}, or run counterfoil migrate as`),
    );
  });
});

test('the tables that rows are deleted from are those of the program.', () => {
  const source = new URL('../../../src/', import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const named = files.flatMap((file) => [
    ...readFileSync(new URL(file, source), 'utf8').matchAll(/\bdelete from (\w+)/g),
  ]);
  assert.deepEqual([...new Set(named.map(([, table]) => table!))].sort(), DELETED_FROM);
});
