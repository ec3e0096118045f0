// The pages of bank statements for the gallery: lines of every kind, the certain ones, and what a file with faults comes to.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Scene } from '../../operate/pages/gallery.ts';
import { Bank, checked, methodsOf } from '../../support/bank.ts';
import { camt, type Entry, today } from '../../support/camt.ts';
import { press } from '../../support/chromium.ts';
import type { Client } from '../../support/console.ts';
import type { Harness } from '../../support/harness.ts';
import { referenceOf } from '../../support/payments.ts';
import { createAt } from '../../support/shop.ts';

const CORPUS = join(import.meta.dirname, '../../../packages/bank-statements/test/corpus');
const ACCOUNT = 'DE89370400440532013000';

export interface StatementStage {
  /** A line with proposals, one without, and one that is ignored. */
  odd: string;
  unknown: string;
  /** A line for two payments. */
  several: string;
  ignored: string;
}

/** Imports a statement with lines that are certain, odd and for nobody. */
export async function addStatements(harness: Harness, ana: Client): Promise<StatementStage> {
  const bank = new Bank(harness);
  // Of the harness's clock: money that came before its payment is never certain.
  const day = today(harness);
  const entries: Entry[] = [];
  for (const [i, amount] of [120, 89.9, 4300].entries()) {
    const reference = i === 2 ? 'ORDER/2026/NORTH-000000000000000000000000017' : `ORDER-30${i}`;
    const { id } = await createAt(harness, 'transfer', {
      amount,
      currency: 'EUR',
      merchant_reference: reference,
    });
    const text = await referenceOf(harness, id);
    const arrived = i === 1 ? 79.9 : amount;
    const name = i === 0 ? 'Wolfeschlegelsteinhausenbergerdorff-Hernández de la Concepción' : 'نور الهدى';
    entries.push({
      amount: arrived.toFixed(2),
      bank: `S${i}`,
      text,
      name,
      iban: 'NL86INGB0002445588',
      day,
    });
  }
  const two = await Promise.all(
    [55, 45.5].map((amount) => createAt(harness, 'transfer', { amount, currency: 'EUR' })),
  );
  const text = (await Promise.all(two.map(({ id }) => referenceOf(harness, id)))).join(' ');
  entries.push({ amount: '100.50', bank: 'S6', text, name: 'Li', day });
  entries.push({ amount: '7.35', bank: 'S7', text: 'Thank you for everything', name: 'Li' });
  entries.push({ amount: '850.00', bank: 'S8', text: 'Rent of the flat upstairs', name: 'A. Tenant' });
  const file = camt(entries, { account: ACCOUNT, balances: ['1000.00', '6457.75'], day });
  await bank.take(checked(file, 'november.xml', methodsOf(ACCOUNT)));
  const idOf = async (reference: string) => (await bank.linesOf(reference))[0]!.id;
  const stage = {
    ...{ odd: await idOf('S1'), unknown: await idOf('S7') },
    ...{ several: await idOf('S6'), ignored: await idOf('S8') },
  };
  const page = await ana.get(`/statements/lines/${stage.ignored}`);
  await ana.send(page, { reason: 'Rent: it has nothing to do with the shop.' }, 'Ignore the line');
  assert.match((await ana.get('/statements/certain')).body, /ORDER-300/, 'there are certain ones to look at');
  return stage;
}

export function statementScenes(
  { odd, unknown, several, ignored }: StatementStage,
  ana: Client,
  olga: Client,
): Scene[] {
  return [
    { name: 'statements', path: '/statements', who: ana },
    { name: 'statements, ignored', path: `/statements?state=ignored&done=${ignored}`, who: ana },
    { name: 'statements, an auditor', path: '/statements', who: olga },
    { name: 'statements, certain', path: '/statements/certain', who: ana },
    { name: 'statements, report', path: '/statements/report', who: olga },
    { name: 'statements, to download', path: '/statements/export', who: olga },
    { name: 'statement line, odd', path: `/statements/lines/${odd}`, who: ana },
    { name: 'statement line, for two payments', path: `/statements/lines/${several}`, who: ana },
    {
      name: 'statement line, matched in parts',
      path: `/statements/lines/${several}`,
      who: ana,
      steps: async (page) => {
        await press('Match with these 2 payments')(page);
        await page.waitForSelector('.notice');
      },
    },
    { name: 'statement line, nothing proposed', path: `/statements/lines/${unknown}`, who: ana },
    { name: 'statement line, ignored', path: `/statements/lines/${ignored}`, who: ana },
    {
      name: 'statement line, without a reason',
      path: `/statements/lines/${unknown}`,
      who: ana,
      status: 422,
      steps: async (page) => {
        await press('Ignore the line')(page);
        await page.waitForSelector('.error');
      },
    },
    {
      name: 'statements, imported with faults',
      path: '/statements/import',
      who: ana,
      steps: async (page) => {
        const wrong = camt([{ amount: 'many', bank: 'W1' }], { account: ACCOUNT });
        await page
          .locator('#files')
          .setInputFiles([{ name: 'october.xml', mimeType: 'text/xml', buffer: wrong }]);
        await press('Import')(page);
        await page.waitForSelector('.notice');
      },
    },
    {
      name: 'statements, CSV to look at',
      path: '/statements/import',
      who: ana,
      status: 422,
      steps: async (page) => {
        const rows = [
          'Account holder;Laden Musterau',
          'Booked;Value day;Payer or payee;What it is for, with everything that the customer wrote;Amount;Fee;Ccy',
          '03/04/2026;04/04/2026;Wolfeschlegelsteinhausenbergerdorff-Hernández;RF18 5390 0754 7034;1.200,00;0;EUR',
          '05/04/2026;05/04/2026;نور الهدى;ORDER/2026/NORTH-000000000000000000000000017;-12,50;0;EUR',
        ];
        await page
          .locator('#files')
          .setInputFiles([{ name: 'april.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) }]);
        await press('Import')(page);
        await page.waitForSelector('.error');
      },
    },
    {
      name: 'statements, CSV of a known bank',
      path: '/statements/import',
      who: ana,
      steps: async (page) => {
        await page.locator('#files').setInputFiles([join(CORPUS, 'csv-sparkasse-camt.csv')]);
        await press('Import')(page);
        await page.waitForSelector('h2');
      },
    },
    {
      name: 'statements, a pasted list',
      path: '/statements/paste',
      who: ana,
      steps: async (page) => {
        const rows = [
          '20.11.2026\tWolfeschlegelsteinhausenbergerdorff-Hernández\tRF18 5390 0754 7034\t1.200,00 €',
          'نور الهدى;ORDER/2026/NORTH-000000000000000000000000017;12,50',
          'Li 4711',
        ];
        await page.locator('#account').check();
        await page.locator('#list').fill(rows.join('\n'));
        await press('Read the list')(page);
        await page.waitForSelector('.notice');
      },
    },
    {
      name: 'statements, nothing pasted',
      path: '/statements/paste',
      who: ana,
      status: 422,
      steps: async (page) => {
        await press('Read the list')(page);
        await page.waitForSelector('.error');
      },
    },
    {
      name: 'statements, no file chosen',
      path: '/statements/import',
      who: ana,
      status: 422,
      steps: async (page) => {
        await press('Import')(page);
        await page.waitForSelector('.error');
      },
    },
  ];
}
