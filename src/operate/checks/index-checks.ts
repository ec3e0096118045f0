// The check that proves every index against its table. It reads the whole store, so it runs only on request.
import { type Check, failed, intoStore, ok, skipped } from './check.ts';

const indexes: Check = {
  id: 'indexes',
  about: 'Indexes',
  stage: 'store',
  always: true,
  look: intoStore(async (database, { deep }) => {
    if (!deep)
      return skipped(
        'The indexes are not proven without --deep',
        'run counterfoil doctor --deep or audit verify',
      );
    const [fault] = await database.indexFaults();
    if (fault === undefined) return ok('Every index leads to the rows that it should');
    const fix =
      database.engine === 'sqlite'
        ? 'keep a copy of the file, find out who wrote to it, and restore a backup that verifies'
        : 'find out why, then run reindex index for it';
    return failed(`The store finds other rows than it holds: ${fault}`, fix);
  }),
};

export const INDEX_CHECKS: readonly Check[] = [indexes];
