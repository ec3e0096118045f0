// counterfoil statements import and match, as an operator types them: what they print, what is kept, and how they end.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ACCOUNT, camt, TRANSFERS, today } from '../../support/camt.ts';
import { operatorOf, run, temporaryFolder } from '../../support/command.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { referenceOf } from '../../support/payments.ts';

let service: Harness;
let env: Record<string, string>;
before(async () => {
  service = await startHarness('sqlite', { configuration: TRANSFERS });
  env = operatorOf(service.store, 'development', TRANSFERS);
});
const folder = temporaryFolder();
after(async () => {
  folder.remove();
  await service.close();
});

const file = (name: string, bytes: Uint8Array) => {
  const path = join(folder.path, name);
  writeFileSync(path, bytes);
  return path;
};
const command = (...args: string[]) => run(['statements', 'import', ...args], { env });
const match = (...args: string[]) => run(['statements', 'match', ...args], { env });
const ONE = { amount: '49.90', bank: 'A1' };
const TWO = { amount: '10.00', bank: 'A2' };

test('files are imported beside a server that runs, and a second time add nothing', async () => {
  const path = file('november.xml', camt([ONE, TWO], { number: '34', balances: ['0.00', '59.90'] }));
  const dry = await command(path, '--dry-run');
  assert.equal(dry.code, 0, dry.stderr);
  assert.equal(
    dry.stdout,
    `november.xml\n  ${ACCOUNT}, number 34: 2 new lines\nNothing was imported: this was a dry run.\n`,
  );
  const first = await command(path);
  assert.equal(first.stdout, `november.xml\n  ${ACCOUNT}, number 34: 2 new lines\n`);
  const again = await command(path);
  assert.equal(again.stdout, `november.xml\n  ${ACCOUNT}, number 34: imported before\n`);
  service.service.database.refresh();
  await service.verify();
});

test('what is wrong is said with its line, and nothing is imported unless asked', async () => {
  const entries = [
    { amount: '5.00', bank: 'B1' },
    { amount: 'many', bank: 'B2' },
  ];
  const path = file('wrong.xml', camt(entries));
  const refused = await command(path);
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /^wrong\.xml\n {2}wrong\.xml:\d+: .*left out.*\n {2}Not/);
  const forced = await command(path, '--despite-faults', '--json');
  assert.equal(forced.code, 1);
  const { dry_run, files } = JSON.parse(forced.stdout);
  assert.equal(dry_run, false);
  assert.deepEqual(
    files[0].statements.map(({ added, known }: Record<string, number>) => [added, known]),
    [[1, 0]],
  );
});

test('balances that do not add up are a warning, and the lines are imported', async () => {
  const path = file('chain.xml', camt([{ amount: '6.00', bank: 'C1' }], { balances: ['0.00', '7.00'] }));
  const { stdout, code } = await command(path);
  assert.equal(code, 0);
  assert.match(stdout, /: 1 new line\n {2}chain\.xml:\d+: warning: The balances/);
});

test('match says which payment a line is for and why, of a file and of what was imported', async () => {
  const payment = await service.create({ amount: 81.5, currency: 'EUR', merchant_reference: 'A-1001' });
  const text = await referenceOf(service, payment.id);
  const path = file(
    'match.xml',
    camt([{ amount: '81.50', bank: 'M1', text, name: 'Anna Berg', day: today(service) }]),
  );
  const { stdout, code } = await match(path);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+ \w+ \d{4} {2}EUR 81\.50 {2}Anna Berg {2}RF\w+\n {2}certain +A-1001 +Nothing is/);
  assert.match(stdout, /\n1 line: 1 certain, 0 likely, 0 possible, 0 without a proposal\.\n$/);
  await command(path);
  const { lines } = JSON.parse((await match('--json')).stdout);
  const kept = lines.find((one: { amount: number }) => one.amount === 81.5);
  assert.deepEqual([kept.proposals[0].payment_id, kept.proposals[0].level], [payment.id, 'certain']);
});
