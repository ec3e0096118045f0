// The examples of docs/integrate/: each is run in its language against the service, and the answer that a page shows is what came back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { newWebhookSecret, signatureHeader } from '../../src/webhooks/signing.ts';
import { ROOT } from '../support/command.ts';
import { freePort } from '../support/free-ports.ts';
import { startHarness } from '../support/harness.ts';

const LOCAL = 'http://127.0.0.1:8080';
const CLIENT = JSON.stringify(join(ROOT, 'packages/client/src/index.ts'));

/** A block of a page, and the answer below its group, where one is shown. */
interface Example {
  page: string;
  /** The number of its group on the page. */
  group: number;
  code: string;
  answer: unknown;
}

/** How the blocks of a language become one program. `mark` tells the recorder that the next example begins. */
interface Language {
  fence: string;
  command: string[];
  file: string;
  mark(path: string): string;
  /** The blocks of one page. */
  page(code: string): string;
  whole(code: string): string;
}

const LANGUAGES: Record<string, Language> = {
  curl: {
    fence: 'sh',
    command: ['sh', '-e'],
    file: 'examples.sh',
    mark: (path) => `curl -s "$BASE${path}"\n`,
    page: (code) => code.replaceAll(/^curl -sN .*$/gm, (line) => `timeout 2 ${line} || true`),
    whole: (code) => code,
  },
  TypeScript: {
    fence: 'ts',
    command: [process.execPath, '--no-warnings'],
    file: 'examples.ts',
    mark: (path) => `await fetch(ORIGIN + '${path}');\n`,
    page: (code) => `await (async () => {\n${code}\n})();\n`,
    whole: (code) => {
      const imports = new Set(code.match(/^import .*$/gm));
      const names = [...imports].join('\n').match(/\{ .*? \} from '@counterfoil\/client'/g) ?? [];
      const own = new Set(names.flatMap((one) => one.slice(2, one.indexOf(' }')).split(', ')));
      const others = [...imports].filter((one) => !one.includes('@counterfoil/client'));
      const head = [`import { ${[...own].join(', ')} } from ${CLIENT};`, ...others].join('\n');
      return `${head}\n${code.replaceAll(/^import .*$/gm, '')}`;
    },
  },
  Python: {
    fence: 'python',
    command: ['python3'],
    file: 'examples.py',
    mark: (path) => `urllib.request.urlopen(BASE + "${path}").read()\n`,
    page: (code) => code,
    whole: (code) => code,
  },
  PHP: {
    fence: 'php',
    command: ['php'],
    file: 'examples.php',
    mark: (path) => `file_get_contents(BASE . '${path}');\n`,
    page: (code) => code,
    whole: (code) => `<?php\n${code}`,
  },
};

/** Servers that wait for requests. */
const isServer = (code: string) => code.includes('WEBHOOK_SECRET!') || /getenv|environ/.test(code);

/** The blocks of a page in all languages, group by group. */
function groupsOf(page: string): { blocks: Map<string, string>; answer: unknown }[] {
  const source = readFileSync(join(ROOT, `docs/integrate/${page}.md`), 'utf8');
  const groups: { blocks: Map<string, string>; answer: unknown }[] = [];
  for (const [whole] of source.matchAll(
    /(?:^```(?:sh|ts|js|python|php|go|ruby)\n.*?^```\n\s*)+(?:^```json\n.*?^```\n)?/gms,
  )) {
    const fences = [...whole.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
      ([, name, code]) => [name!, code!] as const,
    );
    const answer = fences.find(([name]) => name === 'json')?.[1];
    const blocks = new Map(fences.filter(([name]) => name !== 'json'));
    groups.push({ blocks, answer: answer === undefined ? undefined : JSON.parse(answer) });
  }
  return groups;
}

/** In the order in which they are read: an example may use what one before it has. */
const PAGES = [
  ...['quickstart', 'payments', 'statuses', 'checkout', 'events', 'webhooks'],
  ...['testing', 'errors', 'idempotency', 'security', 'going-live'],
];
assert.deepEqual(
  readdirSync(join(ROOT, 'docs/integrate')).sort(),
  [...PAGES, 'reference'].map((page) => `${page}.md`).sort(),
);
const GROUPS = PAGES.flatMap((page) =>
  groupsOf(page).map((group, index) => ({ page, group: index + 1, ...group })),
);

function examplesIn(fence: string): Example[] {
  return GROUPS.flatMap(({ page, group, blocks, answer }) => {
    const code = blocks.get(fence);
    return code === undefined || isServer(code) ? [] : [{ page, group, code, answer }];
  });
}

/** Whether what a page shows fits what came: ids and times in their shape, `…` for what is left out. */
function fits(shown: unknown, came: unknown): boolean {
  if (typeof shown === 'string') return typeof came === 'string' && textFits(shown, came);
  if (typeof shown !== 'object' || shown === null) return shown === came;
  if (typeof came !== 'object' || came === null || Array.isArray(shown) !== Array.isArray(came)) return false;
  const [left, right] = [Object.keys(shown), Object.keys(came)].map((keys) =>
    keys.filter((key) => key !== '…'),
  );
  const isWhole = !('…' in shown);
  if (isWhole && left!.join() !== right!.join()) return false;
  return left!.every((key) =>
    fits((shown as Record<string, unknown>)[key], (came as Record<string, unknown>)[key]),
  );
}

function textFits(shown: string, came: string): boolean {
  const shape = (value: string) =>
    value.replace(/key_[0-9a-f]{16}/, 'key_').replaceAll(/[0-9a-z]{34,36}|\d+/g, '0');
  return shown.endsWith('…') ? came.startsWith(shown.slice(0, -1)) : shape(came) === shape(shown);
}

interface Exchange {
  line: string;
  status: number;
  body: string;
}

/** Stands between the examples and the service, and keeps what they say to each other, by example. */
class Recorder {
  readonly heard = new Map<string, Exchange[]>();
  #now = 'before';
  readonly #server: Server;

  constructor(origin: string) {
    this.#server = createServer({ maxHeaderSize: 64 * 1024 }, async (asked, answer) => {
      if (asked.url!.startsWith('/mark/')) {
        this.#now = asked.url!.slice('/mark/'.length);
        return answer.writeHead(204).end();
      }
      const example = this.#now;
      const { method, url, headers } = asked;
      const path = url!
        .replaceAll(/pay_[0-9a-z]{36}/g, 'pay_…')
        .replaceAll(/key_[0-9a-f]{16}/g, 'key_…')
        .replaceAll(/whe_[0-9a-z]{36}/g, 'whe_…');
      const own = request(origin + url, { method: method!, headers });
      own.on('error', () => answer.destroy());
      own.on('response', async (came) => {
        answer.writeHead(came.statusCode!, came.headers);
        came.pipe(answer);
        const body = await text(came).catch(() => ''); // a stream that the example leaves
        const line = `${method} ${path.replace(/after=\w*/, 'after=…')}`;
        this.heard.set(example, [
          ...(this.heard.get(example) ?? []),
          { line, status: came.statusCode!, body },
        ]);
      });
      answer.on('close', () => own.destroy());
      own.end(await buffer(asked));
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Runs a program. Undefined if there is no such command. */
async function run([command, ...args]: string[], cwd: string, file: string) {
  const child = spawn(command!, [...args, file], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const isStarted = await new Promise((resolve) => {
    child.once('spawn', () => resolve(true));
    child.once('error', () => resolve(false));
  });
  if (!isStarted) return undefined;
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [printed, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, printed, complaint };
}

/** Requests of one example, where languages must say the same; what a page looks up for curl alone is left out. */
const acts = (exchanges: readonly Exchange[]) =>
  exchanges.filter(({ line }) => !line.startsWith('GET /v1/payments?')).map(({ line }) => line);

describe('the examples of the documentation', () => {
  const heard = new Map<string, Map<string, Exchange[]>>();

  for (const [name, language] of Object.entries(LANGUAGES))
    test(`in ${name} do what the pages show.`, async (t) => {
      const harness = await startHarness('sqlite');
      const recorder = new Recorder(harness.origin);
      const origin = await recorder.start();
      t.after(async () => {
        recorder.close();
        await harness.close();
      });
      const examples = examplesIn(language.fence);
      assert.ok(examples.length > 14, `${examples.length} examples`);
      const [setUp, ...others] = examples;
      const pages = Map.groupBy(others, ({ page }) => page);
      const code = [...pages].map(([page, own]) =>
        language.page(
          own
            .map((one) => language.mark(`/mark/${page} ${one.group}`.replace(' ', '-')) + one.code)
            .join('\n'),
        ),
      );
      const program = language
        .whole([setUp!.code, ...code].join('\n'))
        .replaceAll(LOCAL, origin)
        .replaceAll('ORIGIN', `'${origin}'`);
      const folder = mkdtempSync(join(tmpdir(), 'counterfoil-examples-'));
      writeFileSync(join(folder, language.file), program);
      const ran = await run(language.command, folder, language.file);
      if (ran === undefined) return t.skip(`${language.command[0]} is not installed here`);
      assert.equal(ran.code, 0, `${ran.complaint}\n${ran.printed}`);
      for (const { page, group, answer } of others) {
        const exchanges = recorder.heard.get(`${page}-${group}`) ?? [];
        if (answer === undefined) continue;
        const last = exchanges.findLast(({ line }) => !line.startsWith('DELETE')); // what is cleared away shows nothing
        assert.ok(last, `${page}, example ${group}: no answer came`);
        assert.ok(
          fits(answer, JSON.parse(last.body)),
          `${page}, example ${group} shows another answer than came:\n${last.body}`,
        );
      }
      heard.set(name, recorder.heard);
    });

  for (const [name, { fence, command, whole }] of Object.entries(LANGUAGES).filter(
    ([, one]) => one.fence !== 'sh',
  ))
    test(`have a receiver in ${name} that takes what is signed, once, and nothing else, and ships nothing that was paid in part.`, async (t) => {
      const codes = GROUPS.filter(({ page }) => page === 'webhooks').map(
        ({ blocks }) => blocks.get(fence) ?? '',
      );
      const receiver = codes.find(isServer)!;
      const verifier = fence === 'ts' ? '' : codes.find((code) => /(?:def|function) verify\(/.test(code))!;
      const [port, secret] = [await freePort(), newWebhookSecret()];
      const folder = mkdtempSync(join(tmpdir(), 'counterfoil-receiver-'));
      const file = join(folder, `hook.${fence}`);
      writeFileSync(file, whole(`${verifier}\n${receiver}`).replaceAll('3000', String(port)));
      const args = fence === 'php' ? ['-S', `localhost:${port}`, file] : [...command.slice(1), file];
      const child = spawn(command[0]!, args, { env: { ...process.env, WEBHOOK_SECRET: secret } });
      const isStarted = await new Promise((resolve) => {
        child.once('spawn', () => resolve(true));
        child.once('error', () => resolve(false));
      });
      if (!isStarted) return t.skip(`${command[0]} is not installed here`);
      const printed = Promise.all([text(child.stdout), text(child.stderr)]);
      const id = `evt_${randomUUID()}`;
      const data = { merchant_reference: 'order-1042', amount: '100.00', amount_due: '0.00' };
      const approved = (event: string, amount_received: string) =>
        JSON.stringify({ id: event, type: 'payment.approved', data: { ...data, amount_received } });
      const seconds = Math.floor(Date.now() / 1000);
      const send = async (signed: string, event = id, received = '100.00'): Promise<number> => {
        const body = approved(event, received);
        const headers = {
          'content-type': 'application/json',
          'webhook-id': event,
          'webhook-timestamp': String(seconds),
          'webhook-signature': signatureHeader([signed], event, seconds, body),
        };
        for (;;)
          try {
            return (await fetch(`http://localhost:${port}/hook`, { method: 'POST', headers, body })).status;
          } catch (error) {
            if (child.exitCode !== null) throw error; // it does not listen yet
            await setTimeout(50);
          }
      };
      const answers = [await send(secret), await send(newWebhookSecret()), await send(secret)];
      answers.push(await send(secret, `evt_${randomUUID()}`, '99.99'));
      child.kill();
      assert.deepEqual(answers, [204, 400, 204, 204], (await printed).join());
      assert.equal((await printed).join().split('order-1042 is paid: ship it').length - 1, 1);
      assert.equal((await printed).join().split('order-1042 has 99.99 of 100.00').length - 1, 1);
    });

  test('ask the same of the service in every language.', () => {
    const [curl, ...others] = [...heard];
    for (const [name, examples] of others)
      for (const [example, exchanges] of examples)
        assert.deepEqual(acts(exchanges), acts(curl![1].get(example) ?? []), `${example} in ${name}`);
  });

  test('are in curl, TypeScript, Python and PHP wherever they are in more than one; curl verifies nothing.', () => {
    const wanted = Object.values(LANGUAGES).map(({ fence }) => fence);
    const lacking = GROUPS.filter(({ blocks }) => blocks.size > 1).filter(({ blocks }) => {
      const isVerifier = blocks.get('python')?.includes('verify');
      return !wanted.every((one) => blocks.has(one) || (one === 'sh' && isVerifier));
    });
    assert.deepEqual(
      lacking.map(({ page, group, blocks }) => `${page} ${group}: ${[...blocks.keys()]}`),
      [],
    );
  });

  test('show errors that no request can be made to have as the program says them.', () => {
    const page = readFileSync(join(ROOT, 'docs/integrate/errors.md'), 'utf8');
    const sources = ['web/errors', 'web/rate-limit', 'payments/idempotency', 'lib/errors'].map((file) =>
      readFileSync(join(ROOT, `src/${file}.ts`), 'utf8'),
    );
    const shown = [...page.matchAll(/^```json\n(.*?)^```/gms)].map(([, json]) => JSON.parse(json!).error);
    for (const { code, message } of shown.filter(({ code }) => NOT_AT_WILL.includes(code)))
      assert.ok(
        sources.some((source) => source.includes(`'${message}'`)),
        code,
      );
  });
});

const NOT_AT_WILL = [
  'request_timeout',
  'idempotency_in_progress',
  'rate_limited',
  'internal_error',
  'unavailable',
];
