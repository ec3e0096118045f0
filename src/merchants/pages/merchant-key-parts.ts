// The parts of the pages about keys: the list, one key, and a new key, which is shown once.
import { may } from '../../administrators/administrator.ts';
import { literal, moment, notice, rows, said } from '../../administrators/pages/parts.ts';
import type { Shown } from '../../administrators/pages/route.ts';
import { counted } from '../../lib/counted.ts';
import { ago } from '../../lib/duration.ts';
import { type Html, html } from '../../lib/html.ts';
import { formatTimestamp } from '../../lib/time.ts';
import { type Column, records } from '../../web/markup/table.ts';
import { KEY_PREFIX, type Merchant, type Mode } from '../merchant.ts';
import { isInactive, type KnownKey, type StoredKey } from '../stored-key.ts';
import type { MerchantContext } from './context.ts';

/** How many inactive keys are listed. */
export const KEYS_OVER_SHOWN = 20;

export const MODE_NAMES = { live: 'Live', test: 'Test' } as const;

/** Keys by what they are for, how they begin and end, and when they were last used: the keys themselves are kept nowhere. */
export function keyList(
  context: MerchantContext,
  keys: readonly KnownKey[],
  uses: ReadonlyMap<string, number>,
): Html {
  if (keys.length === 0) return html`<p>It has no keys.</p>`;
  const administers = may(context.principal.role, 'administer');
  const columns: Column<KnownKey>[] = [
    ['Key', ({ id, name }) => html`${name !== null && html`${said(name)} `}${literal(id)}`],
    ['Begins, ends with', beginning],
    ['Made', ({ created_at: at }) => (at === null ? 'In the configuration' : moment(context, at))],
    ['Last used', ({ id }) => lastUsed(context, uses.get(id))],
    ['State', (key) => html`<span>${stateOf(context, key)}</span>`],
  ];
  if (administers) columns.push(['Change', (key) => doings(context, key) ?? '–']);
  return records(columns, keys);
}

/** The ways on from a key of the store that works. */
function doings({ address, now }: MerchantContext, key: KnownKey): Html | null {
  if (key.isConfigured) return html`In the file`;
  if (isInactive(key, now)) return null;
  const { id, merchant_id, replaced_by } = key;
  const link = (act: 'rotate' | 'revoke', label: string) =>
    html`<a class="plain" href="${address(`/merchants/${merchant_id}/keys/${id}/${act}`)}" aria-label="${label} ${id}">${label}…</a>`;
  return html`${replaced_by === null && html`${link('rotate', 'Rotate')} `}${link('revoke', 'Revoke')}`;
}

/** What tells a key from others: its beginning and, where they are known, its last four characters. */
function beginning({ mode, last_four }: Pick<KnownKey, 'mode' | 'last_four'>): Html {
  return literal(`${KEY_PREFIX[mode]}…${last_four ?? ''}`);
}

/** `3 min ago`, with the minute itself in the markup; `not used yet`. */
export function lastUsed({ now }: MerchantContext, used: number | undefined): Html {
  if (used === undefined) return html`not used yet`;
  const seen = Math.min(used, now); // another node's clock may be ahead of this one's
  return html`<time datetime="${formatTimestamp(seen)}">${ago(seen, now)}</time>`;
}

/** What there is to know of a key before it is replaced or ended. */
export function keyFacts(context: MerchantContext, key: KnownKey, used: number | undefined): Html {
  return rows([
    ['Key', literal(key.id)],
    ['For', key.name && said(key.name)],
    ['Mode', MODE_NAMES[key.mode]],
    ['Begins and ends with', beginning(key)],
    ['Last used', lastUsed(context, used)],
  ]);
}

/** The active keys that were made with this one. They matter if it has leaked. */
export function madeWithIt({ address }: MerchantContext, made: readonly StoredKey[]): Html | null {
  if (made.length === 0) return null;
  const linkOf = ({ id, merchant_id }: StoredKey) => address(`/merchants/${merchant_id}/keys/${id}/revoke`);
  const line = (key: StoredKey) =>
    html`<li>${literal(key.id)} <a class="plain" href="${linkOf(key)}" aria-label="Revoke ${key.id}">Revoke…</a></li>\n`;
  const [was, works] = made.length === 1 ? ['was', 'works'] : ['were', 'work'];
  return notice(
    html`<p>With it ${counted(made.length, 'key')} ${was} made that still ${works}. If it leaked, revoke what its merchant did not make.</p>
<ul>${made.map(line)}</ul>`,
    'warn',
  );
}

function stateOf(context: MerchantContext, key: KnownKey): Html {
  const { expires_at, revoked_at, replaced_by } = key;
  if (revoked_at !== null) return html`Revoked ${moment(context, revoked_at)}`;
  if (expires_at === null) return html`Active`;
  const successor = replaced_by !== null && html`; replaced by ${literal(replaced_by)}`;
  const isPast = isInactive(key, context.now);
  return html`${isPast ? 'Expired' : 'Active until'} ${moment(context, expires_at)}${successor}`;
}

/** The page that a new key stands on, this once. `more`: what else has happened. */
export function newKeyPage(
  context: MerchantContext,
  { id, name }: Merchant,
  { key, row }: { key: string; row: StoredKey },
  more: Html | null = null,
): Shown {
  const { address } = context;
  const until =
    row.expires_at === null ? ' until it is revoked' : html` until ${moment(context, row.expires_at)}`;
  return {
    title: 'The new key',
    place: '/merchants',
    content: html`<h1>The new key of ${said(name)}</h1>
<pre class="copy code" dir="ltr" translate="no">${key}</pre>
${notice(html`<p>Copy it now, whole: it is shown only this once, and kept nowhere. Hand it on as you would a password.</p>`, 'warn')}
<p>${literal(row.id)} makes ${row.mode} payments${until}. It works already.</p>
${more}
<p class="actions"><a class="primary" href="${address(`/merchants/${id}`)}">I have kept it: continue</a></p>`,
  };
}

/** The modes that a key may be made in here, and what each makes. */
export function modesOf({ directory }: MerchantContext): (readonly [mode: Mode, label: string])[] {
  const test = ['test', 'Test payments'] as const;
  return directory.testOnly ? [test] : [test, ['live', 'Live payments: real money']];
}
