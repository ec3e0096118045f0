// Reads `:86:` of MT940: German, Austrian and Polish subfields, Dutch words between slashes, SEPA words, and plain text.
import type { Counterparty, LineReferences } from './statement.ts';
import { folded, ibanOf, present, referenceOf } from './values.ts';

interface Information {
  text: string;
  references: LineReferences;
  counterparty: Counterparty;
  code?: string;
  isReturned: boolean;
}

/** Rows of `:86:` and subfields are cut at this length, in the middle of a word as well. */
const [ROW_CHARACTERS, SUBFIELD_CHARACTERS] = [65, 27];
/** A code of three digits, a separator, and the number of the first subfield: `166?00`, `020~00`, `<00`, `166 ?00`. */
const SUBFIELDS = /^\s*(\d{3})?\s*([?~<^|])(?=\d{2})/;
const DUTCH =
  /\/(TRTP|TRCD|IBAN|BIC|NAME|REMI|EREF|PREF|MARF|CSID|ORDP|BENM|CNTP|PURP|RTRN|ISDT|SVCL|ULTD|ULTC|ID|ADDR)\//;
const SEPA = /(?:^|\s|(?<=[^A-Z]))(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|COAM|OAMT|PURP)(?:\+|:\s?)/;
/** The same words as some banks write them out. */
const WRITTEN_OUT: readonly (readonly [RegExp, string])[] = [
  [/\b(?:End[- ]to[- ]End(?:[- ](?:Ref(?:erenz|erence)?|Id))?|E2E(?:[- ](?:Ref|Id))?)\.?:\s*/gi, 'EREF+'],
  [/\b(?:Mandats?-?ref(?:erenz)?|Mandate(?: ref(?:erence)?)?)\.?:\s*/gi, 'MREF+'],
  [/\b(?:Gl(?:ä|ae)ubiger-?ID|Creditor ID)\.?:\s*/gi, 'CRED+'],
  [/\b(?:Verwendungszweck|Remittance information)\.?:\s*/gi, 'SVWZ+'],
];
/** Reasons and words with which banks return a transfer. */
export const RETURNED =
  /\b(?:R(?:Ü|UE?)CK(?:LASTSCHRIFT|(?:Ü|UE?)BERWEISUNG|RUF)|RETOURE|RETURN(?:ED)? (?:TRANSFER|PAYMENT)|ZWROT PRZELEWU)\b/i;

/** Reads the rows of one `:86:` field. Returns empty text for an empty list. */
export function readInformation(rows: readonly string[]): Information {
  // PKO writes the code in a field of its own before the one that begins with it.
  if (/^\d{3}$/.test(rows[0] ?? '') && rows[1]?.startsWith(rows[0]!)) return readInformation(rows.slice(1));
  const joined = rows.join('');
  const start = SUBFIELDS.exec(joined);
  if (start) return subfields(joined.slice(start[0].length), start[2]!, start[1]);
  if (DUTCH.test(rows[0] ?? '')) return dutch(joined);
  return { ...sepaWords(rejoin(rows, ROW_CHARACTERS)), counterparty: {} };
}

/** Joins parts that were cut at a length: a full part goes on in the next one, a shorter one ended with a space. */
function rejoin(parts: readonly string[], full: number): string {
  return parts.reduce((text, part, i) => text + (i > 0 && parts[i - 1]!.length < full ? ' ' : '') + part, '');
}

function subfields(text: string, separator: string, code: string | undefined): Information {
  const found = new Map<string, string>();
  const purpose: string[] = [];
  for (const part of splitSubfields(text, separator)) {
    const [number, value] = [part.slice(0, 2), part.slice(2)];
    if (/^(?:2[0-9]|6[0-3])$/.test(number)) purpose.push(value);
    else found.set(number, (found.get(number) ?? '') + value);
  }
  const words = sepaWords(rejoin(purpose, SUBFIELD_CHARACTERS));
  const account = found.get('38') ?? found.get('31');
  const name = [found.get('32'), found.get('33')].filter((one) => one !== undefined);
  return {
    ...words,
    isReturned: words.isReturned || RETURNED.test(found.get('00') ?? ''),
    text: [words.text, folded(found.get('00'))].filter(Boolean).join('\n'),
    counterparty: present({
      name: folded(rejoin(name, SUBFIELD_CHARACTERS)),
      account: ibanOf(account) ?? referenceOf(account),
    }),
    ...present({ code: folded(code) }),
  };
}

/** A separator counts only before two digits, so that a question mark in the text stays. */
function splitSubfields(text: string, separator: string): string[] {
  const escaped = `\\${separator}`;
  return text.split(new RegExp(`${escaped}(?=\\d{2})`));
}

function dutch(text: string): Information {
  const [before, ...parts] = text.split(DUTCH);
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < parts.length; i += 2)
    if (!found.has(parts[i]!)) found.set(parts[i]!, parts[i + 1]!);
  // ING: /CNTP/account/bic/name/town/ and /REMI/USTD//text/ or /REMI/STRD/CUR/reference/
  const party = found.get('CNTP')?.split('/');
  const remittance = (found.get('REMI') ?? '').replace(/^USTD\/\//, '');
  const [, structured] = /^STRD\/(?:CUR|ISO)\/(.*?)\/?$/.exec(remittance) ?? [];
  const account = party?.[0] ?? found.get('IBAN');
  const words = [structured ?? remittance, before, found.get('TRTP')];
  return {
    text: words
      .map((one) => folded(one?.replace(/\/+$/, '')))
      .filter(Boolean)
      .join('\n'),
    references: present({
      creditor: referenceOf(structured),
      endToEnd: referenceOf(found.get('EREF')?.replace(/\/+$/, '')),
      mandate: referenceOf(found.get('MARF')?.replace(/\/+$/, '')),
    }),
    counterparty: present({
      name: folded((party?.[2] ?? found.get('NAME'))?.replace(/\/+$/, '')),
      account: ibanOf(account) ?? referenceOf(account),
    }),
    isReturned: found.has('RTRN'),
  };
}

/** Takes `EREF+…`, `MREF+…` and their like out of a text; what follows `SVWZ+` and what stands before them is the text. */
function sepaWords(text: string): Omit<Information, 'counterparty'> {
  const plain = WRITTEN_OUT.reduce((one, [pattern, word]) => one.replace(pattern, word), text);
  const [before, ...parts] = plain.split(SEPA);
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < parts.length; i += 2) found.set(parts[i]!, parts[i + 1]!);
  const rest = [...found]
    .filter(([word]) => ['ABWA', 'ABWE', 'KREF'].includes(word))
    .map(([, value]) => value);
  const texts = [before, found.get('SVWZ'), ...rest];
  return {
    text: texts.map(folded).filter(Boolean).join('\n'),
    references: present({
      endToEnd: referenceOf(found.get('EREF')),
      mandate: referenceOf(found.get('MREF')),
    }),
    isReturned: RETURNED.test(text),
  };
}
