// How much of a table a test walks through.

/**
 * Whether everything is asked for: each language on each page, each width, each row of a long table. It is in `npm run test:all` and where a
 * file is given by name. In `npm test` a file takes the rows that differ in kind.
 */
export const isWhole = process.env.COUNTERFOIL_TEST_WHOLE === '1';

/** All of a list where everything is asked for, else each so-manieth from the first on. */
export function sampled<T>(list: readonly T[], each: number): T[] {
  return list.filter((_, index) => isWhole || index % each === 0);
}
