// A process that has no file descriptor left: what it commits stands once, and is answered as what became of it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrate } from '../../src/store/migrate.ts';
import { unhurried } from '../support/journal.ts';
import { openPatiently, temporaryStore } from '../support/stores.ts';

const CHILD = 'COUNTERFOIL_TEST_STORAGE';
const storage = process.env[CHILD];

if (storage === undefined) {
  test('the first commit of a process without descriptors is made once', async (context) => {
    const store = await temporaryStore('sqlite');
    context.after(() => store.drop());
    const database = await openPatiently(store);
    await migrate(database);
    await database.close();
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', 'ulimit -n 256; exec "$0" "$1"', process.execPath, fileURLToPath(import.meta.url)],
      { env: { ...process.env, NODE_TEST_CONTEXT: undefined, [CHILD]: store.storage } },
    );
    assert.deepEqual(JSON.parse(stdout), { answers: ['a', 'b'], history: ['test:a', 'test:b'] });
  });
} else {
  process.stdout.write(JSON.stringify(await commitWithoutDescriptors(storage)));
}

/** Opens the store anew, takes every descriptor, and hands in two works. */
async function commitWithoutDescriptors(storage: string) {
  const database = await openPatiently({ storage, database_url: null });
  const journal = unhurried(database);
  await database.query('select 1'); // the reading connection has its files
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {} // EMFILE
  const commit = (name: string) =>
    journal.commit((transaction) => {
      const act = { actor: 'system', action: 'test.done', subject: `test:${name}`, request_id: null };
      transaction.record({ ...act, facts: {} });
      return name;
    });
  const answers = await Promise.allSettled([commit('a'), commit('b')]);
  for (const descriptor of taken) closeSync(descriptor);
  database.refresh();
  const history = await database.query<{ subject: string }>(
    "select subject from audit_entries where action = 'test.done' order by number",
  );
  await journal.close();
  await database.close();
  return {
    answers: answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason))),
    history: history.map((row) => row.subject),
  };
}
