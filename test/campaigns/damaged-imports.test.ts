// Damaged statement files are sent to a server: each is imported or refused, nothing of a refused one stands, and what was answered is all.
// COUNTERFOIL_RUNS: how many files, on each engine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { composeIBAN } from 'ibantools';
import { readStatements } from '#bank-statements';
import { corpusFiles, damaged } from '../../packages/bank-statements/test/support/damage.ts';
import { addPerson } from '../support/admin.ts';
import { camt, inOneFile } from '../support/camt.ts';
import { startHarness } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ENGINES } from '../support/stores.ts';

const RUNS = Number(process.env.COUNTERFOIL_RUNS) || 150;
/** Between two counts of what stands. */
const EVERY = 50;
/** A file that takes longer hangs, in milliseconds. */
const ANSWER_MS = 20_000;

/** One account for each: a line that one account knows is new to another. */
const CURRENCIES =
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF ILS INR JPY KRW MXN MYR NOK NZD PHP PLN RON SEK SGD THB TRY USD ZAR'.split(
    ' ',
  );
const ACCOUNTS = CURRENCIES.map(
  (_, i) => composeIBAN({ countryCode: 'DE', bban: `50010517${String(i + 1).padStart(10, '0')}` })!,
);
const configuration = `methods:
  - type: bank_transfer
    accounts:
${CURRENCIES.map(
  (currency, i) => `      - { currency: ${currency}, holder: Development Shop, iban: ${ACCOUNTS[i]} }\n`,
).join('')}`;

/** A file as its bank would have written it for an account of ours. */
function writtenFor(own: string, [name, file]: readonly [string, Buffer]): Buffer {
  let text = file.toString('latin1');
  for (const { account } of readStatements(file, name).statements) {
    const written = account.iban ?? account.other;
    if (written) text = text.replaceAll(written, own);
  }
  return Buffer.from(text, 'latin1');
}

/** Two statements in one file: if one stands without the other, the file was imported by half. */
function twoStatements(): Buffer {
  const [one, two] = ['1', '2'].map((number) =>
    camt([{ amount: '9.90', bank: `TWO${number}`, text: 'Order 9' }], { number }),
  );
  return Buffer.from(inOneFile(one!, two!));
}

for (const engine of ENGINES)
  test(`${RUNS} damaged files are imported whole or refused whole on ${engine}`, async (context) => {
    const { seed } = new SeededRandom();
    context.diagnostic(`seed ${seed} (COUNTERFOIL_SEED)`);
    await using harness = await startHarness(engine, { configuration });
    const { database } = harness.service;
    const ana = await addPerson(harness, 'reviewer', 'Ana');
    const originals = [...corpusFiles(), ['two.xml', twoStatements()] as const];
    const files = ACCOUNTS.flatMap((own) =>
      originals.map((one) => [{ own, name: one[0] }, writtenFor(own, one)] as const),
    );
    const answered = { statements: 0, lines: 0, imported: 0, refused: 0, sent: 0 };
    const standsAsAnswered = async () => {
      database.refresh();
      const count = async (table: string) =>
        Number((await database.query<{ n: number }>(`select count(*) as n from ${table}`))[0]!.n);
      assert.equal(await count('statements'), answered.statements);
      assert.equal(await count('statement_lines'), answered.lines);
    };
    await fc.assert(
      fc.asyncProperty(damaged(files), fc.boolean(), async ([{ own, name }, body], despiteFaults) => {
        const query = new URLSearchParams({ file: name, despite_faults: `${despiteFaults}` });
        if (name.endsWith('.csv')) query.set('account', own);
        const begun = performance.now();
        const answer = await harness.request(`/admin/statements?${query}`, {
          method: 'POST',
          key: ana.token,
          body,
          headers: { 'content-type': 'application/octet-stream' },
        });
        assert.ok(performance.now() - begun < ANSWER_MS, `${name} took too long`);
        assert.ok([201, 422].includes(answer.status), `${name}: ${answer.status} ${answer.text}`);
        if (answer.status === 201) {
          answered.imported += 1;
          for (const { id, added } of answer.json.data.statements) {
            if (id !== null) answered.statements += 1;
            answered.lines += added;
          }
        } else {
          answered.refused += 1;
          assert.ok(Object.keys(answer.json.error.details).length > 0, answer.text);
        }
        answered.sent += 1;
        if (answered.sent % EVERY === 0) await standsAsAnswered();
      }),
      { numRuns: RUNS, seed, endOnFailure: true },
    );
    await standsAsAnswered();
    await harness.verify();
    context.diagnostic(JSON.stringify(answered));
    assert.ok(answered.imported > RUNS / 10 && answered.refused > RUNS / 10, 'some of each kind');
  });
