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
  // A parser mends tags that do not match without a word.
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
