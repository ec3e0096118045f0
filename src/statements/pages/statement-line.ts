// One line of a statement: what the bank wrote, the payments that it may be for and why, and what is done with it.

import { may } from '../../administrators/administrator.ts';
import { type Faults, field, literal, rows, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, hidden, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { trimmedText } from '../../lib/text.ts';
import {
  accountNumber,
  addressOfLine,
  addressOfPayment,
  customerName,
  heading,
} from '../../review/pages/panel.ts';
import { approvalSchema, parse } from '../../review/review.ts';
import { dayInWords } from '../../review/told.ts';
import type { KeptLine } from '../kept.ts';
import { findLine, findStatement, wholeOf } from '../line-queries.ts';
import { MATCH_LEVELS, type Proposal } from '../matching/judge-line.ts';
import {
  acceptLine,
  approveLine,
  IGNORE_REASON_MAXIMUM,
  ignoreLine,
  ignoreReasonFault,
  isUnclear,
  type LinePair,
  lineNotFound,
} from '../matching/line-acts.ts';
import { bankLine } from '../matching/line-evidence.ts';
import { openLines } from '../matching/open-lines.ts';
import { makeRule } from '../rules.ts';
import { namingForm } from './line-for.ts';
import { levelStamp } from './statement-lists.ts';
import { doneLine, goOn, outcomeOf, severalForm } from './statement-outcome.ts';
import {
  dayOn,
  lineAmount,
  lineForm,
  linkBack,
  STATEMENTS_PATH,
  type StatementContext,
} from './statement-page.ts';
import { ruleButton } from './statement-rules.ts';

async function lineNamed({ database, params }: StatementContext): Promise<KeptLine> {
  const line = await findLine(database, params.line_id!);
  if (!line) throw lineNotFound();
  return line;
}

export async function linePage(context: StatementContext, faults: Faults = {}): Promise<Outcome> {
  const { principal, say } = context;
  const line = await lineNamed(context);
  const mayDecide = may(principal.role, 'decide');
  const proposals = line.state === 'open' ? await proposalsFor(context, line) : [];
  const mayAct = line.state === 'open' && line.booked === 1 && mayDecide;
  const content = html`${await doneLine(context)}<p>${linkBack(context)}</p>
<h1 class="total">${lineAmount(context, line)}</h1>
<div class="line-and-act">
<div>${await facts(context, line)}</div>
<div>${line.state === 'open' ? await proposed(context, line, proposals, mayDecide && { faults }) : await outcomeOf(context, line, mayDecide)}
${mayAct && html`${namingForm(context, line, faults, proposals.length === 0)}${ignoring(context, line, faults)}`}</div>
</div>`;
  return { title: say`Line of ${dayInWords(line.day, say)}`, content, place: STATEMENTS_PATH, faults };
}

/** With the other open lines beside it, which may carry the same reference. */
async function proposalsFor(context: StatementContext, line: KeptLine): Promise<Proposal[]> {
  const all = await openLines(context.database, context, { also: [line] });
  return all.find((one) => one.line.id === line.id)?.proposals ?? [];
}

async function facts(context: StatementContext, line: KeptLine): Promise<Html> {
  const { database, say } = context;
  const { references, text, counterparty, valueDay, code, beyond, undated } = bankLine(line);
  const statement = await findStatement(database, line.statement_id);
  const whole = await wholeOf(database, line);
  const { creditor, endToEnd, bank, owner, mandate, entry } = references;
  return rows(
    [
      [say`Amount as the bank wrote it`, beyond && literal(beyond)],
      [say`Day`, undated ? say.html`Not named, ${dayOn(context, line)} at the latest` : dayOn(context, line)],
      [say`Value day`, valueDay !== undefined && valueDay !== line.day && dayInWords(valueDay, say)],
      [line.direction === 'credit' ? say`From` : say`Paid to`, counterparty.name && said(counterparty.name)],
      [say`Their account`, counterparty.account && accountNumber(counterparty.account)],
      [say`Text`, text !== '' && html`<span class="words" dir="auto">${text}</span>`],
      [say`Creditor reference`, creditor && literal(creditor)],
      [say`End-to-end reference`, endToEnd && literal(endToEnd)],
      [say`Owner’s reference`, owner && literal(owner)],
      [say`Mandate`, mandate && literal(mandate)],
      [say`Entry`, entry && literal(entry)],
      [say`Bank’s reference`, bank && literal(bank)],
      [say`Kind`, code && literal(code)],
      [say`Account`, accountNumber(line.account)],
      [say`File`, statement && html`${literal(statement.file)}`],
      [
        say`Part of`,
        whole && html`<a href="${addressOfLine(context, whole.id)}">${lineAmount(context, whole)}</a>`,
      ],
      [say`State`, line.booked ? null : say`Pending: the bank has not booked it`],
      [say`Reversal`, line.reversal ? say`Yes: the bank took money back, or it was returned` : null],
    ].map(([term, value]) => [term, value || null] as [string, Html | string | null]),
  );
}

async function proposed(
  context: StatementContext,
  line: KeptLine,
  proposals: readonly Proposal[],
  deciding: false | { faults: Faults },
): Promise<Html> {
  const { say } = context;
  if (line.booked === 0)
    return html`<p>${say`The bank has not booked it yet. There is nothing to do until it does.`}</p>`;
  const begin = html`<section class="block" aria-labelledby="proposed-heading"><h2 id="proposed-heading">${say`Proposed payments`}</h2>`;
  if (proposals.length === 0)
    return html`${begin}
<p>${say`No payment was found. Name the payment below, or ignore the line.`}</p></section>`;
  const [first, second] = proposals.map(({ level }) => MATCH_LEVELS.indexOf(level));
  const isAlone = second === undefined || first! < second;
  return html`${begin}
${deciding && severalForm(context, line, proposals)}
${proposals.map((proposal, place) => proposalCard(context, line, proposal, deciding && { ...deciding, place, isAlone }))}</section>`;
}

function proposalCard(
  context: StatementContext,
  line: KeptLine,
  proposal: Proposal,
  deciding: false | Deciding,
): Html {
  const { say } = context;
  const { payment } = proposal;
  const { sentence, act, facts } = proposal.said(say, context.money);
  return html`<div class="block proposal">
${heading(context, payment, levelStamp(context, proposal))}
${proposal.button !== 'split' && html`<p><strong>${sentence}</strong> ${act}</p>`}
${rows([
  [say`Order`, payment.merchant_reference && said(payment.merchant_reference)],
  [say`Customer`, customerName(payment) && said(customerName(payment)!)],
  [say`For`, payment.description && said(payment.description)],
])}
<ul>${facts.map(({ text, basis }) => html`<li>${text} <span class="muted">${basis}</span></li>\n`)}</ul>
<p><a href="${addressOfPayment(context, payment.id)}">${say`See the payment`}</a></p>
${deciding && actForms(context, line, proposal, deciding)}
</div>`;
}

/** Where a proposal stands on the page. `isAlone`: no other one fits as well, so a key may act on it. */
interface Deciding {
  place: number;
  isAlone: boolean;
  faults: Faults;
}

/** What a form about the `place`th proposal puts before the ids of its fields. */
const prefixOf = (place: number) => (place === 0 ? '' : `p${place}-`);

/** What may be done for one proposal, as its row of the matrix says; what that names first. */
function actForms(context: StatementContext, line: KeptLine, proposal: Proposal, deciding: Deciding): Html {
  const { say } = context;
  const { button, hand } = proposal;
  const match = (text: string) => matchForm(context, line, proposal, { text, ...deciding });
  const approve = (how: Deciding) => approveForm(context, line, proposal, how);
  const plain = say`Match, decide later`;
  switch (button) {
    case 'none':
    case 'split':
      return html``;
    case 'back':
      return match(say`Record that it went back`);
    case 'keep':
      return match(say`Record that it arrived`);
    case 'link':
      return match(say`Link with this payment`);
    case 'match':
      return html`${match(plain)}${hand?.is !== 'like' && approve({ ...deciding, isAlone: false })}`;
    default:
      if (hand?.is === 'like') return match(plain);
      return html`${approve(deciding)}${matchForm(context, line, proposal, { text: plain, place: 1, isAlone: false })}`;
  }
}

const pairFields = ({ payment: { id, version } }: Proposal) =>
  hidden({ payment: id, version: String(version) });

/** An approval. Where something is odd, it says why. */
function approveForm(
  context: StatementContext,
  line: KeptLine,
  proposal: Proposal,
  { place, isAlone, faults }: Deciding,
): Html {
  const { form, say } = context;
  const isExact = proposal.button === 'approve';
  const isFirst = place === 0 && proposal.button !== 'match';
  const idPrefix = prefixOf(place);
  const isSent = form.get('payment') === proposal.payment.id;
  const note =
    !isExact &&
    field({
      name: 'note',
      id: `${idPrefix}note`,
      label: say`Why it is accepted as paid`,
      hint: say`Only administrators read it, with the approval and in exports.`,
      value: (isSent && form.get('note')) || '',
      fault: faults[`${idPrefix}note`],
      attributes: { autofocus: isFirst && isAlone },
    });
  const look = lookOf(isFirst, isExact && isAlone);
  return html`${lineForm(context, line.id, 'approve', 'narrow')}${pairFields(proposal)}
${note}<p class="actions"><button ${look}>${say`Approve the payment`}</button></p></form>`;
}

/** A match. Of money by hand with the same amount it asks whether the line shows it: equal amounts prove nothing. */
function matchForm(
  context: StatementContext,
  line: KeptLine,
  proposal: Proposal,
  { text, place, isAlone }: { text: string } & Omit<Deciding, 'faults'>,
): Html {
  const { say } = context;
  const look = lookOf(place === 0, isAlone);
  const isAsked = proposal.button !== 'back' && isUnclear(bankLine(line), proposal.payment);
  return html`${lineForm(context, line.id, 'accept')}${pairFields(proposal)}
<p class="actions">${
    isAsked
      ? html`<button ${lookOf(place === 0, false)} name="as" value="same">${say`It is the same money`}</button>
<button class="secondary" name="as" value="besides">${say`It is other money`}</button>`
      : html`<button ${look}>${text}</button>`
  }</p></form>`;
}

/** How the button of a form looks: the first one is the page's, and Enter presses it if nothing else fits as well. */
const lookOf = (isFirst: boolean, isAlone: boolean): Html =>
  html`class="${isFirst ? 'primary' : 'secondary'}"${isFirst && isAlone && html` autofocus`}`;

function ignoring(context: StatementContext, line: KeptLine, faults: Faults): Html {
  const { form, say } = context;
  return html`<section class="block" aria-labelledby="ignore-heading"><h2 id="ignore-heading">${say`This line is for no payment`}</h2>
${lineForm(context, line.id, 'ignore', 'narrow')}${field({
  name: 'reason',
  label: say`Reason`,
  hint: say`Only administrators read it. ${IGNORE_REASON_MAXIMUM} characters or fewer.`,
  value: form.get('reason') ?? '',
  fault: faults.reason,
  lines: 2,
  attributes: { 'data-key': 'i' },
})}<p class="actions"><button class="secondary">${say`Ignore the line`}</button>${ruleButton(context, line)}</p></form></section>`;
}

const pairOf = ({ params, form }: StatementContext): LinePair => ({
  line_id: params.line_id!,
  payment_id: form.get('payment') ?? '',
  version: Number(form.get('version')),
  as: (['same', 'besides'] as const).find((one) => one === form.get('as')),
});

export async function takeAccept(context: StatementContext): Promise<Outcome> {
  const { journal, principal } = context;
  const pair = pairOf(context);
  await journal.commit((transaction) => acceptLine(transaction, principal, pair), pair.payment_id);
  return goOn(context, pair.line_id);
}

export async function takeApproval(context: StatementContext): Promise<Outcome> {
  const { journal, principal, fourEyesAbove, form } = context;
  const pair = pairOf(context);
  const line = await lineNamed(context);
  const proposals = await proposalsFor(context, line);
  const place = proposals.findIndex(({ payment }) => payment.id === pair.payment_id);
  if (place < 0 && line.state === 'open')
    throw new OperationalError(
      'conflict',
      phrase('The payment is not proposed any more. Look at the line again.'),
    );
  const parsed = parse(approvalSchema, { note: form.get('note') ?? undefined });
  const isOdd = proposals[place]?.button !== 'approve';
  const missing = isOdd && 'value' in parsed && parsed.value.note === null;
  const fault =
    'faults' in parsed
      ? Object.values(parsed.faults)[0]
      : missing && context.say`Say why it is accepted as paid`;
  if (place >= 0 && fault) return linePage(context, { [`${prefixOf(place)}note`]: fault });
  const note = 'value' in parsed ? parsed.value.note : null;
  await journal.commit(
    (transaction) => approveLine(transaction, principal, pair, fourEyesAbove, note),
    pair.payment_id,
  );
  return goOn(context, context.params.line_id!);
}

export async function takeIgnore(context: StatementContext): Promise<Outcome> {
  const { journal, principal, form } = context;
  const reason = trimmedText(form.get('reason') ?? '');
  const fault = ignoreReasonFault(reason);
  if (fault) return linePage(context, { reason: context.say.of(fault) });
  const line = await lineNamed(context);
  await journal.commit(async (transaction) => {
    if (form.get('always') === 'yes') await makeRule(transaction, principal, line, reason);
    if ((await findLine(transaction, line.id))?.state === 'open')
      await ignoreLine(transaction, principal, line.id, reason);
  });
  return goOn(context, context.params.line_id!);
}
