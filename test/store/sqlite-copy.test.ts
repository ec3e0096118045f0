// A copy of SQLite is of one moment, and ends, however much others write meanwhile.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { copySqlite, readSqliteCopy } from '../../src/store/sqlite-copy.ts';

const ROWS = 60_000;
/** It takes four. */
const STEPS_MAXIMUM = 20;

test('a database that is written between any two steps is copied once, as it was at the first', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
  const [file, copy] = [join(folder, 'store.sqlite'), join(folder, 'copy.sqlite')];
  const writer = new DatabaseSync(file);
  try {
    writer.exec(`pragma journal_mode = wal; create table rows (text text);
      insert into rows select hex(zeroblob(100)) from (with recursive n (i) as (select 1 union all select i + 1 from n where i < ${ROWS}) select i from n)`);
    const steps: number[] = [];
    await copySqlite(file, copy, (done) => {
      steps.push(done);
      // A copy that starts over does so each time: it would never end.
      if (steps.length < STEPS_MAXIMUM) writer.exec("insert into rows values ('meanwhile')");
    });
    assert.ok(steps.length >= 3 && steps.length < STEPS_MAXIMUM, `${steps.length} steps: ${steps}`);
    const found = await readSqliteCopy(copy, (view) =>
      view.snapshot((state) => state.query<{ count: number }>('select count(*) as count from rows')),
    );
    assert.deepEqual(found, [{ count: ROWS }]);
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('copy')),
      ['copy.sqlite'],
    );
  } finally {
    writer.close();
    rmSync(folder, { recursive: true });
  }
});
