// Acknowledged faults in campaigns: an operator's in an honest history, and those of an intruder who would acknowledge for himself.
import assert from 'node:assert/strict';
import { type AuditEntry, rowDigest, type Seal, sealEntries } from '../../src/journal/audit-entry.ts';
import { PAYMENTS } from '../../src/payments/payment.ts';
import { acknowledgeAll } from '../support/acknowledge.ts';
import type { Harness } from '../support/harness.ts';
import { editOutside, insertOutside } from '../support/outside.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { type Access, anyRow, type Edited } from './intruder.ts';

/** Changes a payment, deletes another and adds a third outside the service, and has an operator acknowledge all three. */
export async function acknowledgeSome(harness: Harness): Promise<void> {
  const { database } = harness.service;
  const [changed, gone] = [await harness.create(), await harness.create()];
  const [row] = await database.query('select * from payments where id = ?', gone.id);
  await editOutside(
    harness.store,
    `update payments set amount_minor = amount_minor + 1 where id = '${changed.id}'`,
  );
  await editOutside(harness.store, `delete from payments where id = '${gone.id}'`);
  await insertOutside(harness.store, 'payments', { ...row!, id: `${gone.id}x`, version: 9 });
  database.refresh();
  const faults = await acknowledgeAll(harness, 'Zoë edited them.');
  assert.deepEqual(faults.map(({ kind }) => kind).sort(), ['added', 'changed', 'missing']);
}

/** Changes an amount and acknowledges that himself, with an entry, a seal and a head that are all right. */
export async function acknowledgeOwn(access: Access, random: SeededRandom): Promise<Edited | undefined> {
  const payment = await anyRow(access, random, 'payments');
  const changed = { ...payment!, amount_minor: Number(payment!.amount_minor) + random.between(1, 1000) };
  await access.rows('update payments set amount_minor = ? where id = ?', changed.amount_minor, payment!.id!);
  const [last] = await access.rows<AuditEntry>(
    'select * from audit_entries where subject = ? order by number desc limit 1',
    payment!.id!,
  );
  const [seal] = await access.rows<Seal>('select * from seals order by number desc limit 1');
  const facts = {
    fault: 'changed',
    reason: 'Nothing to see here',
    entry: last!.number,
    version: Number(payment!.version),
    state: String(payment!.status),
    row: rowDigest(PAYMENTS.columns, changed),
  };
  const entry = {
    number: seal!.last_entry + 1,
    at: seal!.at,
    actor: 'operator',
    action: 'history.acknowledged',
    subject: String(payment!.id),
    request_id: null,
    facts: JSON.stringify(facts),
  };
  const closing = sealEntries(seal!.number + 1, seal!.hash, seal!.at, [entry]);
  await insert(access, 'audit_entries', entry);
  await insert(access, 'seals', closing);
  await access.rows('update journal_head set entries = ?, seals = ?', entry.number, closing.number);
  return { told: `changed ${entry.subject} and acknowledged it`, acknowledges: 1 };
}

async function insert(access: Access, table: string, row: object): Promise<void> {
  const columns = Object.keys(row);
  const marks = columns.map(() => '?').join(', ');
  await access.rows(`insert into ${table} (${columns.join(', ')}) values (${marks})`, ...Object.values(row));
}
