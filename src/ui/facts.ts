// Terms and what they say, as a list that is read in pairs.
import { type Html, html } from '../lib/html.ts';

export type TermPair = [term: Html, value: Html | string | null];

/** Terms and what they say; what has nothing to say is left out. */
export function facts(rows: readonly TermPair[]): Html {
  const told = rows.filter(([, value]) => value !== null);
  return html`<dl>
${told.map(([term, value]) => html`<div><dt>${term}</dt><dd><bdi>${value}</bdi></dd></div>\n`)}</dl>`;
}
