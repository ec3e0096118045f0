// Takes OFX apart into elements: SGML of version 1, whose values have no end tags, and XML of version 2, by the same rules.
import { StatementRefused } from './refusal.ts';

/** An element with a value, or one with others in it. Names are in upper case. */
export interface OfxElement {
  name: string;
  /** Empty if it holds others. */
  text: string;
  /** Line of text in the file, from 1. */
  line: number;
  children: OfxElement[];
}

/** Elements in elements. OFX has about ten. */
const DEPTH_MAXIMUM = 40;
const TAG = /<(\/?)([A-Za-z][A-Za-z0-9._]*)\s*>([^<]*)/g;
/** Elements that hold others, also where a file does not close them. A second one inside closes the first. */
const AGGREGATES = new Set([
  'OFX',
  'STMTRS',
  'CCSTMTRS',
  'BANKTRANLIST',
  'BANKTRANLISTP',
  'STMTTRN',
  'STMTTRNP',
]);
const [ALIKE, LISTS] = [/^(?:CC)?STMTRS$|^STMTTRNP?$/, /^BANKTRANLISTP?$/];
const ENTITIES: Record<string, string> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** The text of a value: the five entities of XML, `&nbsp;`, which banks write too, and characters by their numbers. */
function decoded(text: string): string {
  return text
    .replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,4}));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        ? String.fromCodePoint(code)
        : whole;
    })
    .trim();
}

/** A CDATA section as text that has no tags. */
const plainCdata = (text: string) =>
  text.replaceAll(/<!\[CDATA\[([^\]]*(?:\](?!\]>)[^\]]*)*)\]\]>/g, (_, inside: string) =>
    inside.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  );

/** The root `OFX` of a file. Throws `StatementRefused` for a DOCTYPE, too many levels, and a file without the root. */
export function ofxRoot(whole: string): OfxElement {
  const doctype = /<!(?:DOCTYPE|ENTITY)/i.exec(whole);
  if (doctype)
    throw new StatementRefused('The file has a DOCTYPE, which is refused.', lineAt(whole, doctype.index));
  const text = plainCdata(whole);
  const closed = new Set(
    [...text.matchAll(/<\/([A-Za-z][A-Za-z0-9._]*)>/g)].map(([, name]) => name!.toUpperCase()),
  );
  const top: OfxElement = { name: '', text: '', line: 0, children: [] };
  const open = [top];
  let [line, counted] = [1, 0];
  for (const match of text.matchAll(TAG)) {
    const [, slash, written, value] = match;
    const name = written!.toUpperCase();
    for (; counted < match.index; counted++) if (text.charCodeAt(counted) === 10) line++;
    if (slash) {
      const place = open.findLastIndex((one) => one.name === name);
      if (place > 0) open.length = place;
      continue;
    }
    closeBefore(name, open);
    const one: OfxElement = { name, text: decoded(value!), line, children: [] };
    open.at(-1)!.children.push(one);
    const isEmpty = one.text === '' && text.startsWith('</', match.index + match[0].length);
    if (one.text === '' && !isEmpty && (closed.has(name) || AGGREGATES.has(name))) open.push(one);
    if (open.length > DEPTH_MAXIMUM)
      throw new StatementRefused(`Elements lie more than ${DEPTH_MAXIMUM} deep in one another.`, line);
  }
  const root = top.children.find(({ name }) => name === 'OFX');
  if (!root) throw new StatementRefused('The file has no OFX element.');
  return root;
}

/** Closes what a file leaves open before an element that cannot stand in it. */
function closeBefore(name: string, open: OfxElement[]): void {
  const kind = [ALIKE, LISTS].find((one) => one.test(name));
  if (!kind) return;
  const place = open.findLastIndex((one) => one.name === name || (kind === LISTS && LISTS.test(one.name)));
  if (place > 0) open.length = place;
}

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;

/** The elements of a name, however deep, in the order of the file. */
export function within(element: OfxElement, ...names: string[]): OfxElement[] {
  return element.children.flatMap((one) => (names.includes(one.name) ? [one] : within(one, ...names)));
}
