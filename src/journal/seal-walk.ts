// Walks seals and entries side by side, recomputes each seal, and holds it to the checkpoints that vouch for it.
import type { Reader } from '../store/database.ts';
import { type AuditEntry, NO_SEAL, type Seal, sealEntries } from './audit-entry.ts';
import type { Checkpoint } from './checkpoint-statement.ts';
import { countEntriesBefore, entriesAfter, sealsAfter } from './queries.ts';
import { HistoryBroken, type Voucher } from './rows.ts';

const PAGE = 2000;

/** Checkpoints in order, each with its signature checked, and what they are called where one of them finds something. */
export interface Vouchers {
  noun: Voucher;
  checkpoints: readonly Checkpoint[];
}

interface Walk {
  /** Entry from whose seal on hashes are recomputed; what lies before is only counted and held to its checkpoints. */
  since: number;
  vouchers: readonly Vouchers[];
  tick(entries: number): void;
}

interface Walked {
  last: Seal | undefined;
  /** The newest seal that was taken on trust. */
  trusted: Seal | undefined;
}

/** Walks from the first seal to the last. Throws `HistoryBroken`. */
export async function walkSeals(view: Reader, { since, vouchers, tick }: Walk): Promise<Walked> {
  const vouched = vouchers.map(({ noun, checkpoints }) => ({
    noun,
    checkpointOf: inStep(checkpoints),
  }));
  let entries: EntryReader | undefined;
  let last: Seal | undefined;
  let trusted: Seal | undefined;
  for (;;) {
    const seals = await sealsAfter(view, last?.number, PAGE);
    for (const seal of seals) {
      requireNext(seal, last);
      if (!entries && seal.last_entry < since) {
        trusted = seal;
      } else {
        entries ??= await readerFrom(view, seal.first_entry);
        const sealed = await entries.take(seal);
        requireSealed(seal, last?.hash ?? NO_SEAL, sealed);
      }
      for (const { noun, checkpointOf } of vouched) requireVouched(seal, checkpointOf(seal.number), noun);
      last = seal;
      tick(seal.last_entry - seal.first_entry + 1);
    }
    if (seals.length < PAGE) break;
  }
  const end = last?.last_entry ?? 0;
  entries ??= await readerFrom(view, end + 1);
  const surplus = await entries.peek();
  if (surplus)
    throw new HistoryBroken(`entry ${surplus.number} stands behind the last seal`, { entry: surplus.number });
  for (const { noun, checkpoints } of vouchers) requireReached(last, checkpoints.at(-1), noun);
  if (since > Math.max(1, end))
    throw new HistoryBroken(`the history ends at entry ${end}, before entry ${since}`, { entry: end + 1 });
  return { last, trusted };
}

function requireNext(seal: Seal, before: Seal | undefined): void {
  const number = (before?.number ?? 0) + 1;
  const first_entry = (before?.last_entry ?? 0) + 1;
  if (seal.number !== number)
    throw new HistoryBroken(`seal ${number} is missing`, { seal: number, entry: first_entry });
  if (seal.first_entry !== first_entry || seal.last_entry < first_entry) {
    throw new HistoryBroken(`seal ${number} covers other entries than those after the seal before`, {
      seal: number,
      entry: first_entry,
    });
  }
}

function requireSealed(seal: Seal, previousHash: string, sealed: readonly AuditEntry[]): void {
  const { number, first_entry, last_entry, at, hash } = seal;
  if (sealEntries(number, previousHash, at, sealed).hash === hash) return;
  const entry = sealed.find((one) => one.at !== at)?.number ?? first_entry;
  throw new HistoryBroken(`seal ${number} does not match entries ${first_entry} to ${last_entry}`, {
    seal: number,
    entry,
  });
}

/** Tells the checkpoint of a seal, for seals asked for in rising order. A map of half a million would take a tenth of a second. */
function inStep(checkpoints: readonly Checkpoint[]): (seal: number) => Checkpoint | undefined {
  let position = 0;
  return (seal) => {
    while (position < checkpoints.length && checkpoints[position]!.seal < seal) position++;
    const next = checkpoints[position];
    return next?.seal === seal ? next : undefined;
  };
}

function requireVouched(seal: Seal, checkpoint: Checkpoint | undefined, noun: Voucher): void {
  if (!checkpoint || (checkpoint.hash === seal.hash && checkpoint.last_entry === seal.last_entry)) return;
  throw new HistoryBroken(
    `seal ${seal.number} is not the one a ${noun} of ${checkpoint.signed_at} vouches for`,
    { seal: seal.number, entry: seal.first_entry, voucher: noun },
  );
}

function requireReached(last: Seal | undefined, newest: Checkpoint | undefined, noun: Voucher): void {
  if (!newest || newest.seal <= (last?.number ?? 0)) return;
  throw new HistoryBroken(
    `the history ends at seal ${last?.number ?? 0}, but a ${noun} of ${newest.signed_at} vouches for seal ${newest.seal}: an older copy was put in its place, or its end cut off`,
    { seal: (last?.number ?? 0) + 1, entry: (last?.last_entry ?? 0) + 1, voucher: noun },
  );
}

/** A reader of the entries from number `first` on. Earlier entries are counted only. */
async function readerFrom(view: Reader, first: number): Promise<EntryReader> {
  if (first === 1) return new EntryReader(view);
  const before = await countEntriesBefore(view, first);
  if (before.count !== first - 1 || before.first !== 1) {
    throw new HistoryBroken(`there are ${before.count} entries before entry ${first}`, {
      entry: first - 1,
    });
  }
  return new EntryReader(view, first - 1);
}

/** Hands out entries in order, a page in memory at a time. */
class EntryReader {
  readonly #view: Reader;
  #page: AuditEntry[] = [];
  #position = 0;
  #after: number | undefined;

  constructor(view: Reader, after?: number) {
    this.#view = view;
    this.#after = after;
  }

  async peek(): Promise<AuditEntry | undefined> {
    if (this.#position === this.#page.length) {
      this.#page = await entriesAfter(this.#view, this.#after, PAGE);
      this.#position = 0;
    }
    return this.#page[this.#position];
  }

  async take({ number: seal, first_entry, last_entry }: Seal): Promise<AuditEntry[]> {
    const taken: AuditEntry[] = [];
    for (let number = first_entry; number <= last_entry; number++) {
      const entry = await this.peek();
      if (entry?.number !== number)
        throw new HistoryBroken(`entry ${number} is missing`, { entry: number, seal });
      taken.push(entry);
      this.#position++;
      this.#after = number;
    }
    return taken;
  }
}
