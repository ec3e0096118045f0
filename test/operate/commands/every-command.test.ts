// What every command promises whoever types it: help with an example, and usage errors that name what is right. One table for all.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { type Argument, type Command, CommanderError, type Option } from 'commander';
import { commandLine } from '../../../src/operate/commands/counterfoil.ts';
import { Failure } from '../../../src/operate/commands/terminal.ts';
import { UsageError } from '../../../src/operate/commands/usage.ts';
import { ConfigurationError } from '../../../src/operate/config.ts';
import { ROUTINE_ACTS } from '../../../src/operate/rooms.ts';
import { DatabaseError } from '../../../src/store/database.ts';
import { type Acts, takenBy } from '../../../src/web/act.ts';
import { temporaryFolder } from '../../support/command.ts';

const KEY = 'key_4be2f08a51c7d936';
/** What a shell, a script or a stranger's text may hand over: names of every object, control codes, numbers that are none, what looks like an option. */
const ODD = [
  ...[
    'constructor',
    '__proto__',
    'constructor=b',
    '=',
    ',',
    '--',
    '%s%n',
    '1e999',
    '9'.repeat(30),
    'x'.repeat(5000),
    '2026-02-30',
  ],
  ...['\u001b[31m\n', '\ud800', '{}', '['],
];
/** Arguments with which each command goes on to its configuration. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  serve: [],
  init: ['--base-url', 'https://pay.example'],
  move: ['--to', 'sqlite'],
  migrate: [],
  'keys create': ['--merchant', 'Corner Shop'],
  'keys list': [],
  'keys rotate': [KEY],
  'keys revoke': [KEY],
  'merchants list': [],
  'merchants show': ['mer_shop'],
  'merchants limit': ['mer_shop', '--default'],
  'mail test': ['ana@example.org'],
  'mail list': [],
  'mail resend': ['--failed'],
  'mail bounced': [],
  'merchants set': ['mer_shop', '--tax-id', 'DE 1'],
  'merchants import': ['--all'],
  'invites create': [],
  'invites list': [],
  'invites revoke': ['inv_1'],
  'administrators create': ['--email', 'ana@example.org', '--name', 'Ana', '--role', 'reviewer'],
  'administrators list': [],
  'administrators disable': ['ana@example.org'],
  'administrators enable': ['ana@example.org'],
  'administrators reset': ['ana@example.org'],
  'administrators role': ['ana@example.org', 'reviewer'],
  'administrators token create': ['--email', 'ana@example.org', '--role', 'auditor', '--name', 'Nightly'],
  'administrators token list': [],
  'administrators token revoke': ['tok_1'],
  'payments show': ['A-1001'],
  listen: ['--forward-to', 'http://127.0.0.1:3000/hook'],
  trigger: ['payment.approved'],
  requests: ['req_7hm2k4q9x0w3v5b8'],
  'audit verify': [],
  'audit export': [],
  'audit acknowledge': ['pay_1', '--reason', 'Edited by hand'],
  'audit restored': [],
  'accept-clock': [],
  doctor: [],
  erase: ['--payment', 'pay_1'],
  export: [],
  backup: ['backups'],
  restore: ['backup'],
  'store rescue': ['--output', 'rescued.sqlite'],
  'webhooks list': [],
  'webhooks test': ['whe_1'],
  'secrets new': [],
  'secrets rotate': [],
  'secrets list': [],
  'secrets lost': ['--yes'],
  'secrets remove': ['sk_1'],
  'secrets backup': ['keys.sealed', '--passphrase-file', 'passphrase'],
  'secrets restore': ['keys.sealed', '--passphrase-file', 'passphrase'],
  'statements check': ['november.xml'],
  'statements import': ['november.xml'],
  'statements match': [],
  'statements undo': ['stm_01k9t8a2zq4m'],
  ...Object.fromEntries(ROUTINE_ACTS.flatMap(argumentsOfActs)),
};

/** The id of a thing, and each option that must be given. */
function argumentsOfActs({ command, acts }: Acts<never>): [string, string[]][] {
  const group = command.replace('counterfoil ', '');
  return acts.map((act) => {
    const required = takenBy(act, () => 0).filter(([, { option }]) => option.default === undefined);
    const options = required.flatMap(([name, { option }]) => [
      `--${name}`,
      option.past === undefined ? 'Asked for' : '7d',
    ]);
    return [`${group} ${act.name}`, [group === 'webhooks' ? 'whe_1' : 'mer_shop', ...options]];
  });
}

/** What needs no configuration that is there, and what needs no store in it. */
const WITHOUT_CONFIGURATION = ['init', 'secrets new', 'statements check'];
const WITHOUT_STORE = [
  ...WITHOUT_CONFIGURATION,
  ...[
    'serve',
    'mail test',
    'move',
    'migrate',
    'keys create',
    'keys list',
    'doctor',
    'restore',
    'store rescue',
    'listen',
    'trigger',
  ],
  ...[
    'secrets backup',
    'secrets restore',
    'secrets rotate',
    'secrets list',
    'secrets lost',
    'secrets remove',
  ],
];

interface Listed {
  command: Command;
  path: string;
}

const below = (command: Command, above: string[] = []): Listed[] =>
  command.commands.flatMap((one) => {
    const path = [...above, one.name()];
    return [{ command: one, path: path.join(' ') }, ...below(one, path)];
  });
const isGroup = ({ command }: Listed) => command.commands.length > 0;

/** Parses a line with a program of its own. Returns what it printed, and what it threw. */
async function type(...words: string[]): Promise<{ said: string; error: unknown }> {
  const program = await commandLine(words[0]);
  let said = '';
  const write = (text: string) => {
    said += text;
  };
  for (const { command } of [{ command: program, path: '' }, ...below(program)])
    command.configureOutput({ writeOut: write, writeErr: write });
  try {
    await program.parseAsync(words, { from: 'user' });
    return { said, error: undefined };
  } catch (error) {
    return { said, error };
  }
}

/** Types a line that is wrong. Returns the first line of the error: the rest names the usage and the command for more. */
async function refused(path: string, ...words: string[]): Promise<string> {
  const line = [...path.split(' '), ...words];
  const { said, error } = await type(...line);
  assert.ok(error instanceof CommanderError && error.exitCode !== 0, `${line.join(' ')}: ${said}${error}`);
  const [first, ...rest] = said.trimEnd().split('\n');
  assert.match(first!, /^error: /);
  assert.ok(rest.at(-2)!.startsWith(`Usage: counterfoil ${path} `), said);
  assert.equal(rest.at(-1), `For more: counterfoil ${path} --help`);
  return `${first} ${rest.slice(0, -2).join(' ')}`;
}

let all: Listed[];
let leaves: Listed[];
before(async () => {
  all = below(await commandLine());
  leaves = all.filter((one) => !isGroup(one));
});

test('every command is in the table, and nothing else is', () => {
  assert.deepEqual(leaves.map(({ path }) => path).toSorted(), Object.keys(ARGUMENTS).toSorted());
});

test('help has a usage line with what is required, an example and the exit codes', async () => {
  for (const listed of all) {
    const { path, command } = listed;
    const { said, error } = await type(...path.split(' '), '--help');
    assert.equal((error as CommanderError).exitCode, 0);
    const usage = said.split('\n')[0]!;
    assert.ok(usage.startsWith(`Usage: counterfoil ${path} `), said);
    for (const { flags } of command.options.filter(({ mandatory }) => mandatory))
      assert.ok(usage.includes(flags), `${path}: ${flags}`);
    assert.match(said, new RegExp(`\nExamples?:\n {2}.*counterfoil ${path}`));
    if (isGroup(listed)) continue;
    assert.match(said, /\nExit codes:\n {2}0 {3}\S.*\n {2}1 {3}\S.*\n {2}2 {3}wrong usage\n {2}78/);
    if (!['secrets new', 'statements check'].includes(path))
      assert.match(said, /--config <file>.*\n?.*COUNTERFOIL_CONFIG/);
    for (const { long, description } of command.options) assert.ok(description.length > 5, `${path} ${long}`);
    for (const one of command.registeredArguments) assert.ok(one.description, `${path} ${one.name()}`);
  }
});

describe('a usage error names what is right, for', () => {
  test('options and commands that are almost one', async () => {
    for (const { path, command } of leaves)
      for (const { long } of command.options.filter((one) => one.long!.length > 6)) {
        const typed = long!.slice(0, -2) + long!.slice(-1);
        const line = await refused(path, typed, ...ARGUMENTS[path]!);
        assert.match(line, new RegExp(`unknown option '${typed}'.*Did you mean .*${long}`));
      }
    for (const { path } of all) {
      const { said } = await type(...path.slice(0, -1).split(' '));
      assert.match(said, new RegExp(`Did you mean .*\\b${path.split(' ').at(-1)}\\b`), path);
    }
  });

  test('too many arguments, and too few', async () => {
    for (const { path, command } of leaves) {
      const takes = command.registeredArguments;
      const given = takes.map((_, at) => ARGUMENTS[path]![at]!);
      if (!takes.at(-1)?.variadic)
        assert.match(await refused(path, ...ARGUMENTS[path]!, 'more'), /too many arguments/);
      if (takes[0]?.required) assert.match(await refused(path), /missing required|required option/);
      const needed = command.options.find(({ mandatory }) => mandatory);
      if (needed) assert.ok((await refused(path, ...given)).includes(needed.flags), path);
    }
  });

  test('values that are not taken: each choice is listed, and an empty text is never a value', async () => {
    const wrongs = (one: Option | Argument) => (one.argChoices ? ['', 'nonsense'] : ['']);
    for (const { path, command } of leaves) {
      for (const option of command.options.filter(({ required }) => required))
        for (const wrong of wrongs(option)) {
          const line = await refused(path, ...ARGUMENTS[path]!, `${option.long}=${wrong}`);
          assert.ok(line.includes(option.long!) && / It | Allowed choices are /.test(line), line);
          for (const choice of option.argChoices ?? []) assert.ok(line.includes(choice), line);
        }
      for (const [at, argument] of command.registeredArguments.entries())
        for (const wrong of argument.variadic ? [] : wrongs(argument)) {
          const line = await refused(path, ...ARGUMENTS[path]!.with(at, wrong));
          for (const choice of argument.argChoices ?? []) assert.ok(line.includes(choice), line);
        }
    }
  });

  test('ids of another kind', async () => {
    for (const [path, prefix, ...words] of [
      ['erase', 'pay_', '--payment', 'A-1001'],
      ['export', 'mer_', '--merchant', 'Corner Shop'],
    ] as const)
      assert.match(
        await refused(path, ...words),
        new RegExp(`begins with ${prefix}: counterfoil .* shows it`),
      );
  });
});

test('odd values of options and arguments are answered in words, never as a defect', async () => {
  const defects: string[] = [];
  for (const { path, command } of leaves) {
    const given = ARGUMENTS[path]!;
    const options = command.options.filter(({ required, long }) => required && long !== '--config');
    const lines = ODD.flatMap((odd) => [
      ...options.map(({ long }) => [...given, `${long}=${odd}`]),
      ...command.registeredArguments.map((_, at) => given.toSpliced(at, 1, odd)),
    ]);
    for (const line of lines) {
      const config = ['--config', '/dev/null/counterfoil.yaml'];
      const takesConfig = command.options.some(({ long }) => long === '--config');
      const { error } = await type(...path.split(' '), ...(takesConfig ? config : []), ...line);
      const isTold =
        error === undefined ||
        [CommanderError, ConfigurationError, Failure, UsageError].some((one) => error instanceof one) ||
        (error as NodeJS.ErrnoException).syscall !== undefined;
      if (!isTold) defects.push(`${path} ${line.join(' ')}: ${error}`);
    }
  }
  assert.deepEqual(defects, []);
});

describe('a command says what is missing, and what to do', () => {
  test('without a configuration', async () => {
    for (const path of Object.keys(ARGUMENTS).filter((one) => !WITHOUT_CONFIGURATION.includes(one))) {
      const words = [...path.split(' '), ...ARGUMENTS[path]!];
      const { error } = await type(...words, '--config', '/nonexistent/counterfoil.yaml');
      assert.ok(error instanceof ConfigurationError, `${path}: ${error}`);
      assert.match(error.message, /^\/nonexistent\/counterfoil\.yaml: does not .* --config or /);
    }
  });

  test('without a store, and without its PostgreSQL', async (t) => {
    const folder = temporaryFolder();
    const away = temporaryFolder('environment: development\ndatabase_url: postgres://x@127.0.0.1:1/x\n');
    t.after(() => {
      folder.remove();
      away.remove();
    });
    for (const path of Object.keys(ARGUMENTS).filter((one) => !WITHOUT_STORE.includes(one))) {
      const words = [...path.split(' '), ...ARGUMENTS[path]!];
      if (path === 'backup') words[1] = join(folder.path, 'backups');
      const { error } = await type(...words, '--config', folder.config);
      assert.ok(error instanceof Failure, `${path}: ${error}`);
      assert.match(error.message, /no store in .*storage: .* --config, or .* migrate$/);
      const gone = (await type(...words, '--config', away.config)).error;
      assert.ok(gone instanceof DatabaseError, `${path}: ${gone}`);
      assert.match(gone.message, /ECONNREFUSED/);
    }
  });
});
