// What `counterfoil init` asks: each question has a flag, most have a default, and no answer is taken that the file could not hold.
import { resolve } from 'node:path';
import { isEmailAddress } from '../../lib/text.ts';
import { ConfigurationError, environment, parseConfiguration } from '../config.ts';
import { type Answers, configurationText } from './init-file.ts';

/** The flags of `init`, by the names that commander gives them. */
export interface InitFlags {
  baseUrl?: string;
  proxy?: string;
  certificate?: string;
  key?: string;
  databaseUrl?: string;
  storage?: string;
  registration?: string;
  merchant?: string;
  support?: string;
  iban?: string;
  holder?: string;
  currency?: string;
  administrator?: string;
  allowRoot?: boolean;
}

export interface Question {
  flag: keyof InitFlags & string;
  /** As it is written on a command line. */
  option: string;
  asks: string;
  /** What an empty answer means; undefined where there must be one. `''` leaves it out. */
  otherwise?: (answers: InitFlags) => string;
  /** The question without whose answer it has no use, and its option. */
  needs?: [flag: keyof InitFlags, option: string];
  /** Whether it is asked, after what was answered before. */
  applies?: (answers: InitFlags) => boolean;
  /** What is wrong with an answer, beyond what the configuration says of it. */
  fault?: (answer: string) => string | undefined;
}

const CHOICES = ['open', 'invite', 'closed'];

export const QUESTIONS: readonly Question[] = [
  {
    flag: 'baseUrl',
    option: '--base-url',
    asks: 'Where will it be reached? An https URL, such as https://pay.example',
  },
  {
    flag: 'certificate',
    option: '--certificate',
    asks: 'Certificate file, to speak https itself (empty: a proxy in front does)',
    otherwise: () => '',
    applies: ({ proxy }) => proxy === undefined,
  },
  {
    flag: 'key',
    option: '--key',
    asks: "File with the certificate's private key",
    needs: ['certificate', '--certificate'],
  },
  {
    flag: 'proxy',
    option: '--proxy',
    asks: 'Addresses of the proxies, with commas between them',
    otherwise: () => '127.0.0.1',
    applies: ({ certificate }) => !certificate,
  },
  {
    flag: 'databaseUrl',
    option: '--database-url',
    asks: 'PostgreSQL connection string (empty: SQLite)',
    otherwise: () => '',
  },
  {
    flag: 'storage',
    option: '--storage',
    asks: 'Private folder to store in',
    // The environment goes over the file, so the file says the same.
    otherwise: () =>
      environment.COUNTERFOIL_STORAGE ? resolve(environment.COUNTERFOIL_STORAGE) : './storage',
  },
  {
    flag: 'registration',
    option: '--registration',
    asks: 'Who may register as a merchant: open, invite or closed',
    otherwise: () => 'closed',
    fault: (answer) => (CHOICES.includes(answer) ? undefined : `must be one of ${CHOICES.join(', ')}`),
  },
  {
    flag: 'merchant',
    option: '--merchant',
    asks: 'Business name of the first merchant, who gets a live key (empty: none yet)',
    otherwise: () => '',
  },
  {
    flag: 'support',
    option: '--support',
    asks: 'Where its customers get help: an e-mail address, phone number or https address (empty: none)',
    otherwise: () => '',
    needs: ['merchant', '--merchant'],
  },
  {
    flag: 'iban',
    option: '--iban',
    asks: 'IBAN for bank transfers (empty: contact details alone)',
    otherwise: () => '',
  },
  {
    flag: 'holder',
    option: '--holder',
    asks: 'Holder of that account, spelled exactly as the bank has it',
    needs: ['iban', '--iban'],
  },
  {
    flag: 'currency',
    option: '--currency',
    asks: 'Its currency',
    otherwise: ({ iban }) => (/^(CH|LI)/i.test(iban ?? '') ? 'CHF' : 'EUR'),
    needs: ['iban', '--iban'],
  },
  {
    flag: 'administrator',
    option: '--administrator',
    asks: 'E-mail address of the first administrator (empty: later)',
    otherwise: () => '',
    fault: (answer) => (answer === '' || isEmailAddress(answer) ? undefined : 'must be an e-mail address'),
  },
];

/** The answers as the file is made of them; what was not answered yet is as simple as it can be. */
export function answersOf(flags: InitFlags, merchant: Answers['merchant'] = null): Answers {
  const { certificate, key, iban, holder, currency } = flags;
  return {
    base_url: flags.baseUrl ?? 'https://pay.example',
    proxies: certificate ? null : (flags.proxy ?? '127.0.0.1').split(',').map((one) => one.trim()),
    certificate: certificate ? { certificate, key: key ?? 'key.pem' } : null,
    database_url: flags.databaseUrl || null,
    storage: flags.storage || './storage',
    registration: (flags.registration ?? 'closed') as Answers['registration'],
    merchant:
      merchant ?? (flags.merchant ? { id: 'mer_0', name: flags.merchant, key_sha256: '0'.repeat(64) } : null),
    support: flags.support || null,
    account: iban ? { iban, holder: holder ?? 'Holder', currency: currency ?? 'EUR' } : null,
    allow_root: flags.allowRoot ?? false,
  };
}

/** What is wrong with the newest of the answers, as a clause; undefined where the configuration takes them. */
export function questionFault(question: Question, flags: InitFlags, file: string): string | undefined {
  const answer = String(flags[question.flag] ?? '');
  const own = question.fault?.(answer);
  if (own !== undefined) return own;
  if (answer === '' && question.otherwise === undefined) return 'is missing';
  try {
    // Without the environment: what goes over the file must not hide what is wrong in it.
    parseConfiguration(configurationText(answersOf(flags)), file, {});
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // Without the place, which is of a file that is not there yet.
    return /:\d+: \S+ (.*)$/.exec(error.message)?.[1] ?? error.message;
  }
}
