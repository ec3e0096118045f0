// The health page: what every check finds about this installation, what is to be fixed first, in the words of `counterfoil doctor`.
import { may } from '../../administrators/administrator.ts';
import { literal, notice } from '../../administrators/pages/parts.ts';
import type { Context, Outcome } from '../../administrators/pages/route.ts';
import type { BackgroundVerification } from '../../journal/background-verification.ts';
import type { CheckpointLookup } from '../../journal/checkpoint.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { type IconName, icon } from '../../web/markup/icons.ts';
import { type Column, records } from '../../web/markup/table.ts';
import type { CheckOutcome } from '../checks/check.ts';
import { advice, type Finding, type Inspector, sentence, tally } from '../checks/checks.ts';

/** What an outcome looks like: the stamp of a status that means as much. */
const STAMPS: Record<CheckOutcome, { stamp: string; icon: IconName; word: string }> = {
  failed: { stamp: 'rejected', icon: 'cross', word: phrase('Failed') },
  warning: { stamp: 'requires_review', icon: 'late', word: phrase('Warning') },
  ok: { stamp: 'approved', icon: 'check', word: phrase('OK') },
  skipped: { stamp: 'cancelled', icon: 'slash', word: phrase('Skipped') },
};

export async function healthPage(context: InstallationContext): Promise<Outcome> {
  const { inspector, address, principal, say } = context;
  const mayBeNamed = may(principal.role, 'administer');
  const findings = (await inspector.findings()).map(({ saysToOthers, ...finding }) =>
    mayBeNamed || saysToOthers === undefined ? finding : { ...finding, says: saysToOthers },
  );
  const now = findings.filter(({ beforeProduction }) => !beforeProduction);
  const of = (...outcomes: CheckOutcome[]) =>
    outcomes.flatMap((outcome) => now.filter(({ is }) => is === outcome));
  const content = html`<h1>${say`Health`}</h1>
${summary(context, findings)}
${section(context, 'fix', say`To fix`, of('failed', 'warning'))}
${section(
  context,
  'production',
  say`Before production`,
  findings.filter(({ beforeProduction }) => beforeProduction),
)}
${section(context, 'well', say`As it should be`, of('ok'))}
${section(context, 'skipped', say`Skipped`, of('skipped'))}
<p class="muted">${say.html`${html`<code>counterfoil doctor</code>`} finds the same and more. The service’s own addresses are called once a minute at most.`} <a href="${address('/health')}">${say`Look again`}</a></p>
<p><a class="plain" href="${address('/mail')}">${say`Emails and what became of them`}</a></p>`;
  return { title: say`Health`, content, place: '/health' };
}

function summary({ say }: InstallationContext, findings: readonly Finding[]): Html {
  const { failed, warning, ok } = tally(findings);
  if (failed > 0)
    return html`<div class="errors" role="status"><p><strong>${say.count(failed, '{n} check failed', '{n} checks failed')}</strong>${
      warning > 0 && html`, ${say.count(warning, '{n} warning', '{n} warnings')}`
    }.
${say`Beside each is what to do.`}</p></div>`;
  if (warning > 0)
    return notice(
      html`<p><strong>${say.count(warning, '{n} warning', '{n} warnings')}</strong>, ${say`and nothing failed.`}</p>`,
      'warn',
    );
  return notice(
    html`<p><strong>${say`All is well:`}</strong> ${say.count(ok, '{n} check passed.', '{n} checks passed.')}</p>`,
  );
}

function section(
  context: InstallationContext,
  id: string,
  title: string,
  findings: readonly Finding[],
): Html | false {
  if (findings.length === 0) return false;
  return html`<section class="block" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${title}</h2>
${records(columnsOf(context), findings, { idOf: ({ id }) => `check-${id}`, look: 'findings' })}
</section>`;
}

const columnsOf = ({ say }: InstallationContext): readonly Column<Finding>[] => [
  [
    say`State`,
    ({ is }) => {
      const { stamp, icon: name, word } = STAMPS[is];
      return html`<span class="stamp ${stamp}">${icon(name)}<span>${say.of(word)}</span></span>`;
    },
  ],
  [say`Check`, ({ about }) => printed(about)],
  [
    say`Finding`,
    ({ where, says, fix }) =>
      html`<div><p>${printed(sentence(says))}</p>${where !== undefined && html`<p class="where">${literal(where)}</p>`}${
        fix !== undefined && html`<p class="fix">${printed(advice(fix))}</p>`
      }</div>`,
  ],
];

/** An English sentence of `counterfoil doctor` as a page shows it: with code for what stands between backticks. */
function printed(text: string): Html {
  const parts = text.split('`');
  const shown = parts.map((part, i) =>
    i % 2 === 0 ? part.replaceAll("'", '’') : html`<code>${part}</code>`,
  );
  return html`<span lang="en">${shown}</span>`;
}

export interface InstallationParts {
  /** The private directory, where checkpoints and the public key lie. */
  storage: string;
  checkpoints: CheckpointLookup;
  verification: BackgroundVerification;
  inspector: Inspector;
}

export type InstallationContext = Context & InstallationParts;
