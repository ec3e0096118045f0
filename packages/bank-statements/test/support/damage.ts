// Files of the statement corpus, and damage to them: bytes taken out, put in, and changed to what means something in a statement.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';

const folder = join(import.meta.dirname, '../corpus');

/** The files of the corpus, by name. */
export const corpusFiles = (): [name: string, bytes: Buffer][] =>
  globSync('*.{xml,sta,ofx,csv,zip}', { cwd: folder })
    .sort()
    .map((file) => [basename(file), readFileSync(join(folder, file))]);

const edit = fc.record({
  place: fc.double({ min: 0, max: 0.999, noNaN: true }),
  removed: fc.integer({ min: 0, max: 40 }),
  added: fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc
      .constantFrom(':61:', '<', '<STMTTRN>', '</OFX>', '?20', '&#0;', '\r\n', ';', '"', '1.234,5')
      .map((text) => Buffer.from(text)),
  ),
});

/** Damaged copies of `files`, each with one to five edits. */
export const damaged = <T>(files: readonly (readonly [T, Buffer])[]): fc.Arbitrary<[T, Buffer]> =>
  fc
    .tuple(fc.constantFrom(...files), fc.array(edit, { minLength: 1, maxLength: 5 }))
    .map(([[name, file], edits]) => {
      let bytes: Buffer = file;
      for (const { place, removed, added } of edits) {
        const at = Math.floor(place * bytes.length);
        bytes = Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
      }
      return [name, bytes];
    });
