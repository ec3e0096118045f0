// A chart of decisions day by day, drawn as SVG, with the same numbers as a table for screen readers.
import { type Html, html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import type { ReviewContext } from './context.ts';

/** A day as it is written, and what was decided on it. */
interface ChartDay {
  /** `2026-11-20`. */
  date: string;
  approved: number;
  rejected: number;
}

/** In the drawing's own units; the stylesheet says how large it is on the page. */
const BAR = 8;
const STEP = 10;
const HEIGHT = 100;
/** Space on both sides of the line, so that a day with one decision is seen beside one with a thousand. */
const LEAST = 2;

/** Approved above the line, rejected below it, so that colours are not needed. `title` names the chart. */
export function decisionChart({ say }: ReviewContext, title: string, days: readonly ChartDay[]): Html {
  const highest = Math.max(1, ...days.map(({ approved }) => approved));
  const lowest = Math.max(...days.map(({ rejected }) => rejected));
  const total = highest + lowest;
  const scale = (count: number) => (count === 0 ? 0 : Math.max(LEAST, (count / total) * HEIGHT));
  const above = scale(highest);
  const height = above + scale(lowest);
  const bars = days.map(({ approved, rejected }, index) => {
    const x = index * STEP + 1;
    const up = scale(approved);
    return html`${up > 0 && html`<rect class="approved" x="${x}" y="${rounded(above - up)}" width="${BAR}" height="${rounded(up)}"/>`}${
      rejected > 0 &&
      html`<rect class="rejected" x="${x}" y="${rounded(above)}" width="${BAR}" height="${rounded(scale(rejected))}"/>`
    }`;
  });
  const width = days.length * STEP;
  return html`<figure class="chart">
<svg viewBox="0 0 ${width} ${rounded(height)}" preserveAspectRatio="none" role="img"
aria-label="${alternative(say, title, days)}">${bars}<path d="M0 ${rounded(above)}H${width}"/></svg>
<p class="axis"><span>${days[0]?.date}</span><span>${days.at(-1)?.date}</span></p>
<figcaption><span class="key approved">${say`Approved, above the line: at most ${sum(days, 'approved') > 0 ? highest : 0} a day`}</span>
<span class="key rejected">${say`Rejected, below it: at most ${lowest} a day`}</span></figcaption>
</figure>
<details class="numbers"><summary>${say`Show as a table`}</summary>
<div class="scroll" role="region" aria-label="${title}" tabindex="0">
<table>
<thead><tr><th scope="col">${say`Day`}</th><th scope="col" class="number">${say`Approved`}</th><th scope="col" class="number">${say`Rejected`}</th></tr></thead>
<tbody>${days.toReversed().map(
    ({ date, approved, rejected }) =>
      html`<tr><th scope="row"><time datetime="${date}">${date}</time></th>
<td class="number">${approved}</td><td class="number">${rejected}</td></tr>`,
  )}</tbody>
</table>
</div>
</details>`;
}

const sum = (days: readonly ChartDay[], name: 'approved' | 'rejected') =>
  days.reduce((all, day) => all + day[name], 0);

const rounded = (units: number) => Math.round(units * 100) / 100;

/** What the drawing shows, in a sentence. */
function alternative(say: Say, title: string, days: readonly ChartDay[]): string {
  const busiest = days.reduce<ChartDay | undefined>(
    (most, day) => (most && most.approved + most.rejected >= day.approved + day.rejected ? most : day),
    undefined,
  );
  const most = busiest ? busiest.approved + busiest.rejected : 0;
  const all = say`${title}: ${sum(days, 'approved')} approved, ${sum(days, 'rejected')} rejected.`;
  return most > 0 ? `${all} ${say`The most on ${busiest!.date}: ${most}.`}` : all;
}
