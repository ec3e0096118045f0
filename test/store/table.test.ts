// That each definition of a table is the table that the migrations make, and that rows are written by the names of their columns.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ADMINISTRATORS, PASSKEYS, SESSIONS, TOKENS } from '../../src/administrators/administrator.ts';
import { SECRET_KEYS } from '../../src/journal/keys/open-ring.ts';
import { API_KEYS, INVITES, MERCHANTS } from '../../src/merchants/merchant.ts';
import { PAYMENTS } from '../../src/payments/payment.ts';
import { KEPT_ANSWERS } from '../../src/payments/queries.ts';
import { type JournalOnStore, startJournal } from '../support/journal.ts';
import { ENGINES } from '../support/stores.ts';

const TABLES = [
  ...[PAYMENTS, KEPT_ANSWERS, MERCHANTS, API_KEYS, INVITES],
  ...[ADMINISTRATORS, PASSKEYS, SESSIONS, TOKENS, SECRET_KEYS],
];

/** The columns of a table as the store has them. */
const ASKED = {
  sqlite: `select name, case when "notnull" = 0 and pk = 0 then 1 else 0 end as may_be_null, lower(type) as type from pragma_table_info(?)`,
  postgres: `select column_name as name, case is_nullable when 'YES' then 1 else 0 end as may_be_null, data_type as type
    from information_schema.columns where table_schema = current_schema() and table_name = ?`,
};

for (const engine of ENGINES) {
  describe(`tables on ${engine}`, () => {
    let store: JournalOnStore;
    before(async () => (store = await startJournal(engine)));
    after(() => store.close());

    for (const table of TABLES)
      test(`${table.name} has the columns of its definition`, async () => {
        const found = await store.database.query<{ name: string; may_be_null: number }>(
          ASKED[engine],
          table.name,
        );
        assert.deepEqual(found.map(({ name }) => name).sort(), [...table.columns].sort());
        const nullable = found.filter(({ may_be_null }) => may_be_null === 1).map(({ name }) => name);
        assert.deepEqual(nullable.sort(), Object.keys(table.nulls).sort());
      });

    test('rows whose fields stand in different orders are each written by their names', async () => {
      const key = { created_at: 1, id: 'one', removed_at: null };
      const other = { id: 'two', removed_at: 4, created_at: 2 };
      await store.journal.commit((transaction) => {
        transaction.insert(SECRET_KEYS, key);
        transaction.insert(SECRET_KEYS, other);
        transaction.record({ actor: 'test', action: 'tested', subject: 'rows', request_id: null, facts: {} });
      });
      const sql = `select ${SECRET_KEYS.columnList} from secret_keys where id in ('one', 'two') order by id`;
      assert.deepEqual(
        (await store.database.query(sql)).map((row) => ({ ...row })),
        [key, other],
      );
    });
  });
}
