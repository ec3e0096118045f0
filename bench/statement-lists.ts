// Measures the console's lists and search of bank lines with 200,000 open lines.
// `node bench/statement-lists.ts` on SQLite; `npm test -- bench/statement-lists.ts` on PostgreSQL as well.
import { readStatements } from '#bank-statements';
import { checkFile, importFile } from '../src/statements/import-file.ts';
import { LINES } from '../src/statements/kept.ts';
import { ACCOUNT, camt, TRANSFERS } from '../test/support/camt.ts';
import { MANY_SIGN_INS, signIn } from '../test/support/console.ts';
import { startHarness } from '../test/support/harness.ts';

const [IMPORTED, COPIES, TIMES] = [2000, 99, 5];
const PATHS = [
  '/statements',
  '/statements?state=ignored',
  '/statements?q=Mustermann+1999',
  '/statements?q=RF18539007547034',
  '/statements?q=nothing',
];

const file = camt(
  Array.from({ length: IMPORTED }, (_, i) => ({
    amount: `${100 + (i % 900)}.00`,
    ...{ bank: `B${i}`, text: `Invoice ${i} of November`, name: 'Erika Mustermann' },
    day: `2026-11-${String(1 + (i % 26)).padStart(2, '0')}`,
  })),
);
const METHODS = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];

for (const engine of process.env.COUNTERFOIL_TEST_POSTGRES
  ? (['sqlite', 'postgres'] as const)
  : (['sqlite'] as const)) {
  const harness = await startHarness(engine, { configuration: MANY_SIGN_INS + TRANSFERS });
  try {
    const { journal, database } = harness.service;
    const ana = await signIn(harness);
    const options = { despiteFaults: false, dryRun: false };
    const act = { actor: 'operator', request_id: null };
    await importFile(journal, checkFile(readStatements(file, 'a.xml'), METHODS), act, options);
    const columns = LINES.columnList.split(/,\s*/).filter((name) => !['id', 'fingerprint'].includes(name));
    const imported = await database.query<{ id: string }>('select max(id) as id from statement_lines');
    for (let copy = 1; copy <= COPIES; copy++)
      await journal.commit(async (transaction) => {
        await transaction.query(
          `insert into statement_lines (id, fingerprint, ${columns}) select id || '_${copy}', fingerprint || '_${copy}', ${columns} from statement_lines where id <= ? and id not like '%\\_%\\_%' escape '\\'`,
          imported[0]!.id,
        );
      });
    if (engine === 'postgres') await database.query('analyze statement_lines');
    database.refresh();
    for (const path of PATHS) {
      const walls: number[] = [];
      const begun = process.cpuUsage();
      for (let i = 0; i < TIMES; i++) {
        const start = performance.now();
        await ana.get(path);
        walls.push(performance.now() - start);
      }
      const { user, system } = process.cpuUsage(begun);
      const median = walls.sort((a, b) => a - b)[Math.floor(TIMES / 2)]!;
      console.log(
        `${engine}: ${path}: ${median.toFixed(0)} ms, the quickest ${walls[0]!.toFixed(0)} ms; ${((user + system) / 1000 / TIMES).toFixed(0)} ms of processor time in Node`,
      );
    }
  } finally {
    await harness.close();
  }
}
