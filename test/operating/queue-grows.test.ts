// The runbook's entry on a queue that grows, walked: the alert's measurement rises, a reviewer is added by its command, and the queue is emptied.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../src/lib/time.ts';
import { addPerson, post, sentForReview } from '../support/admin.ts';
import { run } from '../support/command.ts';
import { freePort } from '../support/free-ports.ts';
import { startHarness } from '../support/harness.ts';
import { entry } from './runbook.ts';

const ENTRY = entry('The queue grows');

test('payments wait for hours, none expires, and what the entry says to run adds a reviewer who decides them', async () => {
  const port = await freePort();
  await using harness = await startHarness('sqlite', { configuration: `metrics: { port: ${port} }\n` });
  const measured = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const ids = [await sentForReview(harness), await sentForReview(harness)];
  harness.clock.advance(5 * HOUR_MS);
  assert.ok((await measured('counterfoil_review_oldest_waiting_age_seconds')) > 4 * 3600, 'the alert fires');
  assert.match(ENTRY, /counterfoil_review_waiting_payments/);
  assert.equal(await measured('counterfoil_review_waiting_payments'), 2);

  assert.match(ENTRY, /what is under review does not expire/);
  const ana = await addPerson(harness, 'administrator');
  for (const id of ids) {
    const seen = await harness.request(`/admin/payments/${id}`, { key: ana.token });
    assert.equal(seen.json.data.status, 'requires_review');
  }

  const [, line] = /`counterfoil (administrators create [^`]+)`/.exec(ENTRY)!;
  const args = line!.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
  const config = `${harness.store.storage}/counterfoil.yaml`;
  const added = await run([...args, '--config', config], {
    env: { COUNTERFOIL_STORAGE: harness.store.storage },
  });
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stdout, /https?:\/\/\S+/, 'the link for Ben');

  const ben = await addPerson(harness, 'reviewer', 'Ben Example');
  for (const id of ids) assert.equal((await post(harness, ben, `/admin/payments/${id}/approve`)).status, 200);
  assert.equal(await measured('counterfoil_review_waiting_payments'), 0);
  assert.equal(await measured('counterfoil_review_oldest_waiting_age_seconds'), 0);
});
