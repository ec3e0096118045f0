// The health page: what every check finds about this installation, what is to be fixed first, in the words of `counterfoil doctor`.
import { may } from '../../administrators/administrator.ts';
import { literal, notice } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { counted } from '../../lib/counted.ts';
import { type Html, html } from '../../lib/html.ts';
import { type IconName, icon } from '../../web/markup/parts.ts';
import { type Column, records } from '../../web/markup/table.ts';
import type { CheckOutcome } from '../checks/check.ts';
import { advice, type Finding, sentence, tally } from '../checks/inspector.ts';
import type { InstallationContext } from './context.ts';

/** What an outcome looks like: the stamp of a status that means as much. */
const STAMPS: Record<CheckOutcome, { stamp: string; icon: IconName; word: string }> = {
  failed: { stamp: 'rejected', icon: 'cross', word: 'Failed' },
  warning: { stamp: 'requires_review', icon: 'late', word: 'Warning' },
  ok: { stamp: 'approved', icon: 'check', word: 'OK' },
  skipped: { stamp: 'cancelled', icon: 'slash', word: 'Skipped' },
};

export async function healthPage({ inspector, address, principal }: InstallationContext): Promise<Outcome> {
  const mayBeNamed = may(principal.role, 'administer');
  const findings = (await inspector.findings()).map(({ saysToOthers, ...finding }) =>
    mayBeNamed || saysToOthers === undefined ? finding : { ...finding, says: saysToOthers },
  );
  const now = findings.filter(({ beforeProduction }) => !beforeProduction);
  const of = (...outcomes: CheckOutcome[]) =>
    outcomes.flatMap((outcome) => now.filter(({ is }) => is === outcome));
  const content = html`<h1>Health</h1>
${summary(findings)}
${section('fix', 'To fix', of('failed', 'warning'))}
${section(
  'production',
  'Before production',
  findings.filter(({ beforeProduction }) => beforeProduction),
)}
${section('well', 'As it should be', of('ok'))}
${section('skipped', 'Not looked at', of('skipped'))}
<p class="muted">The same as <code>counterfoil doctor</code> says, which also looks at what a running service cannot.
The service’s own addresses are called once a minute at most. <a href="${address('/health')}">Look again</a></p>`;
  return { title: 'Health', content, place: '/health' };
}

/** What it all comes to, in a sentence. */
function summary(findings: readonly Finding[]): Html {
  const { failed, warning, ok } = tally(findings);
  if (failed > 0)
    return html`<div class="errors" role="status"><p><strong>${counted(failed, 'check')} failed</strong>${
      warning > 0 && html`, and ${counted(warning, 'warning')}`
    }.
What is to be done stands beside each.</p></div>`;
  if (warning > 0)
    return notice(
      html`<p><strong>${counted(warning, 'warning')}</strong>, and nothing that failed.</p>`,
      'warn',
    );
  return notice(html`<p><strong>All is well:</strong> ${counted(ok, 'check')} found what they should.</p>`);
}

function section(id: string, title: string, findings: readonly Finding[]): Html | false {
  if (findings.length === 0) return false;
  return html`<section class="block" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${title}</h2>
${records(COLUMNS, findings, { idOf: ({ id }) => `check-${id}`, look: 'findings' })}
</section>`;
}

const COLUMNS: readonly Column<Finding>[] = [
  [
    'State',
    ({ is }) => {
      const { stamp, icon: name, word } = STAMPS[is];
      return html`<span class="stamp ${stamp}">${icon(name)}<span>${word}</span></span>`;
    },
  ],
  ['Check', ({ about }) => printed(about)],
  [
    'Finding',
    ({ where, says, fix }) =>
      html`<div><p>${printed(sentence(says))}</p>${where !== undefined && html`<p class="where">${literal(where)}</p>`}${
        fix !== undefined && html`<p class="fix">${printed(advice(fix))}</p>`
      }</div>`,
  ],
];

/** A sentence as a page has it: what stands between backticks as code, and apostrophes as they are printed. */
function printed(text: string): Html {
  return html`${text.split('`').map((part, i) => (i % 2 === 0 ? html`${part.replaceAll("'", '’')}` : html`<code>${part}</code>`))}`;
}
