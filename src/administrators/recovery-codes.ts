// Recovery codes: ten random words on paper, for a lost second factor. Each code works once.
import { randomId } from '../lib/ids.ts';
import { sha256 } from '../lib/secrets.ts';
import { asciiDigits } from '../lib/text.ts';

const COUNT = 10;
/** 120 bits, too many to try out, also against a digest. */
const CHARACTERS = 24;
const GROUP = /.{4}(?!$)/g;

/** Ten new codes as they are shown, once (`4h2k-9x0d-…`), and what is kept of them: a JSON array of their digests. */
export function newRecoveryCodes(): { codes: string[]; digests: string } {
  const plain = Array.from({ length: COUNT }, () => randomId('', CHARACTERS));
  return {
    codes: plain.map((code) => code.replaceAll(GROUP, '$&-')),
    digests: JSON.stringify(plain.map((code) => sha256(code))),
  };
}

/** The digests that are left after `code` is used, as JSON. Undefined if it is none of theirs. */
export function spend(digests: string, code: string): string | undefined {
  const left = JSON.parse(digests) as string[];
  const digest = sha256(plainCode(code));
  return left.includes(digest) ? JSON.stringify(left.filter((one) => one !== digest)) : undefined;
}

/** How many codes are left. */
export function codesLeft(digests: string | null): number {
  return digests === null ? 0 : (JSON.parse(digests) as string[]).length;
}

/** A code as it was made, from how it was typed: letters that the alphabet leaves out are read as the digits they look like. */
function plainCode(typed: string): string {
  return asciiDigits(typed)
    .toLowerCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1');
}
