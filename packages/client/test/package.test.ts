// The package as others install it: its size, its types, its two doors, its README's programs, and what it does in a browser.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { clientTypes } from '../../../scripts/client-types.ts';
import { newWebhookSecret, signatureHeader } from '../../../src/webhooks/signing.ts';
import { ROOT } from '../../../test/support/command.ts';
import { KEY, startHarness } from '../../../test/support/harness.ts';

const PACKAGE = join(ROOT, 'packages/client');
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const GZIP_MAXIMUM_BYTES = 10 * 1024;
/** The Node that runs the package: another than ours shows that it runs there too. */
const NODE = process.env.COUNTERFOIL_TEST_CLIENT_NODE ?? process.execPath;

describe('the package', () => {
  let folder: string;
  let installed: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-client-'));
    installed = join(folder, 'node_modules/@counterfoil/client');
    mkdirSync(installed, { recursive: true });
    for (const part of ['package.json', 'cjs'])
      cpSync(join(PACKAGE, part), join(installed, part), { recursive: true });
    const build = [TSC, '-p', 'tsconfig.build.json', '--outDir', join(installed, 'dist')];
    for (const extra of [['--removeComments'], ['--declaration', '--emitDeclarationOnly']])
      execFileSync(build[0]!, [...build.slice(1), ...extra], { cwd: PACKAGE });
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: string[]) => spawnSync(NODE, args, { cwd: folder, encoding: 'utf8' });

  test('the types are those of the endpoints.', () => {
    for (const [file, text] of Object.entries(clientTypes()))
      assert.equal(readFileSync(join(PACKAGE, 'src', file), 'utf8'), text, 'run: npm run docs');
  });

  test('it is at most 10 KB, gzipped, and has no dependencies.', (context) => {
    const dist = join(installed, 'dist');
    const scripts = readdirSync(dist).filter((file) => file.endsWith('.js'));
    assert.ok(scripts.includes('index.js'));
    const bytes = gzipSync(scripts.map((file) => readFileSync(join(dist, file), 'utf8')).join('\n'), {
      level: 9,
    }).length;
    context.diagnostic(`${bytes} bytes`);
    assert.ok(bytes <= GZIP_MAXIMUM_BYTES, `${bytes} bytes`);
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    assert.deepEqual(dependencies, {});
  });

  test('it is imported and required, and exports the same.', () => {
    const imported = run(
      '--input-type=module',
      '-e',
      `console.log(Object.keys(await import('@counterfoil/client')).sort().join())`,
    );
    const required = run(
      '--input-type=commonjs',
      '-e',
      `console.log(Object.keys(require('@counterfoil/client')).filter((name) => name !== '__esModule' && name !== 'module.exports').sort().join())`,
    );
    const names =
      'ApiError,ConnectionError,Counterfoil,CounterfoilError,WebhookVerificationError,fromMinorUnits,verifyWebhook\n';
    assert.deepEqual([imported.stdout, required.stdout], [names, names], imported.stderr + required.stderr);
  });

  test('in a browser a live key throws, and a test key does not.', () => {
    for (const place of [
      'globalThis.document = {}',
      `Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Mozilla/5.0' } })`,
    ])
      for (const [mode, status] of [
        ['live', 1],
        ['test', 0],
      ] as const) {
        const script = `import { Counterfoil } from '@counterfoil/client'; ${place}; new Counterfoil({ key: 'cfk_${mode}_abc', baseUrl: 'https://pay.example' });`;
        const ran = run('--input-type=module', '-e', script);
        assert.equal(ran.status, status, ran.stderr);
        if (status === 1) assert.match(ran.stderr, /A live key is for servers alone/);
      }
  });

  test('the programs of the README have right types and do what they say.', async () => {
    const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text]) => text!);
    assert.ok(blocks.length >= 9);
    const called = `const call = JSON.parse(process.env.WEBHOOK!);
for (const body of [call.body, call.body, '{}']) console.log((await hook(new Request('https://shop.example', { method: 'POST', ...call, body }))).status);\n`;
    const declared = 'declare const process: { env: Record<string, string | undefined> };\n';
    writeFileSync(join(folder, 'readme.ts'), declared + blocks.join('\n') + called);
    const options =
      '--strict --exactOptionalPropertyTypes --noUnusedLocals --target es2022 --module nodenext --lib es2023,dom';
    execFileSync(TSC, ['readme.ts', ...options.split(' ')], { cwd: folder, encoding: 'utf8' });
    const secret = newWebhookSecret();
    const body = JSON.stringify({
      id: 'evt_1',
      type: 'payment.approved',
      data: { merchant_reference: 'order-1', amount: '49.90', amount_received: '49.90' },
    });
    const at = Math.floor(Date.now() / 1000);
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': `${at}`,
      'webhook-signature': signatureHeader([secret], 'evt_1', at, body),
    };
    await using service = await startHarness('sqlite');
    const env = {
      COUNTERFOIL_URL: service.origin,
      COUNTERFOIL_KEY: KEY,
      WEBHOOK_SECRET: secret,
      WEBHOOK: JSON.stringify({ headers, body }),
    };
    const program = spawn(NODE, ['readme.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    let next: { id: string } | undefined;
    for await (const line of createInterface({ input: program.stdout })) {
      lines.push(line);
      if (next || !line.startsWith('payment.approved')) continue;
      next = await service.create(); // for the stream
      for (const move of ['submit', 'approve'])
        await service.request(`/v1/test/payments/${next!.id}/${move}`, { method: 'POST' });
    }
    const payment = (await service.request('/v1/payments')).json.data[1];
    const { id } = payment;
    assert.deepEqual([payment.amount, payment.status], ['49.90', 'approved']);
    const moves = ({ id }: { id: string }) =>
      ['created', 'submitted', 'approved'].map((what) => `payment.${what} ${id}`);
    assert.deepEqual(lines, [
      `Store ${id} beside the order, and send the customer to ${payment.checkout_url}`,
      '49.90 4990',
      'Your payment was accepted.',
      ...moves(payment),
      ...moves(next!),
      'It is decided already.',
      `${id} approved`,
      'order-1 is paid: ship it',
      '204',
      '204',
      '400',
    ]);
  });
});
