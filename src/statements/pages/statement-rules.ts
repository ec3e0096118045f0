// The rules of the bookkeeper's own in the console: each with what it ignores and why, and a button that ends it.
import { may } from '../../administrators/administrator.ts';
import { emptyState, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { accountNumber } from '../../review/pages/panel.ts';
import { records } from '../../web/markup/table.ts';
import { type KeptLine, type KeptRule, saidOn } from '../kept.ts';
import { activeRules } from '../line-queries.ts';
import { endRule, knownBy } from '../rules.ts';
import { pageBelow, STATEMENTS_PATH, type StatementContext, saidOrDash } from './statement-page.ts';

export const RULES_PATH = `${STATEMENTS_PATH}/rules`;

/** The button that makes a rule of ignoring a line; false for a line without a name and an account. */
export function ruleButton({ say }: StatementContext, line: KeptLine): Html | false {
  if (!knownBy(line)) return false;
  const { name, account } = saidOn(line).counterparty;
  const whom = html`<bdi>${[name, account].filter(Boolean).join(', ')}</bdi>`;
  const text =
    line.direction === 'credit'
      ? say.html`Always ignore money from ${whom}`
      : say.html`Always ignore money to ${whom}`;
  return html` <button class="secondary" name="always" value="yes">${text}</button>`;
}

export async function rulesPage(context: StatementContext): Promise<Outcome> {
  const { database, address, token, principal, say } = context;
  const rules = await activeRules(database);
  const button = ({ id, name, other_account }: KeptRule) =>
    html`<form method="post" action="${address(`${RULES_PATH}/${id}/end`)}">${token}
<button class="secondary" aria-label="${say`End the rule for ${name || other_account}`}">${say`End`}</button></form>`;
  const body = html`<p class="muted">${say`Lines of these names and accounts are ignored when they come in, unless they carry the reference of a payment. A rule is made on the page of a line. What it ignored stays ignored when it ends.`}</p>
${
  rules.length === 0
    ? emptyState('bank', say`There are no rules.`)
    : records<KeptRule>(
        [
          [say`Money`, ({ direction }) => (direction === 'credit' ? say`From` : say`Paid to`)],
          [say`Name`, ({ name }) => saidOrDash(name)],
          [say`Account`, ({ other_account }) => (other_account === '' ? '–' : accountNumber(other_account))],
          [say`Reason`, ({ reason }) => said(reason)],
          ...(may(principal.role, 'decide') ? [['', button] as const] : []),
        ],
        rules,
      )
}`;
  return pageBelow(context, say`Rules`, body);
}

export async function takeRuleEnd({
  journal,
  principal,
  params,
  address,
}: StatementContext): Promise<Outcome> {
  await journal.commit((transaction) => endRule(transaction, principal, params.rule_id!));
  return { to: address(RULES_PATH) };
}
