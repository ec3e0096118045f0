// Pages made once as bytes, cut where one differs from the next, and filled in for each that is asked for.
import { LRUCache } from 'lru-cache';
import { escaped, type Html } from './html.ts';

/** What all kept skeletons may take together, their keys included. */
const KEPT_BYTES = 2 * 1024 * 1024;

/** Noncharacters of Unicode: each stands for one value while a page is cut. */
const FIRST_MARK = 0xfdd1;
const MARK = /[\ufdd1-\ufdef]/;
const MARKS = 31;

/** What differs between pages of one skeleton. Nothing (`null`) where a page leaves a value out. */
export type Values = Readonly<Record<string, string | Html | null>>;

/** The bytes in front of the first value, then for each place of a value its name and the bytes behind it. */
interface Skeleton {
  first: Buffer;
  rest: readonly { name: string; bytes: Buffer }[];
  /** Bytes of all these together. */
  size: number;
}

/** The skeletons that were filled last, within a bound of memory. */
export class Skeletons {
  readonly #kept = new LRUCache<string, Skeleton>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ size }, key) => size + 2 * key.length,
  });

  /**
   * The bytes of the page that `make` makes of `values`. It is given stand-ins for them and asked only once for each `key`, so
   * `key` must hold all else that its page depends on; of a value, `make` may use nothing but where it stands and whether it
   * is `null`. Values are escaped as `html` escapes them.
   */
  fill<V extends Values>(key: string, values: V, make: (values: V) => string): Buffer {
    if (MARK.test(key)) return Buffer.from(make(values)); // could not be told from a stand-in
    let name = key;
    for (const value of Object.values(values)) name += value === null ? '0' : '1';
    let skeleton = this.#kept.get(name);
    if (!skeleton) {
      skeleton = cut(values, make);
      this.#kept.set(name, skeleton);
    }
    return filled(skeleton, values);
  }
}

function cut<V extends Values>(values: V, make: (values: V) => string): Skeleton {
  const names = Object.keys(values);
  if (names.length > MARKS) throw new Error(`a skeleton has at most ${MARKS} values`);
  const standIns = names.map((name, i) => [
    name,
    values[name] === null ? null : String.fromCharCode(FIRST_MARK + i),
  ]);
  const [front, ...others] = make(Object.fromEntries(standIns) as V).split(/(?=[\ufdd1-\ufdef])/);
  const rest = others.map((piece) => ({
    name: names[piece.charCodeAt(0) - FIRST_MARK]!,
    bytes: Buffer.from(piece.slice(1)),
  }));
  const first = Buffer.from(front!);
  const size = rest.reduce((sum, { bytes }) => sum + bytes.length, first.length);
  return { first, rest, size };
}

function filled({ first, rest, size }: Skeleton, values: Values): Buffer {
  const given: Record<string, Buffer> = {};
  for (const name in values) if (values[name] !== null) given[name] = Buffer.from(escaped(values[name]));
  let total = size;
  for (const { name } of rest) total += given[name]!.length;
  const page = Buffer.allocUnsafe(total);
  page.set(first);
  let at = first.length;
  for (const { name, bytes } of rest) {
    const value = given[name]!;
    page.set(value, at);
    page.set(bytes, at + value.length);
    at += value.length + bytes.length;
  }
  return page;
}
