// Lists a page at a time: what their addresses may ask, and the shape of their answers.
import { z } from 'zod';
import { type ErrorDetails, validationFailed } from '../lib/errors.ts';
import { saysNothing } from '../lib/faults.ts';

/** Page sizes. */
export const LIMIT = { default: 20, maximum: 100 };

/** Reads the parameters of an address one by one and gathers what is wrong with them; those not asked for are ignored. */
export class QueryReader {
  readonly #query: Record<string, unknown>;
  readonly #faults: ErrorDetails = {};
  readonly #known = new Set<string>();

  /** `query` as the framework parsed it. */
  constructor(query: unknown) {
    this.#query = query as Record<string, unknown>;
  }

  /** A parameter as it was sent, undefined if it is blank; `faultOf` gives the sentence that says what is wrong with it, or undefined. */
  text(name: string, faultOf: (value: string) => string | undefined = () => undefined): string | undefined {
    this.#known.add(name);
    const value = this.#query[name];
    if (saysNothing(value)) return undefined;
    if (Array.isArray(value)) this.#faults[name] = 'Must be given once.';
    if (typeof value !== 'string') return undefined;
    const fault = faultOf(value);
    if (fault) this.#faults[name] = fault;
    return value;
  }

  /** A whole number of plain digits, from `minimum` to `maximum`. */
  integer(name: string, minimum: number, maximum: number): number | undefined {
    const value = this.text(name, (text) => {
      const isOne = /^\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
      return isOne ? undefined : `Must be a whole number from ${minimum} to ${maximum}.`;
    });
    return value === undefined ? undefined : Number(value);
  }

  limit(): number {
    return this.integer('limit', 1, LIMIT.maximum) ?? LIMIT.default;
  }

  /** One of a few words. */
  oneOf<W extends string>(name: string, words: readonly W[]): W | undefined {
    const isOne = (text: string) => words.includes(text as W);
    return this.text(name, (text) => (isOne(text) ? undefined : `Must be one of ${words.join(', ')}.`)) as
      | W
      | undefined;
  }

  /** Some of a few words, parted by commas; undefined if it is not given. */
  someOf<W extends string>(name: string, words: readonly W[]): W[] | undefined {
    const partsOf = (text: string) => text.split(',').map((part) => part.trim()) as W[];
    const value = this.text(name, (text) =>
      partsOf(text).every((part) => words.includes(part))
        ? undefined
        : `Must be one or more of ${words.join(', ')}.`,
    );
    return value === undefined ? undefined : partsOf(value);
  }

  /** What the `next_cursor` of an earlier answer stands for; `read` gives nothing for what is none. */
  cursor<C>(read: (cursor: string) => C | undefined): C | undefined {
    let found: C | undefined;
    this.text('cursor', (text) => {
      found = read(text);
      return found === undefined ? 'Must be a next_cursor of an earlier answer.' : undefined;
    });
    return found;
  }

  /** The id that a cursor stands for. */
  idCursor(isId: (text: string) => boolean): string | undefined {
    return this.cursor((cursor) => {
      const id = fromCursor(cursor);
      return id !== undefined && isId(id) ? id : undefined;
    });
  }

  /** Finds a fault in every parameter that was not asked for by now. */
  refuseOthers(): void {
    for (const name of Object.keys(this.#query))
      if (!this.#known.has(name)) this.#faults[name] = 'Is not a parameter here.';
  }

  /** Throws `validation_failed` with every fault that was found, if any was. */
  end(): void {
    if (Object.keys(this.#faults).length > 0) throw validationFailed(this.#faults);
  }
}

/** A page of `item`s. */
export function listSchema<S extends z.ZodType>(item: S) {
  return z.strictObject({
    data: z.array(item),
    has_more: z.boolean().describe('Whether there are more behind the last.'),
    next_cursor: z.string().nullable().describe('Hand in as `cursor` for what comes next.'),
  });
}

/** The first `limit` of the rows that were found, and a cursor to those behind them, which holds `endOf` the last row. */
export function pageOf<R extends { id: string }>(
  found: readonly R[],
  limit: number,
  endOf: (row: R) => string = ({ id }) => id,
) {
  const page = found.slice(0, limit);
  return { page, next: found.length > limit ? toCursor(endOf(page.at(-1)!)) : null };
}

/** The JSON text of a page: `items` are JSON texts; `next` is the cursor to what comes behind them, null where that is nothing. */
export function listText(items: readonly string[], next: string | null): string {
  return `{"data":[${items.join(',')}],"has_more":${next !== null},"next_cursor":${JSON.stringify(next)}}`;
}

/** A cursor holds the end of the last page, encoded so that clients do not build one. */
function toCursor(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** The position of a cursor, or undefined if it was not made here. */
export function fromCursor(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  return toCursor(text) === cursor ? text : undefined;
}
