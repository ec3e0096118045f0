// What a command loads before it does anything: a short one must not cost the memory of a server (135 MB instead of 55).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMAND, start } from '../../support/command.ts';

const TELLS = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) { process.stderr.write('loads ' + url + '\\n'); return next(url, context); } });
`)}`;
const SCHEMAS = /node_modules\/(zod|yaml)\//;
const POSTGRES = /node_modules\/pg\//;
/** zod's messages, but for English ones. */
const LANGUAGES = /zod\/v4\/locales\/(?!en\.js)/;
const SERVER = /node_modules\/fastify\/|src\/(web\/server|operate\/main)\.ts$/;

for (const [line, ...never] of [
  ['--help', SCHEMAS, POSTGRES, SERVER],
  ['--version', SCHEMAS, POSTGRES, SERVER],
  ['nonsense', SCHEMAS, POSTGRES, SERVER],
  ['keys create --help', LANGUAGES, POSTGRES, SERVER],
  ['secrets new', LANGUAGES, POSTGRES, SERVER],
  ['secrets backup --help', LANGUAGES, POSTGRES, SERVER],
  ['listen --help', LANGUAGES, POSTGRES, SERVER],
  ['audit verify --help', LANGUAGES, SERVER],
] as const)
  test(`counterfoil ${line} loads no more than it needs`, async () => {
    const running = start(process.execPath, ['--import', TELLS, COMMAND, ...line.split(' ')]);
    await running.ended;
    const loaded = [...running.stderr.matchAll(/^loads (.*)$/gm)].map(([, url]) => url!);
    assert.ok(loaded.some((url) => url.endsWith('src/operate/commands/counterfoil.ts')));
    assert.deepEqual(
      loaded.filter((url) => never.some((one) => one.test(url))),
      [],
    );
  });
