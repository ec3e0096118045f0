// A disk that does no more than POSIX promises: of what was not synced when the power goes, anything may be there or not.
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Step } from './power-cut-log.ts';

const SECTOR_BYTES = 512;
/** How much of what was not synced survives a cut; one of them is drawn for each. */
const SURVIVAL = [0, 0.1, 0.5, 0.9, 1];
/** Of the writes that do not survive whole, how many are torn between sectors, and how many leave zeros where they should be. */
const TORN = 0.4;
const ZEROS = 0.1;
const OUT_OF_ORDER = 0.3;

const FOLDER = Symbol('folder');

interface Change {
  /** The offset of a write, or, without bytes, the size that the file is given. */
  at: number;
  bytes?: Buffer;
}

/** Bytes that grow. */
class Content {
  #room: Buffer;
  #size: number;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#room = Buffer.from(bytes);
    this.#size = bytes.length;
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  resize(size: number): void {
    if (size > this.#room.length) {
      const room = Buffer.alloc(size * 2);
      this.bytes.copy(room);
      this.#room = room;
    }
    if (size < this.#size) this.#room.fill(0, size, this.#size);
    this.#size = size;
  }

  apply({ at, bytes }: Change): void {
    if (!bytes) this.resize(at);
    else {
      this.resize(Math.max(this.#size, at + bytes.length));
      bytes.copy(this.#room, at);
    }
  }
}

class StoredFile {
  /** As its processes see it. */
  readonly live = new Content();
  /** As it was when it was last synced. */
  readonly durable = new Content();
  /** What was done to it since. */
  #changes: Change[] = [];

  change(change: Change): void {
    this.live.apply(change);
    this.#changes.push(change);
  }

  sync(): void {
    for (const change of this.#changes.splice(0)) this.durable.apply(change);
  }

  /** A sync that failed: the kernel takes what it could not write for written, so that the next sync has nothing to do. */
  failSync(): void {
    this.#changes = [];
  }

  /** What a power cut may leave of it: each change alone, whole, torn or not at all. */
  cut(random: SeededRandom, survival: number): Buffer {
    const content = new Content(this.durable.bytes);
    const changes = random.chance(OUT_OF_ORDER) ? random.shuffled(this.#changes) : this.#changes;
    for (const change of changes) {
      const { at, bytes } = change;
      if (random.chance(survival)) content.apply(change);
      else if (!bytes) continue;
      else if (random.chance(TORN)) {
        for (const sector of sectors(at, bytes)) if (random.chance(0.5)) content.apply(sector);
      } else if (random.chance(ZEROS) && at + bytes.length > content.bytes.length) {
        content.resize(at + bytes.length);
      }
    }
    return content.bytes;
  }
}

/** A write in the pieces that a disk writes whole or not at all. */
function* sectors(at: number, bytes: Buffer): Generator<Change> {
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR_BYTES - ((at + from) % SECTOR_BYTES));
    yield { at: at + from, bytes: bytes.subarray(from, to) };
    from = to;
  }
}

type Node = StoredFile | typeof FOLDER;

/** The files below a folder, by the steps that were taken. The folder itself is there from the beginning. */
export class Disk {
  /** What each name has stood for since its folder was last synced: the last is what it stands for now. */
  readonly #names = new Map<string, (Node | undefined)[]>();
  readonly #descriptors = new Map<number, { path: string; node: Node }>();

  /** Throws an error where a step is none of this disk's: the log lacks what came before it. */
  apply({ kind, descriptor, at, bytes }: Step): void {
    if (kind === 'answer') return;
    const path = bytes.toString();
    if (kind === 'open') this.#open(descriptor, at, path);
    else if (kind === 'make folder') this.#set(path, FOLDER);
    else if (kind === 'unlink') this.#set(path, undefined);
    else if (kind === 'rename') {
      const [from, to] = path.split('\n') as [string, string];
      this.#set(to, this.#find(from));
      this.#set(from, undefined);
    } else {
      const { path: opened, node } = this.#descriptors.get(descriptor)!;
      if (kind === 'fail') {
        if (at === 1 && node !== FOLDER) node.failSync();
      } else if (kind !== 'sync') (node as StoredFile).change(kind === 'write' ? { at, bytes } : { at });
      else if (node === FOLDER) this.#syncFolder(opened);
      else node.sync();
    }
  }

  #find(path: string): Node | undefined {
    return path === '' ? FOLDER : this.#names.get(path)?.at(-1);
  }

  #set(path: string, node: Node | undefined): void {
    const versions = this.#names.get(path) ?? [undefined];
    this.#names.set(path, [...versions, node]);
  }

  #open(descriptor: number, flags: number, path: string): void {
    if (!this.#find(path) && flags & constants.O_CREAT) this.#set(path, new StoredFile());
    const node = this.#find(path);
    if (!node) throw new Error(`${path} was opened, but never made`);
    if (node !== FOLDER && flags & constants.O_TRUNC) node.change({ at: 0 });
    this.#descriptors.set(descriptor, { path, node });
  }

  #syncFolder(folder: string): void {
    for (const [path, versions] of this.#names)
      if (folderOf(path) === folder) this.#names.set(path, [versions.at(-1)]);
  }

  /** The files as the server sees them, by their paths. */
  live(): Map<string, Buffer> {
    const found = [...this.#names].map(([path, versions]) => [path, versions.at(-1)] as const);
    return new Map(
      found.flatMap(([path, node]) => (node instanceof StoredFile ? [[path, node.live.bytes]] : [])),
    );
  }

  /** The files that a power cut now may leave, by their paths. `survival`: how much of what was not synced is there. */
  cut(random: SeededRandom, survival = random.pick(SURVIVAL)): Map<string, Buffer> {
    const left = new Map<string, Node>();
    const files = new Map<string, Buffer>();
    // A folder's name is always met before those of its files: it was made before them.
    for (const [path, versions] of this.#names) {
      const node = random.chance(survival) ? versions.at(-1) : random.pick(versions);
      const folder = folderOf(path);
      if (!node || (folder !== '' && left.get(folder) !== FOLDER)) continue;
      left.set(path, node);
      if (node !== FOLDER) files.set(path, node.cut(random, survival));
    }
    return files;
  }
}

function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}
