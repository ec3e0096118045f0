// Invitations to register: which there are and what became of them, another, and one less, by administrators alone.

import {
  choice,
  type Faults,
  field,
  formSecret,
  literal,
  moment,
  notice,
  said,
  seedField,
} from '../../administrators/pages/parts.ts';
import type { Outcome, Shown } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { sha256Hex } from '../../lib/secrets.ts';
import { asciiDigits } from '../../lib/text.ts';
import { records } from '../../web/markup/table.ts';
import {
  createInvite,
  INVITE_DAYS,
  INVITE_DAYS_MAXIMUM,
  INVITE_NOTE_MAXIMUM,
  INVITE_PREFIX,
  type Invite,
  inviteState,
  listInvites,
  revokeInvite,
} from '../invite.ts';
import { isShownAgain } from '../merchant.ts';
import { findInviteByDigest } from '../queries.ts';
import { type MerchantContext, MODE_NAMES, modesOf } from './merchant-keys.ts';

const PATH = '/invitations';
/** Older ones are in the audit log. */
const SHOWN = 100;

export async function invitationsPage(context: MerchantContext, faults: Faults = {}): Promise<Shown> {
  const { database, address, token, form, say } = context;
  const all = await listInvites(database, SHOWN);
  return {
    title: say`Invitations`,
    place: '/merchants',
    faults,
    content: html`<p><a class="plain" href="${address('/merchants')}">${say`Merchants`}</a></p>
<h1>${say`Invitations`}</h1>
${all.length === 0 ? html`<p>${say`There are no invitations yet.`}</p>` : list(context, all)}
<section class="block" aria-labelledby="invite-heading"><h2 id="invite-heading">${say`Invite a merchant`}</h2>
<form class="narrow" method="post" action="${address(PATH)}#errors" novalidate>
${token}${seedField(context)}${field({
  name: 'note',
  label: say`For whom`,
  hint: say`Only administrators read it. ${INVITE_NOTE_MAXIMUM} characters or fewer.`,
  value: form.get('note') ?? '',
  fault: faults.note,
})}${choice({
  name: 'mode',
  legend: say`Mode of their first key`,
  options: modesOf(context),
  chosen: form.get('mode') ?? 'test',
  fault: faults.mode,
})}${field({
  name: 'days',
  label: say`Valid for (days)`,
  hint: say`1 to ${INVITE_DAYS_MAXIMUM}.`,
  value: form.get('days') ?? String(INVITE_DAYS),
  fault: faults.days,
  attributes: { inputmode: 'numeric', class: 'short' },
})}<p class="actions"><button class="primary">${say`Create an invitation`}</button></p>
</form>
</section>`,
  };
}

function list(context: MerchantContext, all: readonly Invite[]): Html {
  const { address, token, now, say } = context;
  const button = ({ id }: Invite) =>
    html`<form method="post" action="${address(`${PATH}/${id}/revoke`)}">${token}<button class="quiet" aria-label="${say`Revoke ${id}`}">${say`Revoke`}</button></form>`;
  return records<Invite>(
    [
      [
        say`For whom`,
        ({ id, note }) => html`${note !== null && html`${said(note)} `}${literal(`…${id.slice(-8)}`)}`,
      ],
      [say`Mode`, ({ mode }) => say.of(MODE_NAMES[mode])],
      [say`Created`, ({ created_at }) => moment(context, created_at)],
      [say`State`, (one) => html`<span>${stateOf(context, one)}</span>`],
      [say`Change`, (one) => (inviteState(one, now) === 'open' ? button(one) : '–')],
    ],
    all,
  );
}

function stateOf(context: MerchantContext, invite: Invite): Html {
  const { say } = context;
  const { used_at, revoked_at, expires_at, merchant_id } = invite;
  const state = inviteState(invite, context.now);
  if (state === 'used') {
    const merchant = html`<a class="plain" href="${context.address(`/merchants/${merchant_id}`)}">${literal(merchant_id!)}</a>`;
    return say.html`Used ${moment(context, used_at!)} by ${merchant}`;
  }
  if (state === 'revoked') return say.html`Revoked ${moment(context, revoked_at!)}`;
  const at = moment(context, expires_at);
  return state === 'expired' ? say.html`Expired ${at}` : say.html`Valid until ${at}`;
}

export async function invite(context: MerchantContext): Promise<Outcome> {
  const { journal, form, act, database, say } = context;
  const mode = modesOf(context).find(([one]) => one === form.get('mode'))?.[0];
  if (!mode) return invitationsPage(context, { mode: say`Choose a mode` });
  const code = formSecret(context, INVITE_PREFIX);
  const wanted = {
    mode,
    note: form.get('note')?.trim() || null,
    days: Number(asciiDigits(form.get('days') ?? '')),
    code,
  };
  try {
    const { row } = await journal.commit((transaction) => createInvite(transaction, wanted, act));
    return invitationPage(context, code, row);
  } catch (error) {
    const row = await findInviteByDigest(database, sha256Hex(code));
    if (row && isShownAgain(row, context.now)) return invitationPage(context, code, row);
    if (error instanceof OperationalError && error.details)
      return invitationsPage(context, wording(context, error.details));
    throw error;
  }
}

const wording = ({ say }: MerchantContext, { note, days }: Readonly<Record<string, string>>): Faults => ({
  ...(note !== undefined && { note: `${say`For whom`}: ${note.replace(/\.$/, '')}` }),
  ...(days !== undefined && { days: say`Enter a number of days from 1 to ${INVITE_DAYS_MAXIMUM}` }),
});

function invitationPage(context: MerchantContext, code: string, row: Invite): Shown {
  const { address, registerUrl, say } = context;
  return {
    title: say`The invitation`,
    place: '/merchants',
    content: html`<h1>${say`The invitation`}</h1>
<pre class="copy code" dir="ltr" translate="no">${registerUrl}?invite=${code}</pre>
${notice(html`<p>${say`Copy it now: it is shown only this once. It works once, for anyone who has it: send it by a way that you trust.`}</p>`, 'warn')}
<p>${
      row.mode === 'test'
        ? say.html`With it one merchant registers and gets a test key, until ${moment(context, row.expires_at)}.`
        : say.html`With it one merchant registers and gets a live key, until ${moment(context, row.expires_at)}.`
    }</p>
<p class="actions"><a class="primary" href="${address(PATH)}">${say`I have kept it: continue`}</a></p>`,
  };
}

export async function revokeInvitation(context: MerchantContext): Promise<Outcome> {
  const { journal, params, act, address } = context;
  const id = params.invite_id!;
  await journal.commit((transaction) => revokeInvite(transaction, id, act), id);
  return { to: address(PATH) };
}
