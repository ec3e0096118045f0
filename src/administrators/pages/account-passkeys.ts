// The passkeys of an account: which there are, another, and one less.

import { OperationalError } from '../../lib/errors.ts';
import { html } from '../../lib/html.ts';
import { addPasskey, removePasskey } from '../account.ts';
import { type Passkey, passkeyPlace, verifiedRegistration } from '../passkey.ts';
import {
  asking,
  doneIn,
  EMPTY,
  formPage,
  knownAgain,
  own,
  passwordMissing,
  refusalFaults,
} from './account-parts.ts';
import { currentPasswordField, newPasskeyButton } from './factor-parts.ts';
import { field, moment, notice, said } from './parts.ts';
import type { Context, Outcome, Shown } from './route.ts';
import { parsed } from './sign-in.ts';

export async function passkeysPage(context: Context, faults = EMPTY): Promise<Shown> {
  const { baseUrl, address, token, form, ring, say } = context;
  const { row, passkeys } = await own(context);
  const button = newPasskeyButton(context.say, ring, baseUrl, row, passkeys, say`Add a passkey`);
  const done = doneIn(context);
  const one = (
    passkey: Passkey,
  ) => html`<li>${say.html`${said(passkey.name)}, added ${moment(context, passkey.created_at)}`}${
    passkey.used_at !== null && html`, ${say.html`last used ${moment(context, passkey.used_at)}`}`
  }
· <a class="plain" href="${address('/account/passkeys/remove', { passkey: passkey.id })}"
aria-label="${say`Remove ${passkey.name}`}">${say`Remove`}</a></li>`;
  return {
    title: say`Your passkeys`,
    place: '/account',
    faults,
    content: html`${done !== undefined && notice(html`<p>${done}</p>`)}
<p><a class="plain" href="${address('/account')}">${say`Your account`}</a></p>
<h1>${say`Your passkeys`}</h1>
${passkeys.length > 0 ? html`<ul class="list">${passkeys.map(one)}</ul>` : html`<p>${say`You have no passkeys yet.`}</p>`}
<section class="part">
<h2>${say`Add a passkey`}</h2>
${
  button
    ? html`<form class="narrow" method="post" action="${address('/account/passkeys')}#errors" novalidate>
${token}
${field({
  name: 'name',
  label: say`Name of the passkey`,
  hint: say`For example the device it is on.`,
  value: form.get('name') ?? '',
  fault: faults.name,
  attributes: { maxlength: '60' },
})}
${currentPasswordField(context.say, faults)}
${button}
</form>`
    : html`<p>${say`Browsers create passkeys only where this service is reached by HTTPS under a name.`}</p>`
}
</section>`,
  };
}

export async function takePasskey(context: Context): Promise<Outcome> {
  const { form, baseUrl, address, ring } = context;
  const place = passkeyPlace(baseUrl);
  const name = form.get('name') ?? '';
  const faults = {
    ...(name.trim() === '' ? { name: context.say`Enter a name for the passkey` } : {}),
    ...passwordMissing(context),
  };
  if (Object.keys(faults).length > 0) return passkeysPage(context, faults);
  const { row } = await own(context);
  const credential = parsed(form.get('credential') ?? '');
  const passkey = place && verifiedRegistration(ring, place, row, credential);
  if (!passkey)
    return passkeysPage(context, { name: context.say`The passkey could not be checked. Add it again` });
  try {
    const added = await addPasskey(context, asking(context), passkey, name);
    if ('refused' in added) return passkeysPage(context, refusalFaults(context, added));
    const headers = knownAgain(context, added.administrator);
    return { to: address('/account/passkeys', { done: 'passkey' }), headers };
  } catch (error) {
    if (error instanceof OperationalError && error.details)
      return passkeysPage(context, {
        name: `${context.say`Name of the passkey`}: ${error.details.name ?? error.said(context.say)}`,
      });
    throw error;
  }
}

export async function removalPage(context: Context, faults = EMPTY): Promise<Shown> {
  const { say } = context;
  const id = context.form.get('passkey') ?? context.query.get('passkey');
  const { passkeys } = await own(context);
  const passkey = passkeys.find((one) => one.id === id);
  if (!passkey) throw new OperationalError('not_found', 'There is no such passkey.');
  return formPage(context, {
    title: say`Remove a passkey`,
    path: '/account/passkeys/remove',
    button: say`Remove it`,
    faults,
    lead: html`<p>${context.say.html`Once “${said(passkey.name)}” is removed, you can no longer sign in with it.`}</p>`,
    inside: html`<input type="hidden" name="passkey" value="${passkey.id}">${currentPasswordField(context.say, faults)}`,
  });
}

export async function takeRemoval(context: Context): Promise<Outcome> {
  const missing = passwordMissing(context);
  if (missing !== EMPTY) return removalPage(context, missing);
  const removed = await removePasskey(context, asking(context), context.form.get('passkey') ?? '');
  if ('refused' in removed) return removalPage(context, refusalFaults(context, removed));
  const headers = knownAgain(context, removed.administrator);
  return { to: context.address('/account/passkeys', { done: 'removed' }), headers };
}
