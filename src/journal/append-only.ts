// Whether the triggers that refuse to change entries and seals still stand as the first migration made them.
import type { Database } from '../database/database.ts';
import { knownMigrations } from '../database/migrate.ts';
import { HistoryBroken } from './history-broken.ts';
import { postgresTriggers, sqliteTriggers, type Trigger } from './queries.ts';
import type { View } from './seal-walk.ts';

const TRIGGERS: Record<Database['engine'], readonly string[]> = {
  sqlite: ['audit_entries_no_update', 'audit_entries_no_delete', 'seals_no_update', 'seals_no_delete'],
  postgres: ['audit_entries_append_only', 'seals_append_only'],
};

/**
 * The history proves itself without them. But nobody takes them away who means to leave it as it is, and without them a slip of
 * an operator's hand breaks it. Raises `HistoryBroken`.
 */
export async function requireAppendOnly(view: View, engine: Database['engine']): Promise<void> {
  const found = engine === 'sqlite' ? await sqliteTriggers(view) : await postgresTriggers(view);
  const asMade = new Set(found.filter(isAsMade).map(({ name }) => name));
  for (const name of TRIGGERS[engine]) {
    if (asMade.has(name)) continue;
    const how = found.some((one) => one.name === name) ? 'is not as it was made' : 'is missing or disabled';
    throw new HistoryBroken(`trigger ${name} ${how}, so that entries or seals can be changed`, {
      subject: name,
    });
  }
}

/** Whether the first migration holds a trigger's text: on SQLite its whole statement, on PostgreSQL its function's body. */
function isAsMade({ text }: Trigger): boolean {
  const made = knownMigrations()[0]!.sql;
  // SQLite keeps a trigger's text as it was written, but for these two words.
  return made.includes(text.replace(/^CREATE TRIGGER /, 'create trigger '));
}
