// A merchant's API keys in the console: the list, one key, a new one that is shown once, and their acts.

import { may } from '../../administrators/administrator.ts';
import {
  choice,
  type Faults,
  field,
  formSecret,
  literal,
  moment,
  notice,
  rows,
  said,
  seedField,
} from '../../administrators/pages/parts.ts';
import { questionPage } from '../../administrators/pages/question-page.ts';
import type { Context, Outcome, Shown } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { DAY_MS, duration, formatTimestamp } from '../../lib/time.ts';
import { type Column, records } from '../../web/markup/table.ts';
import {
  changeKeys,
  type IssuedKey,
  issueKey,
  KEY_NAME_MAXIMUM,
  livesInFile,
  OVERLAPS_MS,
  type Overlap,
  revokeKey,
  rotateKey,
} from '../api-keys.ts';
import type { Directory } from '../directory.ts';
import { keyById } from '../follow.ts';
import type { KeyUses } from '../key-uses.ts';
import {
  isInactive,
  isShownAgain,
  KEY_PREFIX,
  type KnownKey,
  keyDigest,
  type Merchant,
  type Mode,
  type StoredKey,
} from '../merchant.ts';
import { findKeyByDigest, keysMadeBy } from '../queries.ts';

/** What the console's pages of merchants are given. */
export interface MerchantParts {
  directory: Directory;
  keyUses: KeyUses;
  /** Where merchants register. */
  registerUrl: string;
  /** How many payments a merchant has made since a moment (milliseconds since 1970), counted up to `maximum`. */
  countPayments(merchantId: string, since: number, maximum: number): Promise<number>;
}

export type MerchantContext = Context & MerchantParts;

const ENDS: Readonly<Record<string, [label: string, days: number | null]>> = {
  never: [phrase('Never, until it is revoked'), null],
  '30': [phrase('After 30 days'), 30],
  '90': [phrase('After 90 days'), 90],
  '365': [phrase('After a year'), 365],
};
const OVERLAP_NAMES: Readonly<Record<Overlap, string>> = {
  '0': phrase('Not at all: it leaked'),
  '1h': phrase('For an hour'),
  '24h': phrase('For a day'),
  '7d': phrase('For a week'),
};

/** The merchant that the path names, of the configuration or the store. Throws `not_found`. */
function merchantOf({ directory, params }: MerchantContext): Merchant {
  const merchant = directory.merchant(params.merchant_id!);
  if (!merchant) throw new OperationalError('not_found', 'There is no such merchant.');
  return merchant;
}

/** The key of the store that the path names, and when it was last used. Throws `not_found`, `invalid_status`. */
async function keyOf(
  context: MerchantContext,
): Promise<{ merchant: Merchant; key: KnownKey; used: number | undefined }> {
  const { database, directory, keyUses, params } = context;
  const merchant = merchantOf(context);
  const key = await keyById(database, directory, params.key_id!);
  if (key?.merchant_id !== merchant.id) throw new OperationalError('not_found', 'There is no such key.');
  if (key.isConfigured) throw livesInFile(key);
  const used = (await keyUses.lastUsed(database, [key.id])).get(key.id);
  return { merchant, key, used };
}

const addressOfMerchant = ({ address }: MerchantContext, { id }: Merchant) => address(`/merchants/${id}`);

/** Makes a key of `secret`; where that very form made it already, a moment ago, gives it once more. Throws what making it throws. */
async function made(
  { database, now }: MerchantContext,
  secret: string,
  make: () => Promise<IssuedKey>,
): Promise<IssuedKey> {
  try {
    return await make();
  } catch (error) {
    const row = await findKeyByDigest(database, keyDigest(secret));
    if (!row || !isShownAgain(row, now) || isInactive(row, now)) throw error;
    return { key: secret, row };
  }
}

export function makingPage(context: MerchantContext, faults: Faults = {}): Shown {
  const { form, say } = context;
  const merchant = merchantOf(context);
  return questionPage(context, {
    title: say`Create a key for ${merchant.name}`,
    place: '/merchants',
    heading: say.html`Create a key for ${said(merchant.name)}?`,
    lead: html`<p>${say`The key is shown once, on the next page. With one key, the merchant can create others through the API.`}</p>`,
    path: `/merchants/${merchant.id}/keys/new`,
    fields: html`${seedField(context)}${field({
      name: 'name',
      label: say`Name of the key (optional)`,
      hint: say`For example the shop or the till. ${KEY_NAME_MAXIMUM} characters or fewer.`,
      value: form.get('name') ?? '',
      fault: faults.name,
    })}${choice({
      name: 'mode',
      legend: say`Mode`,
      options: modesOf(context),
      chosen: form.get('mode') ?? 'test',
      fault: faults.mode,
    })}${choice({
      name: 'end',
      legend: say`Expires`,
      options: Object.entries(ENDS).map(([value, [label]]) => [value, say.of(label)]),
      chosen: form.get('end') ?? 'never',
      fault: faults.end,
    })}`,
    button: say`Create the key`,
    back: addressOfMerchant(context, merchant),
    faults,
  });
}

/** What is wrong with a name, as its field says it. */
const nameFault = ({ say }: MerchantContext, name: string | null, fault: string): string =>
  (name ?? '').length > KEY_NAME_MAXIMUM
    ? say`Name of the key must be ${KEY_NAME_MAXIMUM} characters or fewer`
    : `${say`Name of the key`}: ${fault}`;

export async function makeKey(context: MerchantContext): Promise<Outcome> {
  const { form, now, say } = context;
  const merchant = merchantOf(context);
  const mode = modesOf(context).find(([one]) => one === form.get('mode'))?.[0];
  const end = ENDS[form.get('end') ?? ''];
  const faults = {
    ...(!mode && { mode: say`Choose a mode` }),
    ...(!end && { end: say`Choose when it expires` }),
  };
  if (!mode || !end || Object.keys(faults).length > 0) return makingPage(context, faults);
  const expires_at = end[1] === null ? null : now + end[1] * DAY_MS;
  const key = formSecret(context, KEY_PREFIX[mode]);
  const wish = { merchantId: merchant.id, mode, name: form.get('name'), expires_at, key };
  try {
    const issued = await made(context, key, () =>
      changeKeys(context, merchant.id, (transaction) => issueKey(transaction, wish, context.act)),
    );
    return newKeyPage(context, merchant, issued);
  } catch (error) {
    if (error instanceof OperationalError && error.details)
      return makingPage(context, {
        name: nameFault(context, form.get('name'), error.details.name ?? error.said(context.say)),
      });
    throw error;
  }
}

export async function rotationPage(context: MerchantContext, faults: Faults = {}): Promise<Outcome> {
  const { merchant, key, used } = await keyOf(context);
  const { form, now, say } = context;
  const back = addressOfMerchant(context, merchant);
  if (isInactive(key, now) || key.replaced_by !== null) return { to: back };
  return questionPage(context, {
    title: say`Rotate a key`,
    place: '/merchants',
    heading: say.html`Rotate a key of ${said(merchant.name)}?`,
    lead: html`${keyFacts(context, key, used)}
<p>${say`The next page shows a new key, which works at once.`}</p>`,
    path: `/merchants/${merchant.id}/keys/${key.id}/rotate`,
    fields: html`${seedField(context)}${choice({
      name: 'overlap',
      legend: say`The old key keeps working`,
      options: Object.entries(OVERLAP_NAMES).map(([value, text]) => [value, say.of(text)]),
      chosen: form.get('overlap') ?? '24h',
      fault: faults.overlap,
    })}`,
    button: say`Create the new key`,
    back,
    faults,
  });
}

export async function rotateMerchantKey(context: MerchantContext): Promise<Outcome> {
  const { form, say } = context;
  const { merchant, key: old } = await keyOf(context);
  const overlap = (Object.keys(OVERLAPS_MS) as Overlap[]).find((one) => one === form.get('overlap'));
  if (!overlap) return rotationPage(context, { overlap: say`Choose how long the old key keeps working` });
  const key = formSecret(context, KEY_PREFIX[old.mode]);
  const wanted = { overlapMs: OVERLAPS_MS[overlap], key };
  const issued = await made(context, key, () =>
    changeKeys(context, merchant.id, (transaction) => rotateKey(transaction, old, wanted, context.act)),
  );
  const { key: after, used } = await keyOf(context);
  const ends = isInactive(after, context.clock.now())
    ? html`${say`It no longer works.`}`
    : say.html`It works until ${moment(context, after.expires_at!)}.`;
  const told = html`<p>${say.html`The old key is ${literal(old.id)}.`} ${ends} ${say.html`Last used: ${lastUsed(context, used)}.`}</p>`;
  return newKeyPage(context, merchant, issued, told);
}

export async function revocationPage(context: MerchantContext): Promise<Outcome> {
  const { merchant, key, used } = await keyOf(context);
  const { now, database, say } = context;
  const back = addressOfMerchant(context, merchant);
  if (isInactive(key, now)) return { to: back };
  const lastTime = used !== undefined && html` ${say.html`It was last used ${lastUsed(context, used)}.`}`;
  return questionPage(context, {
    title: say`Revoke a key`,
    place: '/merchants',
    heading: say.html`Revoke a key of ${said(merchant.name)}?`,
    lead: html`${keyFacts(context, key, used)}
<p>${say`Programs that use this key are refused within a second.`}${lastTime} ${say`This cannot be undone.`}</p>
${madeWithIt(context, await keysMadeBy(database, key, now))}`,
    path: `/merchants/${merchant.id}/keys/${key.id}/revoke`,
    button: say`Revoke the key`,
    look: 'danger',
    back,
  });
}

export async function revokeMerchantKey(context: MerchantContext): Promise<Outcome> {
  const { say } = context;
  const { merchant, key } = await keyOf(context);
  try {
    await changeKeys(context, merchant.id, (transaction) => revokeKey(transaction, key, context.act));
  } catch (error) {
    // Another administrator may have been first. If the key is inactive, the result is the same.
    const isDone = isInactive((await keyOf(context)).key, context.clock.now());
    if (!(error instanceof OperationalError && error.code === 'invalid_status' && isDone)) throw error;
  }
  const made = await keysMadeBy(context.database, key, context.clock.now());
  if (made.length === 0) return { to: addressOfMerchant(context, merchant) };
  return {
    title: say`The key is revoked`,
    place: '/merchants',
    content: html`<h1>${say`The key is revoked`}</h1>
<p>${say.html`${literal(key.id)} of ${said(merchant.name)} no longer works.`}</p>
${madeWithIt(context, made)}
<p class="actions"><a class="primary" href="${addressOfMerchant(context, merchant)}">${say`Continue`}</a></p>`,
  };
}

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
function lastUsed({ now, say }: MerchantContext, used: number | undefined): Html {
  if (used === undefined) return html`${say`not used yet`}`;
  const seen = Math.min(used, now); // another node's clock may be ahead of this one's
  return html`<time datetime="${formatTimestamp(seen)}">${say`${duration(now - seen)} ago`}</time>`;
}

/** What there is to know of a key before it is replaced or ended. */
function keyFacts(context: MerchantContext, key: KnownKey, used: number | undefined): Html {
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
function madeWithIt({ address, say }: MerchantContext, made: readonly StoredKey[]): Html | null {
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
function newKeyPage(
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
