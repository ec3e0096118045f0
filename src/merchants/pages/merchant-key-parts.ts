// The parts of the pages about keys: the list, one key, and a new key, which is shown once.
import { may } from '../../administrators/administrator.ts';
import { literal, moment, notice, rows, said } from '../../administrators/pages/parts.ts';
import type { Shown } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { duration, formatTimestamp } from '../../lib/time.ts';
import { type Column, records } from '../../web/markup/table.ts';
import {
  isInactive,
  KEY_PREFIX,
  type KnownKey,
  type Merchant,
  type Mode,
  type StoredKey,
} from '../merchant.ts';
import type { MerchantContext } from './context.ts';

/** Maximum number of inactive keys in the list. */
export const KEYS_OVER_SHOWN = 20;

export const MODE_NAMES = { live: phrase('Live'), test: phrase('Test') } as const;

/** Keys by what they are for, how they begin and end, and when they were last used: the keys themselves are kept nowhere. */
export function keyList(
  context: MerchantContext,
  keys: readonly KnownKey[],
  uses: ReadonlyMap<string, number>,
): Html {
  const { say } = context;
  if (keys.length === 0) return html`<p>${say`It has no keys.`}</p>`;
  const administers = may(context.principal.role, 'administer');
  const columns: Column<KnownKey>[] = [
    [say`Key`, ({ id, name }) => html`${name !== null && html`${said(name)} `}${literal(id)}`],
    [say`Begins, ends with`, beginning],
    [
      say`Created`,
      ({ created_at: at }) => (at === null ? say`in the configuration file` : moment(context, at)),
    ],
    [say`Last used`, ({ id }) => lastUsed(context, uses.get(id))],
    [say`State`, (key) => html`<span>${stateOf(context, key)}</span>`],
  ];
  if (administers) columns.push([say`Change`, (key) => doings(context, key) ?? '–']);
  return records(columns, keys);
}

/** The ways on from a key of the store that works. */
function doings({ address, now, say }: MerchantContext, key: KnownKey): Html | null {
  if (key.isConfigured) return html`${say`In the configuration file`}`;
  if (isInactive(key, now)) return null;
  const { id, merchant_id, replaced_by } = key;
  const link = (act: 'rotate' | 'revoke', label: string, spoken: string) =>
    html`<a class="plain" href="${address(`/merchants/${merchant_id}/keys/${id}/${act}`)}" aria-label="${spoken}">${label}</a>`;
  return html`${replaced_by === null && html`${link('rotate', say`Rotate…`, say`Rotate ${id}`)} `}${link('revoke', say`Revoke…`, say`Revoke ${id}`)}`;
}

/** What tells a key from others: its beginning and, where they are known, its last four characters. */
function beginning({ mode, last_four }: Pick<KnownKey, 'mode' | 'last_four'>): Html {
  return literal(`${KEY_PREFIX[mode]}…${last_four ?? ''}`);
}

/** `3 min ago`, with the minute itself in the markup; `not used yet`. */
export function lastUsed({ now, say }: MerchantContext, used: number | undefined): Html {
  if (used === undefined) return html`${say`not used yet`}`;
  const seen = Math.min(used, now); // another node's clock may be ahead of this one's
  return html`<time datetime="${formatTimestamp(seen)}">${say`${duration(now - seen)} ago`}</time>`;
}

/** What there is to know of a key before it is replaced or ended. */
export function keyFacts(context: MerchantContext, key: KnownKey, used: number | undefined): Html {
  const { say } = context;
  return rows([
    [say`Key`, literal(key.id)],
    [say`Name`, key.name && said(key.name)],
    [say`Mode`, say.of(MODE_NAMES[key.mode])],
    [say`Begins and ends with`, beginning(key)],
    [say`Last used`, lastUsed(context, used)],
  ]);
}

/** The active keys that were made with this one. They matter if it has leaked. */
export function madeWithIt({ address, say }: MerchantContext, made: readonly StoredKey[]): Html | null {
  if (made.length === 0) return null;
  const linkOf = ({ id, merchant_id }: StoredKey) => address(`/merchants/${merchant_id}/keys/${id}/revoke`);
  const line = (key: StoredKey) =>
    html`<li>${literal(key.id)} <a class="plain" href="${linkOf(key)}" aria-label="${say`Revoke ${key.id}`}">${say`Revoke…`}</a></li>\n`;
  return notice(
    html`<p>${say.count(made.length, '{n} key that was created with it still works.', '{n} keys that were created with it still work.')} ${say`If it leaked, revoke those that the merchant did not create.`}</p>
<ul>${made.map(line)}</ul>`,
    'warn',
  );
}

function stateOf(context: MerchantContext, key: KnownKey): Html {
  const { say } = context;
  const { expires_at, revoked_at, replaced_by } = key;
  if (revoked_at !== null) return say.html`Revoked ${moment(context, revoked_at)}`;
  if (expires_at === null) return html`${say`Active`}`;
  const successor = replaced_by !== null && html`; ${say.html`replaced by ${literal(replaced_by)}`}`;
  const isPast = isInactive(key, context.now);
  const at = moment(context, expires_at);
  return html`${isPast ? say.html`Expired ${at}` : say.html`Active until ${at}`}${successor}`;
}

/** The page that a new key stands on, this once. `more`: what else has happened. */
export function newKeyPage(
  context: MerchantContext,
  { id, name }: Merchant,
  { key, row }: { key: string; row: StoredKey },
  more: Html | null = null,
): Shown {
  const { address, say } = context;
  const creates =
    row.mode === 'test'
      ? say.html`${literal(row.id)} creates test payments.`
      : say.html`${literal(row.id)} creates live payments.`;
  const until =
    row.expires_at === null
      ? say`It works already, until it is revoked.`
      : say.html`It works already, until ${moment(context, row.expires_at)}.`;
  return {
    title: say`The new key`,
    place: '/merchants',
    content: html`<h1>${say.html`The new key of ${said(name)}`}</h1>
<pre class="copy code" dir="ltr" translate="no">${key}</pre>
${notice(html`<p>${say`Copy the whole key now: it is shown only this once and stored nowhere. Hand it on as you would a password.`}</p>`, 'warn')}
<p>${creates} ${until}</p>
${more}
<p class="actions"><a class="primary" href="${address(`/merchants/${id}`)}">${say`I have kept it: continue`}</a></p>`,
  };
}

/** The modes that a key may be made in here, and what each makes. */
export function modesOf({ directory, say }: MerchantContext): (readonly [mode: Mode, label: string])[] {
  const test = ['test', say`Test: no money moves`] as const;
  return directory.testOnly ? [test] : [test, ['live', say`Live: real money`]];
}
