// The command line: the list of commands, each loaded when it is asked for.
import { type Command, CommanderError } from 'commander';
import { VERSION } from '../../lib/version.ts';
import { completeHelp, newCommand, withCommonOptions } from './usage.ts';

const EXIT_USAGE = 2;

type Listed = readonly [
  name: string,
  summary: string,
  load: () => Promise<{ command(name: string): Command }>,
];

/** Each command is loaded when it is asked for: the list of all needs none, and a short one nothing of the server. */
const COMMANDS: readonly Listed[] = [
  ['serve', 'run the service', () => import('./serve.ts')],
  ['init', 'write a configuration for production', () => import('./init.ts')],
  ['move', 'carry the store over, from SQLite to PostgreSQL or back', () => import('./move.ts')],
  ['migrate', "bring the store's schema up to date (serve does so too)", () => import('./upkeep.ts')],
  ['keys', 'API keys of merchants', () => import('./keys.ts')],
  ['merchants', 'merchants of the file, and those who registered', () => import('./merchants.ts')],
  ['invites', 'invitations to register as a merchant', () => import('./invites.ts')],
  ['administrators', 'who may review payments and manage the rest', () => import('./administrators.ts')],
  ['payments', 'look at one payment', () => import('./payments.ts')],
  ['listen', 'forward test events to a server on this machine', () => import('./listen.ts')],
  ['trigger', 'make a test payment with an event of a type', () => import('./listen.ts')],
  ['requests', 'say what is known of one request', () => import('./payments.ts')],
  ['audit', 'the history and its proof', () => import('./audit.ts')],
  ['accept-clock', "record that this machine's clock is right", () => import('./upkeep.ts')],
  ['doctor', 'look for what is wrong, and say how to fix it', () => import('./doctor.ts')],
  ['erase', 'erase the personal data of payments for good', () => import('./erase.ts')],
  ['export', 'write payments as CSV or NDJSON', () => import('./payments.ts')],
  ['backup', 'copy the store beside its server, and verify the copy', () => import('./backup.ts')],
  ['restore', 'put a backup in the place of the store', () => import('./restore.ts')],
  ['store', 'the file of a SQLite store', () => import('./upkeep.ts')],
  ['webhooks', 'webhook endpoints of merchants', () => import('./webhooks.ts')],
  ['mail', 'the server that letters leave by', () => import('./mail.ts')],
  ['secrets', 'the keys that no backup of the store holds', () => import('./secrets.ts')],
  ['statements', "the bank's statements, matched with payments", () => import('./statements.ts')],
];

/** Runs a command line (`process.argv`); sets the exit code: 0 ok, 1 failure, 2 usage, 78 configuration. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = await commandLine((argv[2] === 'help' ? argv[3] : argv[2]) ?? '');
  // The reader of the output has closed it (`… | head`): that is no failure. A full disk is one, but a server goes on without the output.
  process.stdout.on('error', async (error: NodeJS.ErrnoException) => {
    if (!['EPIPE', 'EIO'].includes(error.code!)) process.exitCode = await exitCodeOf(error);
  });
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = await exitCodeOf(error);
  }
}

async function exitCodeOf(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE; // commander has said it
  const { report } = await import('./report.ts'); // a command that fails has loaded most of it
  return report(error);
}

/** The command line with the command of a name; with a list of all where none has it, and with all of each where there is no name. */
export async function commandLine(name?: string): Promise<Command> {
  const program = newCommand(
    'counterfoil',
    'Self-hosted payment requests with a hosted checkout, human review and a history that cannot be edited unseen.',
    [
      'serve                                      start on the configuration in this folder',
      'keys create --merchant "Corner Shop" --live',
      'audit verify --json',
    ],
  ).version(VERSION);
  for (const command of await wanted(name)) program.addCommand(command);
  completeHelp(program);
  return program;
}

/** What the list of commands needs of all, and a mistyped name for the nearest one, is in the table. */
function wanted(name: string | undefined): Promise<Command[]> {
  const found = COMMANDS.filter(([one]) => name === undefined || one === name);
  if (found.length > 0)
    return Promise.all(found.map(async ([one, , load]) => withCommonOptions((await load()).command(one))));
  return Promise.resolve(COMMANDS.map(([one, summary]) => newCommand(one, summary, [])));
}
