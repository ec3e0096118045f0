// How the failure of a command is told, and what it exits with.
import { CheckpointKeyLost } from '../../journal/checkpoint-signer.ts';
import { SecretKeysUnfit } from '../../journal/keys/key-file.ts';
import { harmlessText } from '../../lib/text.ts';
import { CarryRefused } from '../../store/carry.ts';
import { DatabaseError, StoreUnfit } from '../../store/database.ts';
import { CarryUnfinished, SchemaTooNew } from '../../store/migrate.ts';
import { RestoreUnfinished, StorageExposed } from '../../store/open.ts';
import { KeyPairUnfit } from '../checks/certificate-checks.ts';
import { StartRefused } from '../checks/check.ts';
import { ConfigurationError, EXIT_CONFIGURATION } from '../config.ts';
import { Failure, shownPath } from './terminal.ts';
import { UsageError } from './usage.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** What starting again does not fix, except a `StartRefused` that may pass. */
const UNFIT = [
  CheckpointKeyLost,
  ConfigurationError,
  KeyPairUnfit,
  StoreUnfit,
  StartRefused,
  StorageExposed,
  SchemaTooNew,
  CarryUnfinished,
  RestoreUnfinished,
  SecretKeysUnfit,
];

/** What the system says no with, as a clause about the path that it is said of. */
const SYSTEM_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'this account may not read or write it',
  EPERM: 'this account may not change it',
  EROFS: 'its disk takes no writes',
  ENOSPC: 'the disk is full',
  EDQUOT: "this account's share of the disk is full",
  ENOENT: 'it does not exist',
  ENOTDIR: 'what its path names as a folder is a file',
  EISDIR: 'it is a folder, not a file',
};

/** Prints what failed in one line and returns the exit code. */
export function report(error: unknown): number {
  // What a server said stands in some messages.
  console.error(`counterfoil: ${harmlessText(told(error) ?? defect(error))}`);
  if (error instanceof UsageError) return EXIT_USAGE;
  const mayPass = error instanceof StartRefused && error.mayPass;
  return !mayPass && UNFIT.some((one) => error instanceof one) ? EXIT_CONFIGURATION : EXIT_FAILURE;
}

/** A defect in a line: what it is, and where in this program it came up. */
function defect(error: unknown): string {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const place = /[^/\s]+\/[^/\s]+\.ts:\d+/.exec(stack?.slice(stack.indexOf('\n')) ?? '')?.[0];
  const [first] = message.split('\n');
  return `this is a defect of the program, please report it: ${name}: ${first}${place ? ` (${place})` : ''}`;
}

/** The line that tells an operator what failed; nothing for what no operator can fix. */
function told(error: unknown): string | undefined {
  if ([...UNFIT, Failure, CarryRefused].some((one) => error instanceof one)) return (error as Error).message;
  if (error instanceof DatabaseError) {
    // A name with several addresses fails with one error for each and no message of its own.
    const inner = (error.cause as AggregateError | undefined)?.errors?.[0] as Error | undefined;
    const line = `the database: ${error.message || inner?.message || 'cannot be reached'}`;
    if (error.isMissing) return `${line}: see whether database_url names the right one, or make it`;
    if (/connection slots|too many (clients|connections)/.test(line))
      return `${line}: see "PostgreSQL is full" in docs/operating/runbook.md`;
    if (error.failure === 'broken')
      return `${line}: see "The database file is lost or broken" in docs/operating/runbook.md`;
    const isAway = /\b(ECONNREFUSED|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH)\b/.test(line);
    return isAway
      ? `${line}: see whether PostgreSQL runs there (pg_isready), and whether database_url names the right host`
      : line;
  }
  const { code, syscall, port, setting, address, path, dest, message } = error as NodeJS.ErrnoException & {
    port?: number;
    setting?: string;
    address?: string;
    dest?: string;
  };
  if (code === undefined || syscall === undefined) return undefined;
  if (code === 'EADDRINUSE')
    return `port ${port} of ${address} is taken: stop what listens there (ss -ltnp shows it), or choose another with ${setting ? `${setting}: ` : 'PORT='}${port! + 1}`;
  if (code === 'EACCES' && port !== undefined)
    return `port ${port} may not be listened on by this account: choose one above 1023 with ${setting ?? 'PORT'}`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `host ${address ?? (error as { hostname?: string }).hostname} is no address of this machine`;
  const fault = SYSTEM_FAULTS[code];
  if (fault === undefined) return message;
  const place = [path, dest].filter((one) => one !== undefined).map(shownPath);
  return `${place.length > 0 ? `${place.join(' → ')}: ` : ''}${fault} (${code})`;
}
