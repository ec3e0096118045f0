// The runbook's entry on a start that stays at 78, walked: each cause ends with a line of its table, and what stands beside it helps.
import assert from 'node:assert/strict';
import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { COMMAND, DEVELOPMENT, type Folder, run, start, temporaryFolder } from '../support/command.ts';
import { entry } from './runbook.ts';

const TABLE = [...entry('A start stays at 78').matchAll(/^\| (.+?) \| .+ \|$/gm)].map(([, says]) => says!);

describe('a start stays at 78', () => {
  let folder: Folder;
  let storage: string;
  const command = (...words: string[]) => run(words, { cwd: folder.path, env: { PORT: '0' } });
  /** Serves until it is ready, and ends it. */
  async function serves(): Promise<void> {
    const server = start(process.execPath, [COMMAND, 'serve'], { cwd: folder.path, env: { PORT: '0' } });
    await server.until(/^.*\n/);
    server.child.kill('SIGTERM');
    assert.equal((await server.ended).code, 0, server.stderr);
  }
  before(async () => {
    folder = temporaryFolder();
    storage = join(folder.path, 'storage');
    await serves();
  });
  after(() => folder.remove());

  const file = () => join(storage, 'counterfoil.sqlite');
  const CAUSES: [name: string, line: string, break_: () => void, fix: () => unknown][] = [
    [
      'a setting that there is not',
      'counterfoil.yaml:',
      () => writeFileSync(folder.config, `${DEVELOPMENT}\nprot: 8080\n`),
      () => writeFileSync(folder.config, DEVELOPMENT),
    ],
    [
      'storage that others can read',
      'can be read by others',
      () => chmodSync(storage, 0o755),
      () => chmodSync(storage, 0o700),
    ],
    [
      'a database file that is gone',
      'vouches for its history',
      () => renameSync(file(), `${file()}.elsewhere`),
      () => renameSync(`${file()}.elsewhere`, file()),
    ],
    [
      'a database file that is damaged at its beginning',
      'is not a SQLite database, or damaged at its beginning',
      () => {
        renameSync(file(), `${file()}.whole`);
        writeFileSync(file(), 'x'.repeat(8192), { mode: 0o600 });
      },
      () => renameSync(`${file()}.whole`, file()),
    ],
  ];
  for (const [name, words, break_, fix] of CAUSES)
    test(`${name}: the line is in the table, doctor is not content, and the start works afterwards`, async () => {
      break_();
      const refused = await command('serve');
      assert.deepEqual([refused.code, refused.stdout], [78, ''], refused.stderr);
      assert.equal(refused.stderr.trim().split('\n').length, 1, refused.stderr);
      assert.ok(refused.stderr.includes(words), refused.stderr);
      assert.ok(
        TABLE.some((one) => one.includes(words)),
        `the table has no line with "${words}"`,
      );
      assert.notEqual((await command('doctor')).code, 0);
      await fix();
      await serves();
    });
});
