// counterfoil init: asks what a production configuration needs, writes it where nothing is lost, and looks whether it may start.
import { once } from 'node:events';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { randomId } from '../../lib/ids.ts';
import { newSecret } from '../../lib/secrets.ts';
import { KEY_PREFIX, keyDigest } from '../../merchants/merchant.ts';
import { lineOf } from '../checks/check.ts';
import { CHECKS } from '../checks/checks.ts';
import type { Finding } from '../checks/inspector.ts';
import { configurationFile, environment, parseConfiguration, readConfiguration } from '../config.ts';
import { canAsk } from './ask.ts';
import { inspect } from './doctor.ts';
import { configurationText } from './init-file.ts';
import { nextSteps } from './init-next.ts';
import { answersOf, type InitFlags, QUESTIONS, type Question, questionFault } from './init-questions.ts';
import { Failure, shownPath } from './terminal.ts';
import { JSON_OPTION } from './usage.ts';

/** The checks that a new file can fail. No service runs yet, and the user is seldom the account that serves. */
const CHECKED = CHECKS.filter(
  ({ id, stage }) => (stage !== 'later' && id !== 'root') || id === 'certificate_file',
);

interface InitOptions extends InitFlags {
  config?: string;
  yes?: boolean;
  force?: boolean;
  json?: boolean;
}

export function initCommand(): Command {
  return new Command('init')
    .description('write a configuration for production: asks what it needs, or takes it from flags')
    .option('--config <file>', 'file to write (default: COUNTERFOIL_CONFIG, else counterfoil.yaml)')
    .option('--base-url <url>', 'https URL where it will be reached')
    .option('--proxy <addresses>', 'proxies that speak https, with commas between them (default: 127.0.0.1)')
    .option('--certificate <file>', 'certificate, to speak https without a proxy')
    .option('--key <file>', 'its private key')
    .option('--database-url <url>', 'PostgreSQL connection string (default: SQLite)')
    .option(
      '--storage <folder>',
      'private folder, relative to the file (default: COUNTERFOIL_STORAGE, else ./storage)',
    )
    .option('--registration <mode>', 'who may register: open, invite or closed (default: closed)')
    .option('--merchant <name>', 'business name of a first merchant, who gets a live key')
    .option('--support <contact>', 'where its customers get help: e-mail, phone or https address')
    .option('--iban <iban>', 'account for bank transfers (default: contact details alone)')
    .option('--holder <name>', 'its holder, spelled exactly as the bank has it')
    .option('--currency <code>', 'its currency (default: EUR)')
    .option('--administrator <email>', 'who shall review payments first')
    .option('--allow-root', 'let the service run as root, which it needs for nothing')
    .option('--yes', 'take the defaults of whatever no flag says')
    .option('--force', 'write over a file that is there, which is kept as FILE.old, or FILE.old.2 and so on')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
Examples:
  counterfoil init --config /etc/counterfoil/counterfoil.yaml
  counterfoil init --yes --config pay.yaml --base-url https://pay.example --merchant "Corner Shop" \\
    --iban "DE75 5121 0800 1245 1261 99" --holder "Corner Shop GmbH"`,
    )
    .action(init);
}

async function init(options: InitOptions, command: Command): Promise<void> {
  const file = configurationFile(options.config);
  if (existsSync(file) && !options.force)
    throw new Failure(
      `${shownPath(file)} is there already: name another with --config, or write over it with --force`,
    );
  const flags = await answered(options, file, command);
  const key = flags.merchant ? newSecret(KEY_PREFIX.live) : null;
  const merchant =
    key === null ? null : { id: randomId('mer_', 20), name: flags.merchant!, key_sha256: keyDigest(key) };
  const text = configurationText(answersOf(flags, merchant));
  const { storage } = parseConfiguration(text, file, {});
  makePrivate(storage); // before the file: what cannot be made must not cost the key that is shown at the end
  write(file, text, options.force === true);

  const wrong = (await inspect(readConfiguration(file, environment, { unfinished: true }), CHECKED)).filter(
    ({ is }) => is === 'failed',
  );
  if (wrong.length > 0) process.exitCode = 1;
  const next = nextSteps(file, storage, flags);
  if (options.json) {
    const told = wrong.map(({ id, where, says, fix }) => ({
      id,
      where: where ?? null,
      says,
      fix: fix ?? null,
    }));
    const commands = [...(next.own ? [next.own] : []), next.start, ...next.beside];
    console.log(
      JSON.stringify({ file, storage, merchant: merchant?.id ?? null, key, failed: told, next: commands }),
    );
    return;
  }
  if (key !== null) console.log(key);
  console.error(report(file, merchant, wrong, next));
}

/** The flags, completed by questions. Throws a usage error if there is no terminal to ask at. */
async function answered(options: InitOptions, file: string, command: Command): Promise<InitFlags> {
  const { config: _c, yes, force: _f, json: _j, ...given } = options;
  const flags: InitFlags = { ...given };
  if (given.certificate && given.proxy) command.error('error: --certificate and --proxy exclude one another');
  // What was given is judged before anything is asked.
  const judged: InitFlags = { ...(given.allowRoot && { allowRoot: true }) };
  for (const question of QUESTIONS) {
    const value = given[question.flag];
    if (value === undefined) continue;
    if (question.needs && !given[question.needs[0]])
      command.error(`error: ${question.option} has no use without ${question.needs[1]}`);
    Object.assign(judged, { [question.flag]: value });
    const fault = questionFault(question, judged, file);
    if (fault !== undefined) command.error(`error: ${question.option} ${fault}`);
  }
  const open = () =>
    QUESTIONS.find(
      ({ flag, needs, applies }) =>
        flags[flag] === undefined && (!needs || flags[needs[0]]) && (!applies || applies(flags)),
    );
  const answers = !yes && canAsk() ? terminalAnswers(file) : undefined;
  try {
    for (let question = open(); question; question = open()) {
      const otherwise = question.otherwise?.(flags);
      if (answers) Object.assign(flags, { [question.flag]: await answers.ask(question, otherwise, flags) });
      else if (yes && otherwise !== undefined) Object.assign(flags, { [question.flag]: otherwise });
      else
        command.error(
          `error: there is no terminal to ask at: give ${question.option}${yes ? '' : ', and --yes for the defaults of whatever else has one'}`,
        );
    }
  } finally {
    answers?.close();
  }
  return flags;
}

/** Asks at the terminal until the answer is valid. Throws `Failure` if the user leaves. */
function terminalAnswers(file: string) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const leave = (): never => {
    throw new Failure('nothing was written');
  };
  // Ctrl-C fails the question, Ctrl-D only closes the terminal.
  const closed = once(terminal, 'close').then(leave);
  closed.catch(() => {});
  return {
    close: () => terminal.close(),
    async ask(question: Question, otherwise: string | undefined, flags: InitFlags): Promise<string> {
      for (;;) {
        const shown = otherwise ? ` [${otherwise}]` : '';
        const typed = await Promise.race([
          terminal.question(`${question.asks}${shown}: `).catch(leave),
          closed,
        ]);
        const answer = typed.trim() || (otherwise ?? '');
        const fault = questionFault(question, { ...flags, [question.flag]: answer }, file);
        if (fault === undefined) return answer;
        console.error(`  It ${fault}.`);
      }
    },
  };
}

/** Writes the file, readable by its owner alone. The file before is replaced whole, or not at all, and kept as FILE.old, FILE.old.2 … */
function write(file: string, text: string, overwrites: boolean): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!overwrites) {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    return;
  }
  if (existsSync(file)) {
    let old = `${file}.old`;
    for (let count = 2; existsSync(old); count++) old = `${file}.old.${count}`;
    copyFileSync(file, old, constants.COPYFILE_EXCL);
    chmodSync(old, 0o600);
  }
  const beside = `${file}.new`;
  rmSync(beside, { force: true });
  writeFileSync(beside, text, { mode: 0o600, flag: 'wx' });
  renameSync(beside, file);
}

/** Makes the folder; one that is there stays as it is, and the checks say what is wrong with it. Throws `Failure`. */
function makePrivate(folder: string): void {
  if (existsSync(folder)) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(
      `${shownPath(folder)} cannot be made (${code}), and nothing was written: make it yourself, or name another with --storage`,
    );
  }
}

function report(
  file: string,
  merchant: { id: string; name: string } | null,
  wrong: readonly Finding[],
  { own, start, beside }: ReturnType<typeof nextSteps>,
): string {
  const key = merchant
    ? `\nAbove is the live key of ${merchant.name} (${merchant.id}). Copy it now: it is shown only this once; the file holds its digest.`
    : '';
  const verdict =
    wrong.length === 0
      ? 'Nothing in it keeps the service from starting.'
      : `Before it starts:\n${wrong.map((one) => `  ${lineOf(one)}`).join('\n')}`;
  return `
${shownPath(file)} is written.${key}
${verdict}
Next:
${own ? `  ${own}\nThen as that account, the one that shall serve:\n` : ''}  ${start}
And while it serves, in another terminal:
${beside.map((one) => `  ${one}`).join('\n')}`;
}
