// One edit of a history after another, each held to three judgements: ours of everything, ours of the seals, a third party's of an export.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCheckpoints } from '../../src/journal/checkpoint.ts';
import { HistoryBroken } from '../../src/journal/rows.ts';
import { verifyHistory } from '../../src/journal/verify.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { ROW_CHECKS } from '../support/read-only-store.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { type BreakIn, editCopy } from './break-in.ts';
import { CRIMES } from './crimes.ts';
import { type Access, DRAWN_EDITS, type Edited } from './intruder.ts';
import { exportText, type Verdict, verifyExport } from './third-party.ts';

/** How often an edit is made on a copy of the file and looked for in it as the command would, rather than in a transaction. */
const ON_A_COPY = 0.1;
/** How often the whole database is put back to what it was at an earlier stop. */
const RESTORE = 0.05;
/** How often an edit is one that an intruder would want most, rather than any at all. */
const CRIME = 0.3;
/** What no export tells: the schema, and a second head. */
const UNTOLD = /^schema migration|^the schema |^trigger |^the head of the history/;
/** What is found has a place, or is one of the two things that have none. */
const PLACELESS = /migration|the head/;
const MISSES_SHOWN = 5;
/** How often something is tried that may by chance come to nothing, as giving a session to whose it is. */
const TRIES = 20;

export interface Tampered {
  storage: string;
  /** A folder for files to look at. */
  folder: string;
  breakIn: BreakIn;
  /** Copies of the SQLite file, the newest last; none on PostgreSQL. */
  copies: readonly string[];
}

export interface Tally {
  /** How many edits of each kind. */
  kinds: Record<string, number>;
  /** How many of them a third party finds, and how many it cannot, since no export holds rows. */
  theirs: { verified: number; broken: number };
  misses: string[];
}

/** What the verifiers say of one state. */
export interface Judgement {
  ours: Error | undefined;
  /** How many acknowledgements our verifier told of. */
  acknowledged: number;
  /** Whether our verifier got past everything that an export tells. */
  walked: boolean;
  theirs: Verdict;
}

/** Looks at states of one store with every verifier there is. */
export class Judge {
  readonly #storage: string;
  readonly #file: string;
  /** An export that was found right, told by its text: most edits of rows give the same one. */
  #right: { text: string; verdict: Verdict } | undefined;

  constructor(storage: string, folder: string) {
    this.#storage = storage;
    this.#file = join(folder, 'judged.ndjson');
  }

  async look({ engine, rows }: Access): Promise<Judgement> {
    let walked = false;
    let acknowledged = 0;
    const onAcknowledged = () => {
      acknowledged++;
    };
    const passed = async () => {
      walked = true;
      return {};
    };
    const view = { query: rows };
    const ours = await verifyHistory(
      { engine, snapshot: (look) => look(view) },
      readCheckpoints(this.#storage),
      [passed, ...ROW_CHECKS],
      { onAcknowledged },
    ).then(
      () => undefined,
      (error) => error as Error,
    );
    const text = await exportText(view, this.#storage);
    if (text === this.#right?.text) return { ours, acknowledged, walked, theirs: this.#right.verdict };
    writeFileSync(this.#file, text);
    const theirs = await verifyExport(this.#file);
    if (theirs.verified) this.#right = { text, verdict: theirs };
    return { ours, acknowledged, walked, theirs };
  }

  /** The same of a file, opened as `counterfoil audit verify` opens it. */
  async lookInto(file: string): Promise<Judgement> {
    const database = openSqlite(file, () => {});
    try {
      return await database.snapshot((view) =>
        this.look({ engine: 'sqlite', rows: (sql, ...values) => view.query(sql, ...values) }),
      );
    } finally {
      await database.close();
    }
  }
}

/** Makes `count` edits, each of the honest state, and has each judged. */
export async function tamper(store: Tampered, count: number, random: SeededRandom): Promise<Tally> {
  const judge = new Judge(store.storage, store.folder);
  const tally: Tally = { kinds: {}, theirs: { verified: 0, broken: 0 }, misses: [] };
  while (Object.values(tally.kinds).reduce((sum, n) => sum + n, 0) < count) {
    const attempt = await attemptOne(store, judge, random);
    if (!attempt) continue;
    const { kind, edited, judgement } = attempt;
    tally.kinds[kind] = (tally.kinds[kind] ?? 0) + 1;
    tally.theirs[judgement.theirs.verified ? 'verified' : 'broken']++;
    const miss = missed(edited, judgement) ?? disagreement(judgement);
    if (miss) tally.misses.push(`${edited.told}: ${miss}`);
  }
  return tally;
}

async function attemptOne({ folder, breakIn, copies }: Tampered, judge: Judge, random: SeededRandom) {
  const honest = copies.at(-1);
  if (honest && random.chance(RESTORE)) {
    const older = random.pick(copies.slice(0, -1));
    const judgement = await judge.lookInto(older);
    return { kind: 'restore an older copy', edited: { told: `${older} in its place` }, judgement };
  }
  const { engine } = breakIn.access;
  const crimes = CRIMES.filter(({ on = engine }) => on === engine);
  const { kind, edit } = random.pick(random.chance(CRIME) ? crimes : DRAWN_EDITS);
  const onCopy = honest !== undefined && random.chance(ON_A_COPY);
  const file = join(folder, 'edited.sqlite');
  const attempt = (access: Access) => edit(access, random);
  const edited = await (onCopy ? editCopy(honest, file, attempt) : breakIn.edit(attempt));
  if (!edited) return undefined;
  return { kind, edited, judgement: await (onCopy ? judge.lookInto(file) : judge.look(breakIn.access)) };
}

/** Does each of the intruder's favourites once. Gives what is wrong with how it was found. */
export async function commitCrimes(
  { storage, folder, breakIn }: Tampered,
  random: SeededRandom,
): Promise<string[]> {
  const judge = new Judge(storage, folder);
  const misses: string[] = [];
  for (const { kind, edit, on } of CRIMES) {
    if (on && on !== breakIn.access.engine) continue;
    let edited: Edited | undefined;
    for (let tries = TRIES; !edited && tries > 0; tries--)
      edited = await breakIn.edit((access) => edit(access, random));
    const judgement = edited && (await judge.look(breakIn.access));
    const miss = judgement ? (missed(edited!, judgement) ?? disagreement(judgement)) : 'nothing to do it to';
    if (miss) misses.push(`${kind}: ${miss}`);
  }
  return misses;
}

/** Acknowledgements in the history that every edit begins with (`acknowledgeSome`). */
const KNOWN = 3;

/** Why what we say of an edit is not enough: nothing, or no place, or another than the edit's. */
function missed({ subject, seal, acknowledges }: Edited, judgement: Judgement): string | undefined {
  const { ours, acknowledged, theirs } = judgement;
  if (!ours && acknowledges) {
    const known = KNOWN + acknowledges;
    const isTold = acknowledged === known && theirs.said.includes(`; ${known} acknowledged faults.`);
    return isTold ? undefined : `not told: ${acknowledged} acknowledged, and "${theirs.said}"`;
  }
  if (!ours) return 'unseen';
  if (!(ours instanceof HistoryBroken)) return ours.stack;
  const placed = ours.entry !== undefined || ours.seal !== undefined || ours.subject !== undefined;
  if (!placed && !PLACELESS.test(ours.message)) return `no place in "${ours.message}"`;
  const isElsewhere =
    (subject !== undefined && ours.subject !== subject) ||
    (seal !== undefined &&
      ours.seal !== seal.number &&
      !(ours.entry! >= seal.first_entry && ours.entry! <= seal.last_entry));
  return isElsewhere ? `found elsewhere, "${ours.message}"` : undefined;
}

/** Where our verifier and the third party's see the same thing and say otherwise. */
export function disagreement({ ours, walked, theirs }: Judgement): string | undefined {
  if (theirs.verified === walked) return undefined;
  if (theirs.verified && UNTOLD.test(ours?.message ?? '')) return undefined;
  return `we say "${ours?.message ?? 'verified'}", they say "${theirs.said}"`;
}

/** What a test says of misses: how many, the first few, and how to have them again. */
export function told(misses: readonly string[], seed: number): string {
  return `seed ${seed}: ${misses.length} misses\n${misses.slice(0, MISSES_SHOWN).join('\n')}`;
}
