// Reads a page as strictly as nobody else does: every tag must stand where it says.
import { type DefaultTreeAdapterMap, defaultTreeAdapter, parse } from 'parse5';

type Element = DefaultTreeAdapterMap['element'];

/** Elements of HTML that have no end tag. */
const VOID = new Set(['meta', 'link', 'input', 'br', 'img']);

/** The elements of a page in their order, and what is wrong with its markup: every tag must stand where it says. */
export function strictly(text: string): { elements: Element[]; faults: string[] } {
  const faults: string[] = [];
  const elements: Element[] = [];
  const tree = parse(text, {
    sourceCodeLocationInfo: true,
    onParseError: ({ code, startLine, startCol }) => faults.push(`${code} at ${startLine}:${startCol}`),
  });
  const walk = (node: DefaultTreeAdapterMap['node']): void => {
    if (defaultTreeAdapter.isElementNode(node)) elements.push(node);
    if ('childNodes' in node) node.childNodes.forEach(walk);
  };
  walk(tree);
  // A parser fixes tags that do not match without a word.
  let ends = 0;
  for (const { tagName, sourceCodeLocation: place } of elements) {
    const isClosedItself = VOID.has(tagName) || (place && text[place.startTag!.endOffset - 2] === '/');
    if (place?.endTag) ends++;
    else if (!place || !isClosedItself) faults.push(`<${tagName}> at ${place?.startLine} has no end`);
  }
  const written = text.match(/<\/\w/g)?.length ?? 0;
  if (written !== ends) faults.push(`${written} end tags for ${ends} elements`);
  return { elements, faults };
}

/** What is wrong with the markup of a page: its tags, its headings, and names in it that lead nowhere. Empty where all is well. */
export function markupFaults(text: string): string[] {
  const { elements, faults } = strictly(text);
  const values = (name: string) =>
    elements.flatMap(({ attrs }) => attrs.filter((one) => one.name === name).map(({ value }) => value));
  const ids = values('id');
  if (new Set(ids).size !== ids.length) faults.push(`ids twice: ${ids}`);
  const levels = elements
    .filter(({ tagName }) => /^h[1-6]$/.test(tagName))
    .map(({ tagName }) => Number(tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) faults.push(`h1: ${levels}`);
  levels.forEach((level, place) => {
    // The summary of faults stands above the page's own heading.
    const before = levels[place - 1] ?? (ids.includes('errors') ? 1 : 0);
    if (level > before + 1) faults.push(`h${level} behind h${before}`);
  });
  const named = ['for', 'aria-describedby', 'aria-labelledby'].flatMap(values);
  const linked = values('href')
    .filter((address) => address.startsWith('#'))
    .map((address) => address.slice(1));
  for (const id of [...named.flatMap((list) => list.split(' ')), ...linked])
    if (!ids.includes(id)) faults.push(`nothing is called ${id}`);
  for (const { tagName, attrs } of elements) {
    const own = Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
    if (
      /^(input|textarea)$/.test(tagName) &&
      own.type !== 'hidden' &&
      !own['aria-label'] &&
      !values('for').includes(own.id ?? '')
    )
      faults.push(`no label for ${own.name}`);
  }
  return faults;
}
