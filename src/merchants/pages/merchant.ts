// One merchant: how much it does, the keys it does it with, and whether it is suspended, which administrators change.
import { may } from '../../administrators/administrator.ts';
import { actLinks } from '../../administrators/pages/act-pages.ts';
import { literal, moment, type Names, nameOf, notice, rows, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { namesOf } from '../../administrators/queries.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { DAY_MS } from '../../lib/time.ts';
import { type ActiveOrNot, MERCHANT_ACTS } from '../acts.ts';
import { keysAtWork } from '../list-keys.ts';
import {
  changesOf,
  type MerchantLimits,
  type MerchantProfile,
  type StateChange,
  type StoredMerchant,
} from '../merchant.ts';
import { pictureOf } from '../particulars.ts';
import { findMerchant } from '../queries.ts';
import { KEYS_OVER_SHOWN, keyList, type MerchantContext } from './merchant-keys.ts';

export const COUNTED_DAYS = 30;
/** Payments are counted up to here. */
const COUNT_MAXIMUM = 10_000;

/** How many payments a merchant made lately, in live and test mode together. */
export async function recentPaymentCount(
  { countPayments, now }: MerchantContext,
  id: string,
): Promise<string> {
  const count = await countPayments(id, now - COUNTED_DAYS * DAY_MS, COUNT_MAXIMUM);
  const text = Math.min(count, COUNT_MAXIMUM).toLocaleString('en');
  return count > COUNT_MAXIMUM ? `${text}+` : text;
}

export function stateStamp({ say }: MerchantContext, suspended: boolean): Html {
  return suspended
    ? html`<span class="stamp rejected">${say`Suspended`}</span>`
    : html`<span class="stamp approved">${say`Active`}</span>`;
}

interface Found {
  merchant: MerchantProfile;
  stored: StoredMerchant | undefined;
  isSuspended: boolean;
  /** Whether the configuration or the store says what it is called. */
  isKnown: boolean;
}

/** The merchant that the path names; one that left the configuration is known by its id alone. Throws `not_found`. */
async function found({ directory, database, params }: MerchantContext): Promise<Found> {
  const id = params.merchant_id!;
  const stored = await findMerchant(database, id);
  const merchant = directory.merchant(id);
  if (!merchant && !stored) throw new OperationalError('not_found', 'There is no such merchant.');
  const unknown = { id, name: id, methods: null, website: null, support: null, limits: {} };
  const isSuspended = stored !== undefined && stored.suspended_at !== null;
  return { merchant: merchant ?? unknown, stored, isSuspended, isKnown: merchant !== undefined };
}

export async function merchantPage(context: MerchantContext): Promise<Outcome> {
  const { merchant, stored, isSuspended, isKnown } = await found(context);
  const { address, principal, database, directory, keyUses, now, say } = context;
  const { id, name, website, support, limits } = merchant;
  const {
    legal_name,
    address: postal,
    tax_id,
    logo,
    language,
    letters_off,
    remind_days,
  } = merchant.particulars ?? {};
  const email = merchant.email ?? stored?.email;
  const changes = changesOf(stored);
  const names = await namesOf(database, [...new Set(changes.map(({ by }) => by))]);
  const administers = may(principal.role, 'administer');
  const keys = await keysAtWork(database, directory, id, { now, over: KEYS_OVER_SHOWN });
  const uses = await keyUses.lastUsed(
    database,
    keys.map((key) => key.id),
  );
  const known = directory.merchant(id);
  const since =
    stored?.name != null && stored.created_at !== null ? moment(context, stored.created_at) : null;
  const content = html`<div class="subject">
<p>${stateStamp(context, isSuspended)}</p>
<h1>${said(name)}</h1>
</div>
${!isKnown && notice(html`<p>${say`This merchant is no longer in the configuration file.`}</p>`, 'warn')}
${
  isSuspended &&
  notice(
    html`<p>${say.html`Suspended since ${moment(context, stored!.suspended_at!)}. Its keys are refused, and its customers cannot pay. Payments that were sent can still be reviewed.`}</p>`,
    'warn',
  )
}
${rows([
  [say`Id`, literal(id)],
  [say`Managed in`, known && (known.isConfigured ? say`configuration file` : say`console and API`)],
  [say`Email`, email && literal(email)],
  [say`Website`, website && literal(website)],
  [say`Support`, support && literal(support)],
  [say`Legal name`, legal_name && said(legal_name)],
  [say`Address`, postal && html`<span class="words" dir="auto">${postal}</span>`],
  [say`Tax number`, tax_id && literal(tax_id)],
  [say`Logo`, logo && literal(`${pictureOf(logo).type}, ${pictureOf(logo).bytes.length} B`)],
  [say`Language of its emails`, language && literal(language)],
  [say`Emails that are off`, letters_off?.length ? literal(letters_off.join(', ')) : null],
  [say`Reminds customers`, remind_days && say.count(remind_days, '{n} day before', '{n} days before')],
  [say`Since`, since],
  [say`Limits`, limitsSaid(context, limits)],
  [say`Payments in ${COUNTED_DAYS} days`, await recentPaymentCount(context, id)],
])}
<p class="actions"><a class="primary" href="${address('/payments', { merchant: id })}">${say`See its payments`}</a>
<a class="secondary" href="${address('/webhooks', { merchant: id })}">${say`See its webhooks`}</a>
${actLinks(context, MERCHANT_ACTS, { ...merchant, isSuspended })}</p>
<section class="block" aria-labelledby="keys-heading"><h2 id="keys-heading">${say`API keys`}</h2>
${keyList(context, keys, uses)}
${
  administers &&
  isKnown &&
  html`<p class="actions">
<a class="secondary" href="${address(`/merchants/${id}/keys/new`)}">${say`Create a key…`}</a></p>`
}
</section>
${suspensions(context, id, changes, names)}`;
  return { title: name, content, place: '/merchants' };
}

function limitsSaid(
  { say }: MerchantContext,
  { writes_per_second: writes, reads_per_second: reads }: MerchantLimits,
): string {
  const all = [
    writes !== undefined && say.count(writes, '{n} write a second', '{n} writes a second'),
    reads !== undefined && say.count(reads, '{n} read a second', '{n} reads a second'),
  ];
  return all.filter(Boolean).join(', ');
}

function suspensions(
  context: MerchantContext,
  id: string,
  changes: readonly StateChange[],
  names: Names,
): Html {
  const { say } = context;
  return html`<section class="block" aria-labelledby="state-heading"><h2 id="state-heading">${say`Suspensions`}</h2>
${
  changes.length === 0
    ? html`<p>${say`It was never suspended.`}</p>`
    : html`<ol class="story">
${changes.map(
  ({ act: done, by, at, reason }) =>
    html`<li><p>${
      done === 'suspended'
        ? say.html`Suspended by ${nameOf(context, names, by)}`
        : say.html`Resumed by ${nameOf(context, names, by)}`
    }</p>${moment(context, at)}<p class="words" dir="auto">${reason}</p></li>\n`,
)}</ol>`
}
<p><a class="plain" href="${context.address('/audit', { subject: id })}">${say`Its entries in the history`}</a></p>
</section>`;
}

/** The merchant that the path names, as acts take it. Throws `not_found`. */
export async function merchantNamedIn(context: MerchantContext): Promise<ActiveOrNot> {
  const { merchant, isSuspended } = await found(context);
  return { ...merchant, isSuspended };
}
