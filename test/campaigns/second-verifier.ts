// A second verifier of exports, written from docs/audit-format.md alone: it knows nothing else of the program.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

type Line = Record<string, unknown>;

interface Seal {
  seal: number;
  first_entry: number;
  last_entry: number;
  at: number;
  hash: string;
}

const MEMBERS = {
  header: 'format version entries seals first_entry first_seal hash_before exported_at'.split(' '),
  seal: ['seal', 'first_entry', 'last_entry', 'at', 'hash'],
  key: ['public_key'],
  checkpoint: ['checkpoint'],
  end: ['checkpoints'],
};
const SIGNED = ['seal', 'last_entry', 'hash', 'signed_at', 'key'];
/** An Ed25519 SubjectPublicKeyInfo (RFC 8410): a fixed beginning, then the 32 bytes of the key. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether an export is right by the numbered rules of the document. `kept`: PEM of a key that the checker has. */
export function isRight(text: string, kept?: string): boolean {
  try {
    check(text, kept);
    return true;
  } catch (error) {
    if (error instanceof Wrong || error instanceof SyntaxError) return false;
    throw error;
  }
}

class Wrong extends Error {}

function rule(number: number, holds: boolean): asserts holds {
  if (!holds) throw new Wrong(`rule ${number}`);
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';

function check(text: string, kept: string | undefined): void {
  const lines = text.split('\n');
  rule(1, lines.pop() === '');
  const values = lines.map((line) => JSON.parse(line) as unknown);
  const kinds = values.map((value, i) => kindOf(value, i));
  // The order of kinds, a letter each.
  rule(3, /^h(?:s(?:a)*)*kc*e$/.test(kinds.map((kind) => kind[0]).join('')));
  for (const [i, kind] of kinds.entries())
    if (kind !== 'array') rule(2, lines[i] === JSON.stringify(pick(values[i] as Line, MEMBERS[kind])));
  const of = (kind: string) => values.filter((_, i) => kinds[i] === kind);
  const header = values[0] as Line;
  const seals = history(header, lines, values, kinds);
  const key = keyOf((of('key')[0] as Line).public_key, kept);
  const checkpoints = of('checkpoint').map((value) => (value as Line).checkpoint as Line);
  rule(11, key !== undefined || checkpoints.length === 0);
  if (key) vouch(checkpoints, key, header, seals);
  rule(15, (of('end')[0] as Line).checkpoints === checkpoints.length);
}

type Kind = keyof typeof MEMBERS | 'array';

function kindOf(value: unknown, index: number): Kind {
  if (index === 0) return 'header';
  rule(2, typeof value === 'object' && value !== null);
  if (Array.isArray(value)) return 'array';
  if ('seal' in value) return 'seal';
  if ('public_key' in value) return 'key';
  if ('checkpoint' in value) return 'checkpoint';
  return 'end';
}

/** Throws if a member is missing. */
function pick(value: Line, members: readonly string[]): Line {
  rule(
    2,
    typeof value === 'object' && value !== null && members.every((member) => value[member] !== undefined),
  );
  return Object.fromEntries(members.map((member) => [member, value[member]]));
}

/** Rules 4 to 8. Returns the seals. */
function history(header: Line, lines: string[], values: unknown[], kinds: Kind[]): Seal[] {
  const { format, version, entries, seals, first_entry, first_seal, hash_before, exported_at } = header;
  rule(4, format === 'counterfoil audit export' && version === 1 && isText(exported_at));
  rule(4, isNumber(first_seal) && first_seal >= 1 && isNumber(first_entry) && isText(hash_before));
  rule(4, new Set([first_seal === 1, first_entry === 1, hash_before === '']).size === 1);
  const found: Seal[] = [];
  let entry = first_entry - 1;
  for (let i = 1; kinds[i] === 'seal'; ) {
    const seal = values[i++] as Seal;
    const before = found.at(-1);
    rule(5, seal.seal === (before ? before.seal + 1 : first_seal) && seal.first_entry === entry + 1);
    rule(5, isNumber(seal.last_entry) && seal.last_entry >= seal.first_entry && isNumber(seal.at));
    const head = [
      'counterfoil seal',
      seal.seal,
      before?.hash ?? hash_before,
      seal.first_entry,
      seal.last_entry,
      seal.at,
    ];
    let covered = `${JSON.stringify(head)}\n`;
    for (; kinds[i] === 'array'; i++) {
      const one = values[i] as unknown[];
      rule(6, one.length === 7 && one[0] === entry + 1 && entry < seal.last_entry);
      entry++;
      covered += `${lines[i]}\n`;
    }
    rule(6, entry === seal.last_entry);
    rule(7, createHash('sha256').update(covered).digest('base64url') === seal.hash);
    found.push(seal);
  }
  rule(8, (found.at(-1)?.seal ?? first_seal - 1) === seals && entry === entries);
  return found;
}

/** Rules 9 and 10. */
function keyOf(pem: unknown, kept: string | undefined): KeyObject | undefined {
  if (pem === null) return undefined;
  rule(9, isText(pem));
  const der = derOf(pem);
  rule(9, der.length === SPKI.length + 32 && der.subarray(0, SPKI.length).equals(SPKI));
  if (kept !== undefined) rule(10, derOf(kept).equals(der));
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function derOf(pem: string): Buffer {
  const body = /^\s*-----BEGIN PUBLIC KEY-----\r?\n([\w+/=\r\n]+)-----END PUBLIC KEY-----\s*$/.exec(pem)?.[1];
  rule(9, body !== undefined);
  return Buffer.from(body, 'base64');
}

/** Rules 12 to 14. */
function vouch(checkpoints: Line[], key: KeyObject, header: Line, seals: Seal[]): void {
  const der = key.export({ type: 'spki', format: 'der' });
  const name = createHash('sha256').update(der).digest('hex').slice(0, 16);
  let before: Line | undefined;
  for (const one of checkpoints) {
    rule(12, JSON.stringify(one) === JSON.stringify(pick(one, [...SIGNED, 'signature'])));
    const { seal, last_entry, hash, signed_at, signature } = one;
    rule(12, isNumber(seal) && isNumber(last_entry) && [hash, signed_at, signature].every(isText));
    rule(12, one.key === name);
    const signed = ['counterfoil checkpoint', ...SIGNED.map((member) => one[member])].map(
      (part) => `${part}\n`,
    );
    const bytes = Buffer.from(signature as string, 'base64url');
    rule(
      12,
      bytes.toString('base64url') === signature && verify(null, Buffer.from(signed.join('')), key, bytes),
    );
    if (before) rule(13, seal >= (before.seal as number));
    if (before?.seal === seal) rule(13, before.hash === hash && before.last_entry === last_entry);
    const first = header.first_seal as number;
    rule(14, seal <= (header.seals as number));
    const vouched =
      seal === first - 1
        ? { hash: header.hash_before, last_entry: (header.first_entry as number) - 1 }
        : seals[seal - first];
    if (seal >= first - 1) rule(14, vouched?.hash === hash && vouched?.last_entry === last_entry);
    before = one;
  }
}
