// Whether a password is among those that guessers try first, estimated by zxcvbn; its word lists take 110 MB while they are loaded.
import { readFile } from 'node:fs/promises';
import { brotliDecompressSync } from 'node:zlib';
import { famousPhrases } from './famous-phrases.ts';

/** Ten thousand guesses a second, for eleven days; each of ours takes a processor a seventh of a second. */
const GUESSES_LOG10 = 10;
/** What is looked at of a password: its matching takes time that grows with the square of this, a quarter of a second at most. */
const LOOKED_AT = 64;
/** Written by scripts/write-known-passwords.ts. */
const KNOWN = new URL('known-passwords.br', import.meta.url);

/** `about`: words that an attacker who knows the owner would try. */
export async function isGuessable(password: string, about: readonly string[]): Promise<boolean> {
  const [{ ZxcvbnFactory }, common, english, known] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
    readFile(KNOWN),
  ]);
  const estimator = new ZxcvbnFactory({
    dictionary: {
      ...common.dictionary,
      ...english.dictionary,
      known: brotliDecompressSync(known).toString().split('\n'),
      phrases: famousPhrases(),
    },
    graphs: common.adjacencyGraphs,
  });
  return estimator.check(password.slice(0, LOOKED_AT), [...about]).guessesLog10 < GUESSES_LOG10;
}
