// counterfoil merchants set: what a merchant of the store says of itself on receipts and in letters, and which letters it wants.
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { logoFrom, type Particulars } from '../../merchants/particulars.ts';
import { setParticulars } from '../../merchants/set-particulars.ts';
import { merchantSchema } from '../settings/merchants.ts';
import { existingMerchant, loadDirectory } from './merchant-names.ts';
import { OPERATOR, type Store, type StoreOptions } from './store.ts';
import { Failure } from './terminal.ts';

type Name = Extract<keyof typeof merchantSchema.shape, keyof Particulars | 'support' | 'email'>;
type Value = string | number | readonly string[];

/** Each option with how its text is read. */
const OPTIONS: readonly [name: Name, flags: string, about: string, read?: (text: string) => Value][] = [
  ['legal_name', '--legal-name <name>', 'the name that receipts are issued under'],
  [
    'address',
    '--address <lines>',
    'its postal address on receipts; \\n parts lines',
    (text) => text.replaceAll('\\n', '\n'),
  ],
  ['tax_id', '--tax-id <number>', 'its tax number on receipts'],
  ['logo', '--logo <file>', 'its logo, a PNG or JPEG file of at most 16 KB', logoIn],
  ['support', '--support <contact>', 'where customers get help: an e-mail address, a phone number or a URL'],
  ['email', '--email <address>', 'where letters to the merchant go'],
  ['language', '--language <tag>', 'the language of letters to the merchant'],
  [
    'letters_off',
    '--letters-off <names>',
    'letters that are not sent, with commas between: reminder is not among them (docs/mail.md)',
    (text) => text.split(',').map((one) => one.trim()),
  ],
  [
    'remind_days',
    '--remind-days <n>',
    'how many days before the day to pay by customers are reminded',
    Number,
  ],
];

/** The logo in a file. Throws `InvalidArgumentError`. */
function logoIn(file: string): string {
  try {
    return logoFrom(readFileSync(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new InvalidArgumentError(
      code === undefined ? `It ${message}.` : `It names a file that cannot be read (${code}).`,
    );
  }
}

const NAMES = OPTIONS.map(([name]) => name);

/** Adds the options, which are checked before the store is opened. */
export function withParticulars(command: Command): Command {
  for (const [name, flags, about, read] of OPTIONS)
    command.option(flags, about, (text) => checked(name, text, read));
  command.option(
    '--unset <names>',
    `what is no longer said, with commas between: ${NAMES.join(', ')}`,
    unset,
  );
  return command.hook('preAction', (one) => {
    const said = one.opts();
    const isSaid = said.unset || OPTIONS.some(([name]) => said[optionOf(name)] !== undefined);
    if (!isSaid) one.error('error: give at least one option');
  });
}

/** Names of what is taken away. Throws `InvalidArgumentError`. */
function unset(text: string): string[] {
  const names = text.split(',').map((one) => one.trim());
  if (!names.every((one) => (NAMES as string[]).includes(one)))
    throw new InvalidArgumentError(`It must be some of ${NAMES.join(', ')}.`);
  return names;
}

const optionOf = (name: Name): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** The value of an option. Throws `InvalidArgumentError`. */
function checked(name: Name, text: string, read: (text: string) => Value = (one) => one): Value {
  const parsed = merchantSchema.shape[name].safeParse(read(text));
  if (!parsed.success) throw new InvalidArgumentError(`It ${parsed.error.issues[0]!.message}.`);
  return parsed.data as Value;
}

export async function setMerchant(
  { configuration, database, journal }: Store,
  wanted: string,
  options: StoreOptions & { unset?: string[] } & Record<string, unknown>,
) {
  const directory = await loadDirectory(configuration, database);
  const { id, name } = existingMerchant(wanted, directory);
  if (directory.merchant(id)?.isConfigured)
    throw new Failure(
      `${name} (${id}) stands in the configuration file: set this there, or import the merchant first`,
    );
  const said = Object.fromEntries(
    NAMES.map((one) => [one, options.unset?.includes(one) ? null : options[optionOf(one)]]),
  );
  const stored = await setParticulars(journal, id, said, OPERATOR);
  const particulars = JSON.parse(stored.particulars ?? '{}');
  return {
    json: { merchant: { id, name, email: stored.email, support: stored.support, ...particulars } },
    text: `${name} (${id}) is described anew: within a second receipts and letters say so.`,
  };
}
