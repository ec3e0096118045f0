// What a decision rests on: what was asked, said and seen side by side, facts that help, the order, and what was sent and arrived.

import { literal, moment, nameOf, pairs, said } from '../../administrators/pages/parts.ts';
import { entriesOf } from '../../journal/queries.ts';
import { type Html, html } from '../../lib/html.ts';
import { dateIn } from '../../lib/time.ts';
import type { Instructions } from '../../payments/methods/offer.ts';
import { grouped } from '../../payments/methods/transfer/creditor-reference.ts';
import { customerOf, type Payment, sumMinor } from '../../payments/payment.ts';
import { CUSTOMER, sentOf } from '../../payments/submit.ts';
import { type IconName, icon } from '../../web/markup/icons.ts';
import { type Fact, factsOf, type SeenLine, sameName } from '../facts.ts';
import { arrivalsOf, sumOf } from '../review.ts';
import { dayInWords, type People } from '../told.ts';
import type { ReviewContext } from './context.ts';
import { accountNumber, addressOfLine, block, instructionsFor, type Level, ordered, sent } from './panel.ts';

/** What a decision rests on besides the comparison: facts, the order, what the customer sent, and `beside` them the story. */
export async function evidence(
  context: ReviewContext,
  payment: Payment,
  people: People,
  level: Level,
  { story, note }: { story: Html; note: Html | null | false },
): Promise<Html> {
  const { say } = context;
  const shownSent = sent(context, payment);
  return html`${await factList(context, payment, level)}
<div class="two">
<div>
${block('order', say`The order`, level)}
${ordered(context, payment)}
</section>
${block('sent', say`What the customer sent`, level)}
${shownSent ?? html`<p class="muted">${await nothingSent(context, payment)}</p>`}
</section>
${received(context, payment, people, level)}
</div>
<div>
${story}
${note}
</div>
</div>`;
}

/** Why there is nothing that the customer sent, from the history. */
async function nothingSent({ database, say }: ReviewContext, payment: Payment): Promise<string> {
  const entries = await entriesOf(database, payment.id);
  const isTakenBack = entries.some(
    ({ action, actor }) =>
      actor === CUSTOMER && (action === 'payment.pending' || action === 'payment.announcement_withdrawn'),
  );
  const isSent = entries.some(
    ({ action, actor }) =>
      action === 'payment.announced' || (action === 'payment.requires_review' && actor === CUSTOMER),
  );
  if (isSent && entries.some(({ action }) => action === 'payment.erased')) return say`Erased.`;
  if (isTakenBack) return say`Nothing: the customer took back what they had sent.`;
  if (arrivalsOf(payment).some(({ act }) => act === 'record'))
    return say`Nothing. An administrator recorded the money.`;
  return payment.status === 'pending' ? say`Nothing yet.` : say`Nothing.`;
}

/** What decides an approval, so that the reviewer need not go back for it: the comparison, and facts that want a second look. */
export async function decisive(context: ReviewContext, payment: Payment, people: People): Promise<Html> {
  return html`${await compareTable(context, payment)}
${received(context, payment, people, 2)}
${await factList(context, payment, 2, ({ tone }) => tone === 'notice')}`;
}

/** What administrators wrote with money that arrived, and who recorded or matched it. */
function received(context: ReviewContext, payment: Payment, people: People, level: Level): Html | null {
  const { say, money } = context;
  const arrivals = arrivalsOf(payment);
  if (arrivals.length === 0) return null;
  return html`${block('received', say`Money that arrived`, level)}
${arrivals.map(({ act, amount_minor, currency, received_on, bank_reference, note, line, by, at }) => {
  const who = html`${nameOf(context, people.names, by)}, ${moment(context, at)}`;
  return pairs([
    [say`Amount`, html`<bdi>${money(amount_minor, currency)}</bdi>`],
    [say`Day`, received_on && html`<time datetime="${received_on}">${dayInWords(received_on, say)}</time>`],
    [say`Statement`, line && html`<a href="${addressOfLine(context, line)}">${say`The bank’s line`}</a>`],
    [say`Bank reference`, bank_reference && literal(bank_reference)],
    [say`Note`, note && html`<span class="words" dir="auto">${note}</span>`],
    [act === 'match' ? say`Matched by` : say`Recorded by`, who],
  ]);
})}
</section>`;
}

/** Facts, not scores, such as are `wanted`: each with what it rests on, those worth a second look first. */
async function factList(
  context: ReviewContext,
  payment: Payment,
  level: Level,
  wanted: (fact: Fact) => boolean = () => true,
): Promise<Html | null> {
  const { say, database, onStatement } = context;
  const all = await factsOf(database, payment, context, onStatement);
  // That it is a test stands beside the amount already.
  const facts = all.filter((fact) => fact.kind !== 'test_mode' && wanted(fact));
  if (facts.length === 0) return null;
  const isNotice = ({ tone }: Fact) => tone === 'notice';
  const sorted = [...facts.filter(isNotice), ...facts.filter((fact) => !isNotice(fact))];
  const heading = facts.some(isNotice) ? say`Worth a look` : say`Nothing unusual`;
  return html`${block('facts', heading, level)}
<ul class="looks-list">${sorted.map((fact) => html`${factItem(context, payment, fact)}\n`)}</ul>
</section>`;
}

function factItem({ address, say }: ReviewContext, payment: Payment, fact: Fact): Html {
  const { tone, text, basis, shared } = fact;
  const others = shared && payment[shared];
  const mark = tone === 'notice' && html`<span class="vh">${say`Look:`} </span>`;
  return html`<li class="${tone === 'notice' ? 'worth' : 'plain'}">${icon(tone === 'notice' ? 'warning' : 'tick')}<div><p><b>${mark}${text}</b></p><p class="hint">${basis}</p></div>${
    others && html`<a href="${address('/payments', { q: others })}">${say`Show them`}</a>`
  }</li>`;
}

/** What one side says: nothing, one thing, or one for each bank line. */
type Told = Html | string | readonly (Html | string)[] | null | undefined;

interface Compared {
  term: string;
  asked: Told;
  said: Told;
  seen: Told;
  /** What is said where the bank shows nothing. */
  nothing?: string;
  /** How the last of the sides that say something compares with the one before; undefined if there is nothing to compare. */
  verdict?: Verdict | undefined;
}

interface Verdict {
  isSame: boolean;
  /** In a word. */
  text: string;
  /** Which side it stands beneath. */
  on: 'said' | 'seen';
}

/** The table of a payment. */
export async function compareTable(context: ReviewContext, payment: Payment): Promise<Html> {
  const { say } = context;
  const lines = await context.seenOnStatement(context.database, payment.id);
  const rows = (await rowsOf(context, payment, lines)).filter(
    ({ asked, said: told, seen }) => isTold(asked) || isTold(told) || isTold(seen),
  );
  const sides = [
    ['asked', say.html`${said(payment.merchant_name)} asked`, say`Asked`],
    ['said', html`${say`The customer said`}`, say`Said`],
    ['seen', html`${say`The bank shows`}`, say`Bank`],
  ] as const;
  const cell = (row: Compared, side: 'asked' | 'said' | 'seen', from: string) => {
    const { verdict } = row;
    const told = row[side];
    if (!isTold(told) && (side !== 'seen' || row.nothing === undefined))
      return html`<td data-from="${from}" class="none muted">–</td>`;
    if (!isTold(told))
      return html`<td data-from="${from}" class="muted"><span class="told">${row.nothing}</span></td>`;
    const all = Array.isArray(told) ? told : [told as Html];
    const mark = verdict?.on === side && verdictMark(verdict);
    return html`<td data-from="${from}">${all.map((one) => html`<span class="told">${one}</span>`)}${mark}</td>`;
  };
  return html`<table class="compare">
<thead><tr><td></td>${sides.map(([, heading]) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map(
    (
      row,
    ) => html`<tr${row.verdict?.isSame === false && html` class="off"`}><th scope="row">${row.term}</th>${sides.map(
      ([side, , from]) => cell(row, side, from),
    )}</tr>
`,
  )}</tbody>
</table>`;
}

const isTold = (told: Told) =>
  told !== null && told !== undefined && told !== '' && !(Array.isArray(told) && told.length === 0);

function verdictMark({ isSame, text }: Verdict): Html {
  const picture: IconName = isSame ? 'tick' : 'mark';
  return html`<span class="${isSame ? 'same' : 'differs'}">${icon(picture)}${text}</span>`;
}

async function rowsOf(
  context: ReviewContext,
  payment: Payment,
  lines: readonly SeenLine[],
): Promise<Compared[]> {
  const { say } = context;
  const submission = sentOf(payment);
  const customer = customerOf(payment);
  const transfer = await instructionsFor(context, payment);
  const text = (name: string) => {
    const value = submission?.[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const names = [
    ...new Set([text('payer_name'), text('transfer_name')].filter((name) => name !== undefined)),
  ];
  const iban = text('transfer_account');
  const accounts = lines.flatMap(({ account }) => account ?? []);
  return [
    amountRow(context, payment, lines),
    {
      term: say`Reference`,
      asked: transfer ? literal(grouped(transfer.reference)) : null,
      said: text('customer_reference') && said(text('customer_reference')!),
      seen: lines.map(({ reference }) => said(reference)),
      verdict: transfer ? referenceVerdict(context, transfer.reference, lines) : undefined,
    },
    nameRow(context, customer.name ?? undefined, names, lines),
    {
      term: say`Email`,
      asked: customer.email && literal(customer.email),
      said: text('payer_email') && literal(text('payer_email')!),
      seen: null,
      verdict: verdictOf(context, 'said', customer.email, text('payer_email'), sameText),
    },
    {
      term: say`Phone`,
      asked: customer.phone && literal(customer.phone),
      said: text('payer_phone') && literal(text('payer_phone')!),
      seen: null,
    },
    {
      term: say`Account`,
      asked: accountOf(transfer),
      said: iban && say.html`from ${accountNumber(iban)}`,
      seen: accounts.map((one) => say.html`from ${accountNumber(one)}`),
      verdict: verdictOf(context, 'seen', iban, accounts[0], sameText),
    },
    {
      term: say`Day`,
      asked: say.html`${day(context, payment.created_at)}, pay by ${dayInWords(payment.pay_by, say)}`,
      said: submission && html`${context.moment(Date.parse(submission.submitted_at))}`,
      seen: arrivalsOf(payment).flatMap(({ received_on }) =>
        received_on === '' ? [] : [dayInWords(received_on, say)],
      ),
    },
  ];
}

/** Where the money is to arrive. */
function accountOf(transfer: (Instructions & { kind: 'transfer' }) | null): Html[] {
  if (!transfer) return [];
  const { iban, holder, upi_id, pix_key, rows: others } = transfer.account;
  const account = iban ? grouped(iban) : (upi_id ?? pix_key ?? others?.[0]?.value);
  return [...(account ? [literal(account)] : []), ...(holder ? [said(holder)] : [])];
}

const day = ({ timeZone, say }: ReviewContext, ms: number) => dayInWords(dateIn(timeZone, ms), say);

function amountRow(context: ReviewContext, payment: Payment, lines: readonly SeenLine[]): Compared {
  const { say, money } = context;
  const { amount_minor, currency } = payment;
  const write = (minor: number) => html`<bdi>${minor < 0 && '−'}${money(Math.abs(minor), currency)}</bdi>`;
  const byHand = arrivalsOf(payment).filter(({ line }) => line === undefined);
  const more = sumMinor([Math.max(0, sumOf([...lines, ...byHand])), -amount_minor]);
  const difference = money(Math.abs(more), currency);
  const seen = [
    ...lines.map(
      (line) => html`<a href="${addressOfLine(context, line.id)}">${write(line.amount_minor)}</a>`,
    ),
    ...byHand.map(
      (one) => html`${write(one.amount_minor)} <span class="muted">${say`recorded by hand`}</span>`,
    ),
  ];
  const text = more === 0 ? say`exact` : more < 0 ? say`${difference} less` : say`${difference} more`;
  return {
    term: say`Amount`,
    asked: write(amount_minor),
    said: null,
    seen,
    nothing: say`nothing yet`,
    verdict: seen.length > 0 ? { isSame: more === 0, text, on: 'seen' } : undefined,
  };
}

function nameRow(
  context: ReviewContext,
  given: string | undefined,
  names: readonly string[],
  lines: readonly SeenLine[],
): Compared {
  const seen = [...new Set(lines.flatMap(({ name }) => name ?? []))];
  const other = given === undefined ? undefined : names.find((name) => !sameName(name, given));
  return {
    term: context.say`Name`,
    asked: given === undefined ? null : said(given),
    said: names.map((name) => said(name)),
    seen: seen.map((name) => said(name)),
    verdict: verdictOf(context, 'said', given, other ?? names[0], sameName),
  };
}

function referenceVerdict(
  { say }: ReviewContext,
  reference: string,
  lines: readonly SeenLine[],
): Verdict | undefined {
  if (lines.length === 0) return undefined;
  const bare = (text: string) => text.replace(/\s/g, '').toUpperCase();
  const isSame = lines.every((line) => bare(line.reference).includes(bare(reference)));
  return { isSame, text: isSame ? say`whole` : say`differs`, on: 'seen' };
}

const sameText = (one: string, other: string) =>
  one.replace(/\s/g, '').toLowerCase() === other.replace(/\s/g, '').toLowerCase();

function verdictOf(
  { say }: ReviewContext,
  on: Verdict['on'],
  one: string | null | undefined,
  other: string | undefined,
  isAlike: (one: string, other: string) => boolean,
): Verdict | undefined {
  if (!one || !other) return undefined;
  const isSame = isAlike(one, other);
  return { isSame, text: isSame ? say`same` : say`differs`, on };
}
