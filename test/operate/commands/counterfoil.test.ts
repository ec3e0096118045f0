// The command line itself: help with examples, usage errors, exit codes, and text without colours where nobody sees them.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { after, describe, test } from 'node:test';
import {
  ANSI,
  COMMAND,
  plainEnvironment,
  ROOT,
  requireRefusal,
  run,
  start,
  temporaryFolder,
} from '../../support/command.ts';

/** The others are held to the same by every-command.test.ts, without a process for each. */
const COMMANDS = [[], ['keys'], ['audit', 'verify']];

describe('help', () => {
  for (const command of COMMANDS) {
    test(`${['counterfoil', ...command, '--help'].join(' ')} says what it does and shows an example`, async () => {
      const { code, stdout, stderr } = await run([...command, '--help']);
      assert.equal(code, 0);
      assert.equal(stderr, '');
      assert.match(stdout, new RegExp(`Examples?:\\n {2}.*counterfoil ${command.join(' ')}`));
      assert.doesNotMatch(stdout, ANSI);
    });
  }

  test('the version is the one of the package', async () => {
    const { stdout } = await run(['--version']);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });
});

describe('a usage error exits 2 and says how to get help', () => {
  const wrong: [string[], RegExp][] = [
    [[], /Usage: counterfoil/],
    [['keyz'], /unknown command 'keyz'\n\(Did you mean keys\?\)/],
    [['serve', '--prot', '1'], /unknown option '--prot'\nUsage: counterfoil serve/],
    [['serve', 'now'], /too many arguments.*\nUsage: counterfoil serve/],
    [
      ['keys', 'create'],
      /required option '--merchant <name>' not specified\nUsage: counterfoil keys create --merchant/,
    ],
    [['keys', 'create', '--merchant', 'A', '--test', '--live'], /--test and --live exclude one another/],
    [['export', '--json'], /--json says what was written: name the file with --output/],
    [['audit', 'export', '--json'], /name the file with --output/],
    [['keys', 'create', '--merchant', 'A', '--expires', '5y'], /neither a time from now such as 90d/],
    [['keys', 'create', '--merchant', 'A', '--expires', '2020-01-01T00:00:00Z'], /lies in the past/],
  ];
  for (const [args, said] of wrong)
    test(`counterfoil ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await run(args);
      assert.equal(code, 2);
      assert.equal(stdout, '');
      assert.match(stderr, said);
    });
});

describe('a configuration error exits 78 in one line', () => {
  const folder = temporaryFolder('environment: development\nprot: 1\n');
  after(() => folder.remove());
  for (const command of [['serve'], ['doctor'], ['keys', 'create', '--merchant', 'A']]) {
    test(`counterfoil ${command.join(' ')}`, async () => {
      const wrong = await run(command, { cwd: folder.path });
      assert.deepEqual(wrong, {
        code: 78,
        stdout: '',
        stderr: 'counterfoil: counterfoil.yaml:2: prot is not a setting; did you mean port?\n',
      });
      const missing = await run([...command, '--config', 'none.yaml'], { cwd: folder.path });
      assert.deepEqual(missing, {
        code: 78,
        stdout: '',
        stderr:
          'counterfoil: none.yaml: does not exist; name the configuration with --config or COUNTERFOIL_CONFIG, or write one with counterfoil init\n',
      });
    });
  }
});

test('the configuration may be named by COUNTERFOIL_CONFIG', async () => {
  const folder = temporaryFolder();
  try {
    const { code, stdout } = await run(['keys', 'list'], { env: { COUNTERFOIL_CONFIG: folder.config } });
    assert.equal(code, 0);
    assert.match(stdout, /Development Shop/);
  } finally {
    folder.remove();
  }
});

test('what the system refuses is told in words, the path first and its code last', async () => {
  const folder = temporaryFolder();
  try {
    const env = { COUNTERFOIL_STORAGE: `${folder.config}/storage` };
    requireRefusal(
      await run(['migrate'], { cwd: folder.path, env }),
      1,
      /^counterfoil: \.\/counterfoil\.yaml\/storage\/checkpoints\.jsonl: what its path/,
    );
    const full = start('sh', ['-c', `exec '${process.execPath}' '${COMMAND}' keys list > /dev/full`], {
      cwd: folder.path,
    });
    assert.equal((await full.ended).code, 1);
    assert.equal(full.stderr, 'counterfoil: the disk is full (ENOSPC)\n');
  } finally {
    folder.remove();
  }
});

test('output that nobody reads to its end is no failure', () => {
  const line = `'${process.execPath}' '${COMMAND}' serve --help | true`;
  const options = { env: plainEnvironment(), encoding: 'utf8', stdio: 'pipe' } as const;
  const { stdout, stderr, status } = spawnSync('sh', ['-c', line], options);
  assert.deepEqual([stdout, stderr, status], ['', '', 0]);
});

test('npx counterfoil works inside the clone', () => {
  const env = plainEnvironment();
  const out = execFileSync('npx', ['--no', 'counterfoil', '--version'], { cwd: ROOT, env, encoding: 'utf8' });
  assert.match(out, /^\d+\.\d+\.\d+\n$/);
});
