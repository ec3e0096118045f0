// The client as npm has it in Deno, Bun, Workers and the oldest Node that it names, against a running service.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newWebhookSecret, signatureHeader } from '../../src/webhooks/signing.ts';
import { oldNode, plainEnvironment, ROOT, start } from '../support/command.ts';
import { type Harness, KEY, startHarness } from '../support/harness.ts';
import { assertClean, Installation } from './published.ts';

const PROGRAM = 'runtime-program.mjs';
/** The program as a Worker, which is asked by requests. */
const WORKER = `import { useClient } from './${PROGRAM}';
export default { fetch: async (request) => Response.json(await useClient(await request.json())) };`;

const installation = new Installation();
const client = await installation.pack('client');
await installation.install('deno', 'bun', 'miniflare', client);
const skip = installation.unreached ?? false;
after(() => installation.remove());

test('publint and Are The Types Wrong find nothing in the client and in the readers of bank files.', {
  skip,
}, async () => {
  await assertClean(client, await installation.pack('bank-statements'));
});

describe('the client', { skip }, () => {
  const secret = newWebhookSecret();
  const body = '{"id":"evt_1","type":"payment.approved","text":"ä€😀"}';
  let harness: Harness;
  before(async () => {
    harness = await startHarness('sqlite');
    await harness.create(); // an event to stream from
    cpSync(join(ROOT, 'test/campaigns', PROGRAM), join(installation.folder, PROGRAM));
  });
  after(() => harness.close());

  /** What the program is given. The webhook is signed now: it is believed for five minutes. */
  function given(): string {
    const at = Math.floor(Date.now() / 1000);
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': `${at}`,
      'webhook-signature': signatureHeader([secret], 'evt_1', at, body),
    };
    return JSON.stringify({ key: KEY, baseUrl: harness.origin, webhook: { body, headers, secret } });
  }
  const assertUsed = (said: string) =>
    assert.deepEqual(JSON.parse(said), {
      payment: '49.90 pending',
      refused: 'not_found',
      event: 'evt_1',
      isForgeryFound: true,
      isListed: true,
      isStreamed: true,
    });

  /** Where `bin/bun` would be once a script of its package had run. */
  const bun = globSync(join(installation.folder, 'node_modules/@oven/*/bin/bun')).find(
    (file) => spawnSync(file, ['--version']).status === 0,
  );
  for (const [name, command, ...options] of [
    [
      'Deno',
      join(installation.folder, 'node_modules/.bin/deno'),
      'run',
      '--allow-net',
      '--node-modules-dir=manual',
    ],
    ['Bun', bun, 'run'],
    ['an older Node', oldNode],
  ] as const)
    test(`runs in ${name}.`, { skip: !command && `no ${name} here` }, async () => {
      const environment = plainEnvironment({ DENO_NO_UPDATE_CHECK: '1' });
      const running = start(command!, [...options, PROGRAM, given()], {
        cwd: installation.folder,
        environment,
      });
      running.child.stdin!.end();
      const { code } = await running.ended;
      assert.equal(code, 0, running.stderr);
      assertUsed(running.stdout);
    });

  test('runs in a Worker.', async () => {
    const { Miniflare } = createRequire(join(installation.folder, 'x.js'))('miniflare');
    const dist = join(installation.folder, 'node_modules/@counterfoil/client/dist');
    // A Worker knows no packages: a module is named by what imports it.
    const modules = readdirSync(dist)
      .filter((file) => file.endsWith('.js'))
      .map((file) => ({
        type: 'ESModule',
        path: `@counterfoil/${file === 'index.js' ? 'client' : file}`,
        contents: readFileSync(join(dist, file), 'utf8'),
      }));
    const contents = readFileSync(join(installation.folder, PROGRAM), 'utf8');
    const worker = new Miniflare({
      modules: [
        { type: 'ESModule', path: 'worker.mjs', contents: WORKER },
        { type: 'ESModule', path: PROGRAM, contents },
        ...modules,
      ],
      compatibilityDate: '2025-01-01',
    });
    try {
      const answer = await worker.dispatchFetch('http://worker.example/', { method: 'POST', body: given() });
      const said = await answer.text();
      assert.equal(answer.status, 200, said);
      assertUsed(said);
    } finally {
      await worker.dispose();
    }
  });
});
