// Whose password is hashed next: few at a time, and never so that strangers keep those from it who have signed in before.
import { unavailable } from '../lib/errors.ts';

/** Hashes at a time, each with its memory and a processor; of these, at most so many for strangers. */
const AT_ONCE = 2;
const STRANGERS_AT_ONCE = 1;
/** Hashes waiting, of strangers and of the others each; beyond it the answer is 503 at once. */
const LONGEST_QUEUE = 20;
/** Hashes under way or waiting for one caller. */
const EACH = 2;

/** The caller of a hash: `key` tells one caller from others of the kind; `undefined` is a caller without a name. */
export interface Turn {
  known: boolean;
  key: string | undefined;
}

interface Lane {
  running: number;
  waiting: (() => void)[];
}

const known: Lane = { running: 0, waiting: [] };
const strangers: Lane = { running: 0, waiting: [] };
const held = new Map<string, number>();

/** Does `work` when its turn has come. Throws `unavailable` where too many are waiting, or too much of this caller's. */
export async function inTurn<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
  const lane = turn.known ? known : strangers;
  const key = turn.key === undefined ? undefined : `${turn.known} ${turn.key}`;
  const mine = key === undefined ? 0 : (held.get(key) ?? 0);
  if (mine >= EACH) throw unavailable();
  const isFree = known.running + strangers.running < AT_ONCE;
  const mustWait = !isFree || (lane === strangers && strangers.running >= STRANGERS_AT_ONCE);
  if (mustWait && lane.waiting.length >= LONGEST_QUEUE) throw unavailable();
  if (key !== undefined) held.set(key, mine + 1);
  try {
    if (mustWait) await new Promise<void>((resolve) => lane.waiting.push(resolve));
    else lane.running++;
    try {
      return await work();
    } finally {
      lane.running--;
      next();
    }
  } finally {
    if (key !== undefined) letGo(key);
  }
}

/** Gives a free place to a stranger where they have none, else to one of the others. */
function next(): void {
  const lane = strangers.running < STRANGERS_AT_ONCE && strangers.waiting.length > 0 ? strangers : known;
  const begin = lane.waiting.shift();
  if (!begin) return;
  lane.running++;
  begin();
}

function letGo(key: string): void {
  const left = held.get(key)! - 1;
  if (left > 0) held.set(key, left);
  else held.delete(key);
}
