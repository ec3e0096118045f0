// Tables whose rows become cards on narrow pages, and the links from one page of a list to the next.
import { attributes, type Html, html } from '../../lib/html.ts';

/** A column's heading, what a row has in it, and whether that is a number. */
export type Column<Row> = readonly [
  label: string,
  cell: (row: Row) => Html | string | number,
  kind?: 'number',
];

/** `idOf` gives a row's id on the page; `look` is a further class of the table. */
export function records<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { idOf, look }: { idOf?: (row: Row) => string; look?: string } = {},
): Html {
  const head = columns.map(
    ([label, , kind]) => html`<th scope="col"${attributes({ class: kind })}>${label}</th>`,
  );
  const cellsOf = (row: Row) =>
    columns.map(
      ([label, cell, kind]) => html`<td${attributes({ 'data-label': label, class: kind })}>${cell(row)}</td>`,
    );
  return html`<table class="records${look && ` ${look}`}">
<thead><tr>${head}</tr></thead>
<tbody>
${rows.map((row) => html`<tr${attributes({ id: idOf?.(row) })}>${cellsOf(row)}</tr>\n`)}</tbody>
</table>`;
}

type PageLink = readonly [text: string, to: string] | false;

/** The links to the pages before and behind this one of a list that is called `label`; null if there are none. */
export function pager(before: PageLink, behind: PageLink, label: string): Html | null {
  if (!before && !behind) return null;
  const link = (rel: string, [text, to]: readonly [string, string]) =>
    html`<a${attributes({ href: to, rel })}>${text}</a> `;
  return html`<nav class="pager" aria-label="${label}">${before && link('prev', before)}${behind && link('next', behind)}</nav>`;
}
