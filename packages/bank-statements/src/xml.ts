// Reads XML as a stream of whole elements. Refuses any DOCTYPE, so that no entity can be declared.
import { SaxesParser } from 'saxes';
import { StatementRefused } from './refusal.ts';

/** An element without its namespace prefix. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: XmlElement[];
  text: string;
  /** From 1. */
  line: number;
}

/** No version of CAMT or OFX comes near. */
const DEPTH_MAXIMUM = 48;

/**
 * Hands on each element named in `wanted` when it ends, with all below it and the element around it. It is not kept in the element around
 * it, so that memory holds one entry at a time. `begin` hears each element when it begins. Throws `StatementRefused`.
 */
export function readXml(
  pieces: Iterable<string>,
  wanted: ReadonlySet<string>,
  take: (element: XmlElement) => void,
  begin: (element: XmlElement) => void,
): void {
  const parser = new SaxesParser();
  const open: XmlElement[] = [];
  const localName = (name: string) => name.slice(name.indexOf(':') + 1);
  parser.on('doctype', () => {
    throw new StatementRefused('The XML has a DOCTYPE, which statements never have.', parser.line);
  });
  parser.on('error', (error) => {
    const told = error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
    const advice = /^unclosed tag|^unexpected end/.test(told)
      ? ' The file ends too early: fetch it again.'
      : '';
    throw new StatementRefused(`The XML is not well-formed: ${told}.${advice}`, parser.line);
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length >= DEPTH_MAXIMUM)
      throw new StatementRefused(`The XML is nested more than ${DEPTH_MAXIMUM} deep.`, parser.line);
    const element = { name: localName(name), attributes, children: [], text: '', line: parser.line };
    open.push(element);
    begin(element);
  });
  const addText = (text: string) => {
    const element = open.at(-1);
    if (element) element.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const element = open.pop()!;
    element.text = element.text.trim();
    if (wanted.has(element.name)) take(element);
    else open.at(-1)?.children.push(element);
  });
  for (const piece of withoutControls(pieces)) parser.write(piece);
  parser.close();
}

/** Control characters that XML does not allow. Banks send them in texts, and behind the end of a file. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

/** A declaration behind blanks, where XML does not allow it. It tells nothing that is still to be known. */
const LATE_DECLARATION = /^(\s+)<\?xml[^>]*\?>/;

/** Blanks in place of control characters, and no declaration behind some. */
function* withoutControls(pieces: Iterable<string>): Generator<string> {
  let isBegun = false;
  for (const piece of pieces) {
    const clean = CONTROLS.test(piece) ? piece.replace(CONTROLS, ' ') : piece;
    CONTROLS.lastIndex = 0;
    yield isBegun ? clean : clean.replace(LATE_DECLARATION, '$1');
    isBegun = true;
  }
}

/** What elements of XML and of OFX have in common. */
interface Element<E> {
  name: string;
  text: string;
  children: E[];
}

/** The element at a path such as `Acct/Id/IBAN`, each the first of its name; undefined if there is none. */
export const at = <E extends Element<E>>(element: E | undefined, path: string): E | undefined =>
  path.split('/').reduce((one, name) => one?.children.find((child) => child.name === name), element);

/** The text at the first of `paths` that holds one. */
export function textAt<E extends Element<E>>(element: E | undefined, ...paths: string[]): string | undefined {
  for (const path of paths) {
    const text = at(element, path)?.text;
    if (text) return text;
  }
  return undefined;
}

/** The children of a name. */
export function all(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}
