// The command line: the list of commands, each loaded when it is asked for.
import { type Command, CommanderError } from 'commander';
import { VERSION } from '../../lib/version.ts';
import { completeHelp, newCommand } from './usage.ts';

const EXIT_USAGE = 2;

type Listed = readonly [name: string, summary: string, load: () => Promise<Command>];

/** Each command is loaded when it is asked for: the list of all needs none, and a short one nothing of the server. */
const COMMANDS: readonly Listed[] = [
  ['serve', 'run the service', async () => (await import('./serve.ts')).serveCommand()],
  ['init', 'write a configuration for production', async () => (await import('./init.ts')).initCommand()],
  [
    'move',
    'carry the store over, from SQLite to PostgreSQL or back',
    async () => (await import('./move.ts')).moveCommand(),
  ],
  [
    'migrate',
    "bring the store's schema up to date (serve does so too)",
    async () => (await import('./migrate.ts')).migrateCommand(),
  ],
  ['keys', 'API keys of merchants', async () => (await import('./keys.ts')).keysCommand()],
  [
    'merchants',
    'merchants of the file, and those who registered',
    async () => (await import('./merchants.ts')).merchantsCommand(),
  ],
  [
    'invites',
    'invitations to register as a merchant',
    async () => (await import('./invites.ts')).invitesCommand(),
  ],
  [
    'administrators',
    'who may review payments and manage the rest',
    async () => (await import('./administrators.ts')).administratorsCommand(),
  ],
  ['payments', 'look at one payment', async () => (await import('./payments.ts')).paymentsCommand()],
  [
    'listen',
    'forward test events to a server on this machine',
    async () => (await import('./listen.ts')).listenCommand(),
  ],
  [
    'trigger',
    'make a test payment with an event of a type',
    async () => (await import('./trigger.ts')).triggerCommand(),
  ],
  [
    'requests',
    'say what is known of one request',
    async () => (await import('./requests.ts')).requestsCommand(),
  ],
  ['audit', 'the history and its proof', async () => (await import('./audit.ts')).auditCommand()],
  [
    'accept-clock',
    "record that this machine's clock is right",
    async () => (await import('./accept-clock.ts')).acceptClockCommand(),
  ],
  [
    'doctor',
    'look for what is wrong, and say how to fix it',
    async () => (await import('./doctor.ts')).doctorCommand(),
  ],
  [
    'erase',
    'erase the personal data of payments for good',
    async () => (await import('./erase.ts')).eraseCommand(),
  ],
  ['export', 'write payments as CSV or NDJSON', async () => (await import('./export.ts')).exportCommand()],
  [
    'backup',
    'copy the store beside its server, and verify the copy',
    async () => (await import('./backup.ts')).backupCommand(),
  ],
  [
    'restore',
    'put a backup in the place of the store',
    async () => (await import('./restore.ts')).restoreCommand(),
  ],
  ['store', 'the file of a SQLite store', async () => (await import('./store-rescue.ts')).storeCommand()],
  [
    'webhooks',
    'webhook endpoints of merchants',
    async () => (await import('./webhooks.ts')).webhooksCommand(),
  ],
  ['mail', 'the server that letters leave by', async () => (await import('./mail.ts')).mailCommand()],
  [
    'secrets',
    'the keys that no backup of the store holds',
    async () => (await import('./secrets.ts')).secretsCommand(),
  ],
  [
    'statements',
    "the bank's statements, matched with payments",
    async () => (await import('./statements.ts')).statementsCommand(),
  ],
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
  if (found.length > 0) return Promise.all(found.map(([, , load]) => load()));
  return Promise.resolve(COMMANDS.map(([one, summary]) => newCommand(one, summary, [])));
}
