// The API keys of a merchant: another, one in the place of another, and one less, by administrators alone.

import { formSecret, seedField } from '../../administrators/pages/form-secret.ts';
import { choice, type Faults, field, literal, moment, said } from '../../administrators/pages/parts.ts';
import { questionPage } from '../../administrators/pages/question-page.ts';
import type { Outcome, Shown } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { html } from '../../lib/html.ts';
import { DAY_MS } from '../../lib/time.ts';
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
import { keyById } from '../follow.ts';
import { KEY_PREFIX, keyDigest, type Merchant } from '../merchant.ts';
import { findKeyByDigest, keysMadeBy } from '../queries.ts';
import { isInactive, isShownAgain, type KnownKey } from '../stored-key.ts';
import type { MerchantContext } from './context.ts';
import { keyFacts, lastUsed, madeWithIt, modesOf, newKeyPage } from './merchant-key-parts.ts';

const ENDS: Readonly<Record<string, [label: string, days: number | null]>> = {
  never: ['When it is revoked', null],
  '30': ['After 30 days', 30],
  '90': ['After 90 days', 90],
  '365': ['After a year', 365],
};
const OVERLAP_NAMES: Readonly<Record<Overlap, string>> = {
  '0': 'Not at all: it leaked',
  '1h': 'For an hour',
  '24h': 'For a day',
  '7d': 'For a week',
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
  const { form } = context;
  const merchant = merchantOf(context);
  return questionPage(context, {
    title: `Make a key for ${merchant.name}`,
    place: '/merchants',
    heading: html`Make a key for ${said(merchant.name)}?`,
    lead: html`<p>It is shown once, on the next page. Its merchant can make others itself, as long as it has one.</p>`,
    path: `/merchants/${merchant.id}/keys/new`,
    fields: html`${seedField(context)}${field({
      name: 'name',
      label: 'What it is for',
      hint: `Optional: the shop, the till. At most ${KEY_NAME_MAXIMUM} characters.`,
      value: form.get('name') ?? '',
      fault: faults.name,
    })}${choice({
      name: 'mode',
      legend: 'It makes',
      options: modesOf(context),
      chosen: form.get('mode') ?? 'test',
      fault: faults.mode,
    })}${choice({
      name: 'end',
      legend: 'It ends',
      options: Object.entries(ENDS).map(([value, [label]]) => [value, label]),
      chosen: form.get('end') ?? 'never',
      fault: faults.end,
    })}`,
    button: 'Make the key',
    back: addressOfMerchant(context, merchant),
    faults,
  });
}

/** What the domain says of a name, as its field says it. */
const nameFault = (fault: string) => `What it is for ${fault.replace(/^M/, 'm').replace(/\.$/, '')}`;

export async function makeKey(context: MerchantContext): Promise<Outcome> {
  const { form, now } = context;
  const merchant = merchantOf(context);
  const mode = modesOf(context).find(([one]) => one === form.get('mode'))?.[0];
  const end = ENDS[form.get('end') ?? ''];
  const faults = {
    ...(!mode && { mode: 'Choose what it makes' }),
    ...(!end && { end: 'Choose when it ends' }),
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
      return makingPage(context, { name: nameFault(error.details.name ?? error.message) });
    throw error;
  }
}

export async function rotationPage(context: MerchantContext, faults: Faults = {}): Promise<Outcome> {
  const { merchant, key, used } = await keyOf(context);
  const { form, now } = context;
  const back = addressOfMerchant(context, merchant);
  if (isInactive(key, now) || key.replaced_by !== null) return { to: back };
  return questionPage(context, {
    title: 'Rotate a key',
    place: '/merchants',
    heading: html`Rotate a key of ${said(merchant.name)}?`,
    lead: html`${keyFacts(context, key, used)}
<p>The next page shows a new key, which works at once.</p>`,
    path: `/merchants/${merchant.id}/keys/${key.id}/rotate`,
    fields: html`${seedField(context)}${choice({
      name: 'overlap',
      legend: 'The old key works on',
      options: Object.entries(OVERLAP_NAMES),
      chosen: form.get('overlap') ?? '24h',
      fault: faults.overlap,
    })}`,
    button: 'Make the new key',
    back,
    faults,
  });
}

export async function rotateMerchantKey(context: MerchantContext): Promise<Outcome> {
  const { form } = context;
  const { merchant, key: old } = await keyOf(context);
  const overlap = (Object.keys(OVERLAPS_MS) as Overlap[]).find((one) => one === form.get('overlap'));
  if (!overlap) return rotationPage(context, { overlap: 'Choose for how long the old key works on' });
  const key = formSecret(context, KEY_PREFIX[old.mode]);
  const wanted = { overlapMs: OVERLAPS_MS[overlap], key };
  const issued = await made(context, key, () =>
    changeKeys(context, merchant.id, (transaction) => rotateKey(transaction, old, wanted, context.act)),
  );
  const { key: after, used } = await keyOf(context);
  const ends = isInactive(after, context.clock.now())
    ? html`works no more`
    : html`works until ${moment(context, after.expires_at!)}`;
  const told = html`<p>The old key, ${literal(old.id)}, ${ends}. Last used: ${lastUsed(context, used)}.</p>`;
  return newKeyPage(context, merchant, issued, told);
}

export async function revocationPage(context: MerchantContext): Promise<Outcome> {
  const { merchant, key, used } = await keyOf(context);
  const { now, database } = context;
  const back = addressOfMerchant(context, merchant);
  if (isInactive(key, now)) return { to: back };
  const lastTime = used !== undefined && html`. It was last used ${lastUsed(context, used)}`;
  return questionPage(context, {
    title: 'Revoke a key',
    place: '/merchants',
    heading: html`Revoke a key of ${said(merchant.name)}?`,
    lead: html`${keyFacts(context, key, used)}
<p>Within a second whatever calls with it is refused${lastTime}. This cannot be undone.</p>
${madeWithIt(context, await keysMadeBy(database, key, now))}`,
    path: `/merchants/${merchant.id}/keys/${key.id}/revoke`,
    button: 'Revoke the key',
    look: 'danger',
    back,
  });
}

export async function revokeMerchantKey(context: MerchantContext): Promise<Outcome> {
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
    title: 'The key is revoked',
    place: '/merchants',
    content: html`<h1>The key is revoked</h1>
<p>${literal(key.id)} of ${said(merchant.name)} works no more.</p>
${madeWithIt(context, made)}
<p class="actions"><a class="primary" href="${addressOfMerchant(context, merchant)}">Continue</a></p>`,
  };
}
