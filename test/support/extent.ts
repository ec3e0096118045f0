// How much of a table a test walks through.

/**
 * Whether everything is asked for: each language on each page, each width, each row of a long table. It is in `npm run test:all` and where a
 * file is given by name. In `npm test` a file takes the rows that differ in kind.
 */
export const isWhole = process.env.COUNTERFOIL_TEST_WHOLE === '1';
