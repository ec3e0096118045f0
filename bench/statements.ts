// Measures statements: importing a CAMT file of 10,000 lines, and proposing for 1,000 lines among 100,000 open payments.
// `node bench/statements.ts` on SQLite; `npm test -- bench/statements.ts` on PostgreSQL as well.

import { readStatements } from '#bank-statements';
import { checkFile, importFile } from '../src/statements/import-file.ts';
import { propose } from '../src/statements/matching/propose.ts';
import { ACCOUNT, camt, MATCHING } from '../test/support/camt.ts';
import { startHarness } from '../test/support/harness.ts';
import { MONTH_END, month, storePayments } from '../test/support/months.ts';
import { SeededRandom } from '../test/support/seeded-random.ts';

const LINES = 10_000;
const OPEN = 100_000;
const MATCHED = 1000;
const MB = 1_000_000;

const entries = Array.from({ length: LINES }, (_, i) => ({
  amount: `${100 + (i % 900)}.${String(i % 100).padStart(2, '0')}`,
  bank: `B${i}`,
  text: `Invoice of October, order ${i}, thank you`,
  name: 'Erika Mustermann',
  iban: 'NL86INGB0002445588',
  endToEnd: `ORDER-${i}`,
}));
const file = camt(entries);

for (const engine of process.env.COUNTERFOIL_TEST_POSTGRES
  ? (['sqlite', 'postgres'] as const)
  : (['sqlite'] as const)) {
  const harness = await startHarness(engine);
  try {
    const { database, journal } = harness.service;
    globalThis.gc?.();
    const idle = process.memoryUsage.rss();
    let begun = performance.now();
    const read = readStatements(file, 'bench.xml');
    const readS = (performance.now() - begun) / 1000;
    const checked = checkFile(read, [
      { accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] },
    ]);
    begun = performance.now();
    await importFile(
      journal,
      checked,
      { actor: 'operator', request_id: null },
      { despiteFaults: false, dryRun: false },
    );
    const importS = (performance.now() - begun) / 1000;
    const aboveMb = (process.memoryUsage.rss() - idle) / MB;
    console.log(
      `${engine}: ${LINES} lines, ${(file.length / MB).toFixed(1)} MB: read in ${readS.toFixed(2)} s, imported in ${importS.toFixed(2)} s, ${aboveMb.toFixed(0)} MB above idle`,
    );
    const { payments, lines } = month(new SeededRandom(1), OPEN);
    await storePayments(journal, payments);
    database.refresh();
    const given = lines.slice(0, MATCHED).map(({ line }) => line);
    for (let run = 1; run <= 2; run++) {
      begun = performance.now();
      const proposals = await propose(database, given, { ...MATCHING, now: MONTH_END });
      const found = proposals.filter(({ proposals }) => proposals.length > 0).length;
      console.log(
        `${engine}: ${MATCHED} lines among ${OPEN} payments in ${((performance.now() - begun) / 1000).toFixed(2)} s, ${found} with a proposal`,
      );
    }
  } finally {
    await harness.close();
  }
}
