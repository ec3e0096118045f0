// The merchants of this installation: how much they do, the keys they do it with, and whether they are suspended.
import { may } from '../administrators/administrator.ts';
import { OperationalError } from '../lib/errors.ts';
import { type Html, html } from '../lib/html.ts';
import { DAY_MS } from '../lib/time.ts';
import type { ApiKey, MerchantWithKeys } from '../merchants/merchant.ts';
import { findMerchant, suspendedMerchants } from '../merchants/queries.ts';
import { changesOf, type StateChange, type StoredMerchant } from '../merchants/stored-merchant.ts';
import { changeMerchantState, REASON_MAXIMUM } from '../merchants/suspend.ts';
import { countCreated } from '../payments/queries.ts';
import { namesOf } from '../payments/review/queries.ts';
import { nameOf } from './panel.ts';
import { errorSummary, type Faults, field, literal, moment, notice, rows, said } from './parts.ts';
import type { Context, Outcome, Route } from './route.ts';

const PAGE = 50;
const COUNTED_DAYS = 30;
/** Payments are counted up to here. */
const COUNT_MAXIMUM = 10_000;

const ONE = '/merchants/:merchant_id';
const ACTS = { suspend: 'suspended', resume: 'resumed' } as const;
type Act = keyof typeof ACTS;

export const merchantRoutes: readonly Route[] = [
  { method: 'GET', path: '/merchants', permission: 'read', answer: merchantsPage },
  { method: 'GET', path: ONE, permission: 'read', answer: merchantPage },
  ...(['suspend', 'resume'] as const).flatMap((act): Route[] => [
    {
      method: 'GET',
      path: `${ONE}/${act}`,
      permission: 'administer',
      answer: (context) => question(context, act),
    },
    {
      method: 'POST',
      path: `${ONE}/${act}`,
      permission: 'administer',
      answer: (context) => change(context, act),
    },
  ]),
];

async function merchantsPage(context: Context): Promise<Outcome> {
  const { database, directory, query, address } = context;
  const all = [...directory.merchants].sort((one, other) => (one.id < other.id ? -1 : 1));
  const after = query.get('after') ?? '';
  const rest = all.filter(({ id }) => id > after);
  const shown = rest.slice(0, PAGE);
  const suspended = new Set(await suspendedMerchants(database));
  const lines: Html[] = [];
  for (const { id, name } of shown) {
    const keys = directory.keysOf(id);
    lines.push(
      html`<tr><td data-label="Merchant"><a class="plain" href="${address(`/merchants/${id}`)}" data-key-row>${said(name)}</a></td><td data-label="Id">${literal(id)}</td><td data-label="Live keys" class="number">${keysIn(keys, 'live')}</td><td data-label="Test keys" class="number">${keysIn(keys, 'test')}</td><td data-label="Payments in ${COUNTED_DAYS} days" class="number">${await counted(context, id)}</td><td data-label="State">${stateStamp(suspended.has(id))}</td></tr>\n`,
    );
  }
  const pager =
    (after !== '' || rest.length > PAGE) &&
    html`<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${address('/merchants')}" rel="prev">First</a> `}${rest.length > PAGE && html`<a href="${address('/merchants', { after: shown.at(-1)!.id })}" rel="next">Next</a>`}</nav>`;
  const content = html`<h1>Merchants</h1>
${
  shown.length === 0
    ? html`<div class="empty"><p>There are no merchants here.</p></div>`
    : html`<table class="records">
<thead><tr><th scope="col">Merchant</th><th scope="col">Id</th><th scope="col" class="number">Live keys</th><th scope="col" class="number">Test keys</th><th scope="col" class="number">Payments in ${COUNTED_DAYS} days</th><th scope="col">State</th></tr></thead>
<tbody>
${lines}</tbody>
</table>`
}
${pager}
<p class="muted">Merchants and their keys stand in the configuration: <code>counterfoil keys create --help</code>.</p>`;
  return { title: 'Merchants', content, place: '/merchants' };
}

const keysIn = (keys: readonly ApiKey[], mode: ApiKey['mode']) =>
  keys.filter((key) => key.mode === mode).length;

/** How many payments a merchant made lately, in live and test mode together. */
async function counted({ database, now }: Context, id: string): Promise<string> {
  const count = await countCreated(database, id, now - COUNTED_DAYS * DAY_MS, COUNT_MAXIMUM);
  const text = Math.min(count, COUNT_MAXIMUM).toLocaleString('en');
  return count > COUNT_MAXIMUM ? `${text}+` : text;
}

function stateStamp(suspended: boolean): Html {
  return suspended
    ? html`<span class="stamp rejected">Suspended</span>`
    : html`<span class="stamp approved">Active</span>`;
}

/** The merchant that the path names; one that left the configuration is known by its id alone. Raises `not_found`. */
async function found({ directory, database, params }: Context): Promise<{
  merchant: MerchantWithKeys;
  state: StoredMerchant | undefined;
  isConfigured: boolean;
}> {
  const id = params.merchant_id!;
  const state = await findMerchant(database, id);
  const merchant = directory.merchant(id);
  if (!merchant && !state) throw new OperationalError('not_found', 'There is no such merchant.');
  const unknown = { id, name: id, keys: [], methods: null, website: null, support: null, limits: {} };
  return { merchant: merchant ?? unknown, state, isConfigured: merchant !== undefined };
}

async function merchantPage(context: Context): Promise<Outcome> {
  const { merchant, state, isConfigured } = await found(context);
  const { address, principal, database } = context;
  const { id, name, keys, website, support } = merchant;
  const changes = changesOf(state);
  const names = await namesOf(database, [...new Set(changes.map(({ by }) => by))]);
  const suspended = state !== undefined && state.suspended_at !== null;
  const act: Act = suspended ? 'resume' : 'suspend';
  const content = html`<div class="subject">
<p>${stateStamp(suspended)}</p>
<h1>${said(name)}</h1>
</div>
${!isConfigured && notice(html`<p>This merchant no longer stands in the configuration.</p>`, 'warn')}
${suspended && notice(html`<p>Suspended since ${moment(context, state.suspended_at!)}. Its keys are refused, and its customers cannot pay. Payments that were sent can still be reviewed.</p>`, 'warn')}
${rows([
  ['Id', literal(id)],
  ['Website', website && literal(website)],
  ['Support', support && literal(support)],
  [`Payments in ${COUNTED_DAYS} days`, await counted(context, id)],
])}
<p class="actions"><a class="primary" href="${address('/payments', { merchant: id })}">See its payments</a> ${may(principal.role, 'administer') && html`<a class="secondary" href="${address(`/merchants/${id}/${act}`)}">${act === 'suspend' ? 'Suspend' : 'Resume'}…</a>`}</p>
<section class="block" aria-labelledby="keys-heading"><h2 id="keys-heading">API keys</h2>
${keyList(context, keys)}
</section>
<section class="block" aria-labelledby="state-heading"><h2 id="state-heading">Suspensions</h2>
${
  changes.length === 0
    ? html`<p>It was never suspended.</p>`
    : html`<ol class="timeline">
${changes.map(
  ({ act: done, by, at, reason }) =>
    html`<li><p><strong>${done === 'suspended' ? 'Suspended' : 'Resumed'}</strong> by ${nameOf(context, names, by)}, ${moment(context, at)}</p><p class="words" dir="auto">${reason}</p></li>\n`,
)}</ol>
<p><a class="plain" href="${address('/audit', { subject: id })}">Its entries in the audit log</a></p>`
}
</section>`;
  return { title: name, content, place: '/merchants' };
}

/** Keys by what they are called and how they begin and mode: the keys themselves are kept nowhere. */
function keyList(context: Context, keys: readonly ApiKey[]): Html {
  if (keys.length === 0) return html`<p>It has no keys.</p>`;
  return html`<table class="records">
<thead><tr><th scope="col">Key</th><th scope="col">Mode</th><th scope="col">Begins with</th><th scope="col">Expires</th></tr></thead>
<tbody>
${keys.map(
  ({ id, mode, expires_at }) =>
    html`<tr><td data-label="Key">${literal(id)}</td><td data-label="Mode">${mode === 'live' ? 'Live' : 'Test'}</td><td data-label="Begins with">${literal(`cfk_${mode}_…`)}</td><td data-label="Expires">${expires_at === null ? 'Never' : html`${expires_at <= context.now && 'Expired '}${moment(context, expires_at)}`}</td></tr>\n`,
)}</tbody>
</table>`;
}

const QUESTIONS: Record<Act, { title: string; lead: string; button: string; look: string }> = {
  suspend: {
    title: 'Suspend',
    lead: 'Within a second its API keys are refused and its customers can no longer send a payment. What was sent can still be reviewed.',
    button: 'Suspend the merchant',
    look: 'danger',
  },
  resume: {
    title: 'Resume',
    lead: 'Within a second its API keys work again, and its customers can pay.',
    button: 'Resume the merchant',
    look: 'primary',
  },
};

/** The page that asks why, before anything is done. */
async function question(context: Context, act: Act, faults: Faults = {}, status = 200): Promise<Outcome> {
  const { merchant, state } = await found(context);
  const isSuspended = state !== undefined && state.suspended_at !== null;
  const { address, token, form } = context;
  if (isSuspended !== (act === 'resume')) return { to: address(`/merchants/${merchant.id}`) };
  const { title, lead, button, look } = QUESTIONS[act];
  const content = html`${errorSummary(faults)}
<h1>${title} ${said(merchant.name)}?</h1>
<p>${lead}</p>
<form class="narrow" method="post" action="${address(`/merchants/${merchant.id}/${act}`)}#errors" novalidate>
${token}${field({
  name: 'reason',
  label: 'Reason',
  hint: `For administrators alone. At most ${REASON_MAXIMUM} characters.`,
  value: form.get('reason') ?? '',
  fault: faults.reason,
  lines: 3,
})}<p class="actions"><button class="${look}">${button}</button> <a class="plain" href="${address(`/merchants/${merchant.id}`)}">Back</a></p>
</form>`;
  return {
    title: `${title} ${merchant.name}`,
    content,
    place: '/merchants',
    status,
    wrong: Object.keys(faults).length > 0,
  };
}

async function change(context: Context, act: Act): Promise<Outcome> {
  const { journal, principal, request, form, address } = context;
  const { merchant } = await found(context);
  const who = { actor: principal.actor, by: principal.id, request_id: request.id };
  const done: StateChange['act'] = ACTS[act];
  try {
    const reason = (form.get('reason') ?? '').replace(/\r\n?/g, '\n');
    await changeMerchantState(journal, merchant.id, done, who, reason);
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    if (error.code === 'validation_failed') return question(context, act, error.details, 422);
    if (error.code !== 'invalid_status') throw error; // else it is so already: somebody was quicker
  }
  return { to: address(`/merchants/${merchant.id}`) };
}
