// The audit log: the history's entries, newest first, what seals them, and whether all of it was verified.

import { createReadStream, existsSync } from 'node:fs';
import { askedOf, dayFields, daysAsked, filterBar } from '../../administrators/pages/filters.ts';
import {
  emptyState,
  type Faults,
  field,
  hasFaults,
  literal,
  moment,
  notice,
  rows,
  said,
} from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { namesOf } from '../../administrators/queries.ts';
import { type AuditEntry, factsTold, type Seal } from '../../journal/audit-entry.ts';
import { checkpointFiles } from '../../journal/checkpoint.ts';
import { markCheckpoints } from '../../journal/export.ts';
import { type EntryFilter, sealHolding } from '../../journal/queries.ts';
import { ACKNOWLEDGED } from '../../journal/rows.ts';
import { type EntryPage, findEntries } from '../../journal/search.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import { momentsIn } from '../../lib/moments.ts';
import { isPaymentId } from '../../payments/payment.ts';
import type { TermRow } from '../../web/markup/parts.ts';
import { pager, records } from '../../web/markup/table.ts';
import type { InstallationContext } from './health.ts';

const PAGE = 50;
const PARAMETERS = ['actor', 'action', 'subject', 'from', 'to'] as const;
const TEXT_MAXIMUM = 200;
/** Characters of a seal's hash that stand in the list; the whole is in the entry's details. */
const HASH_SHOWN = 12;

type Asked = Partial<Record<(typeof PARAMETERS)[number], string>>;

export async function auditPage(context: InstallationContext): Promise<Outcome> {
  const { database, query, say } = context;
  const { asked, filter, faults } = filterOf(context);
  const wrong = hasFaults(faults);
  const place = { before: numberOf(query.get('before')), after: numberOf(query.get('after')) };
  const page: EntryPage = wrong
    ? { entries: [], newer: undefined, older: undefined, searched: undefined }
    : await findEntries(database, filter, place, PAGE);
  const content = html`<h1>${say`History`}</h1>
${proof(context)}
${filterForm(context, asked, faults)}
${!wrong && (await list(context, asked, page))}`;
  return { title: say`History`, content, place: '/audit', faults };
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function filterOf({ query, timeZone, say }: InstallationContext): {
  asked: Asked;
  filter: EntryFilter;
  faults: Faults;
} {
  const asked: Asked = askedOf(query, PARAMETERS, TEXT_MAXIMUM);
  const faults: Record<string, string> = {};
  const { actor, action, subject } = asked;
  return {
    asked,
    filter: { actor, action, subject, ...daysAsked(say, asked, timeZone, faults) },
    faults,
  };
}

function proof(context: InstallationContext): Html {
  const { address, token, verification, say } = context;
  const { running, newest } = verification;
  const button = html`<form method="post" action="${address('/audit/verify')}" class="actions">
${token}<button class="secondary">${say`Verify now`}</button></form>`;
  const progress =
    running &&
    html`<p role="status">${say.html`Verifying since ${moment(context, running.since)}: ${Math.floor(running.part * 100)} % done.`}
<a href="${address('/audit')}">${say`Refresh`}</a></p>`;
  return html`<section class="proof block" aria-labelledby="proof-heading"><h2 id="proof-heading">${say`Proof`}</h2>
${newest ? outcome(context, newest) : !running && html`<p>${say`Not verified since this server started.`}</p>`}
${progress ?? button}
<p class="downloads">${say`To verify it elsewhere:`}
<a class="plain" href="${address('/audit/checkpoints')}" download>checkpoints.jsonl</a>
<a class="plain" href="${address('/audit/key')}" download>${say`public key`}</a></p>
</section>`;
}

function outcome(
  context: InstallationContext,
  newest: NonNullable<InstallationContext['verification']['newest']>,
): Html {
  const { say } = context;
  const at = moment(context, newest.at);
  switch (newest.is) {
    case 'verified': {
      const { entries, seals, payments = 0, checkpoints: signed, acknowledged } = newest.found;
      const known =
        acknowledged > 0 &&
        html`<p>${say.count(acknowledged, '{n} fault acknowledged:', '{n} faults acknowledged:')}
<a href="${context.address('/audit', { action: ACKNOWLEDGED })}">${say`see what was changed outside the service`}</a></p>`;
      return notice(
        html`<p><strong>${say`Verified to entry ${entries}`}</strong> ${say.html`on ${at}.`} ${say`As the history says: ${[
          say.count(seals, '{n} seal', '{n} seals'),
          say.count(payments, '{n} payment', '{n} payments'),
          say.count(signed, '{n} checkpoint', '{n} checkpoints'),
        ].join(', ')}.`}</p>${known}`,
      );
    }
    case 'broken': {
      const { entry, problem, rows: count } = newest;
      const others = count > 1 && ` (${say.count(count - 1, 'and {n} other row', 'and {n} other rows')})`;
      const where =
        entry === undefined
          ? null
          : html`<a href="${context.address('/audit', { before: String(entry + 1) })}#entry-${entry}">${say`entry ${entry}`}</a>`;
      return html`<div class="errors" role="alert"><p><strong>${where ? say.html`Broken at ${where}` : say`Broken`}</strong>, ${say.html`found on ${at}: ${html`${said(momentsIn(context.timeZone).within(problem))}${others}`}.`}
${say.html`Keep the files as they are and run ${html`<code>counterfoil audit verify</code>`}.`}</p></div>`;
    }
    default:
      return notice(
        html`<p>${say.html`The verification at ${at} failed before it was finished. The log says why.`}</p>`,
        'warn',
      );
  }
}

function filterForm(context: InstallationContext, asked: Asked, faults: Faults): Html {
  const { say } = context;
  const code = { dir: 'ltr', spellcheck: 'false', autocapitalize: say`none` };
  const text = (name: 'actor' | 'action' | 'subject', label: string, placeholder: string) =>
    field({ name, label, value: asked[name], attributes: { ...code, placeholder } });
  const fields = html`${text('actor', say`Who (begins with)`, 'administrator:')}${text('action', say`What (begins with)`, 'payment.')}
${text('subject', say`On what (whole)`, 'pay_…')}${dayFields(asked, faults, say)}`;
  return filterBar(context, '/audit', asked, { fields, button: say`Show` });
}

async function list(context: InstallationContext, asked: Asked, page: EntryPage): Promise<Html> {
  const { address, say } = context;
  const { entries, newer, older, searched } = page;
  const to = (name: 'before' | 'after', number: number) =>
    address('/audit', { ...asked, [name]: String(number) });
  const pages = pager(
    newer !== undefined && [say`Newer`, to('after', newer)],
    older !== undefined && [say`Older`, to('before', older)],
    say`Pages`,
  );
  const told =
    searched &&
    html`<p class="muted">${say`Looked through entries ${searched.first} to ${searched.last}. The search goes on with the next page.`}</p>`;
  if (entries.length === 0) {
    const narrowed = Object.keys(asked).length > 0;
    return html`${emptyState(
      'shield',
      narrowed ? say`No entry matches.` : say`There are no entries here.`,
      html`${told}${
        (narrowed || newer !== undefined) &&
        html`<p><a href="${address('/audit')}">${say`Show the newest entries`}</a></p>`
      }`,
    )}
${pages}`;
  }
  return html`${await table(context, entries)}
${told}
${pages}`;
}

async function table(context: InstallationContext, entries: readonly AuditEntry[]): Promise<Html> {
  const { database, say } = context;
  const administrators = entries.map(({ actor }) => administratorOf(actor)).filter((id) => id !== undefined);
  const names = await namesOf(database, [...new Set(administrators)]);
  const seals = await sealsOf(context, entries);
  const address = (number: number) => context.address('/audit', { before: String(number + 1) });
  const link = ({ number }: AuditEntry) =>
    html`<a class="plain" href="${address(number)}#entry-${number}" data-key-row>${number}</a>`;
  const actorOf = ({ actor }: AuditEntry) => {
    const name = names.get(administratorOf(actor) ?? '');
    return name === undefined ? literal(actor) : said(name);
  };
  const sealOf = (seal: Seal | undefined) =>
    seal ? html`${seal.number} ${literal(`${seal.hash.slice(0, HASH_SHOWN)}…`)}` : say`None`;
  return records<AuditEntry>(
    [
      [say`Entry`, link, 'number'],
      [say`When`, ({ at }) => moment(context, at)],
      [say`Who`, actorOf],
      [
        say`What`,
        (one) => html`<bdi>${literal(one.action)}</bdi>${details(context, one, seals.get(one.number))}`,
      ],
      [say`On what`, (one) => subject(context, one.subject)],
      [say`Seal`, ({ number }) => sealOf(seals.get(number))],
    ],
    entries,
    { idOf: ({ number }) => `entry-${number}` },
  );
}

function administratorOf(actor: string): string | undefined {
  return /^administrator:(adm_\w+)$/.exec(actor)?.[1];
}

async function sealsOf(
  { database }: InstallationContext,
  entries: readonly AuditEntry[],
): Promise<Map<number, Seal>> {
  const seals = new Map<number, Seal>();
  let seal: Seal | undefined;
  for (const { number } of entries) {
    if (!seal || number < seal.first_entry) seal = await sealHolding(database, number);
    if (seal && seal.first_entry <= number) seals.set(number, seal);
  }
  return seals;
}

function details({ say }: InstallationContext, entry: AuditEntry, seal: Seal | undefined): Html {
  const { actor, request_id } = entry;
  const told = Object.entries(factsTold(entry)).map(
    ([name, value]): TermRow => [
      literal(name),
      value === null ? html`<span class="muted">${say`none`}</span>` : literal(String(value)),
    ],
  );
  return html`<details><summary>${say`Details`}</summary>
${rows([
  [say`Actor`, literal(actor)],
  [say`Request`, request_id && literal(request_id)],
  ...told,
  [say`Seal`, seal && html`${seal.number} ${literal(seal.hash)}`],
])}
</details>`;
}

function subject({ address }: InstallationContext, text: string): Html {
  if (isPaymentId(text))
    return html`<a class="plain" href="${address(`/payments/${text}`)}">${literal(text)}</a>`;
  if (/^mer_\w+$/.test(text))
    return html`<a class="plain" href="${address(`/merchants/${text}`)}">${literal(text)}</a>`;
  return html`<a class="plain" href="${address('/audit', { subject: text })}">${literal(text)}</a>`;
}

export async function verify({ verification, address }: InstallationContext): Promise<Outcome> {
  verification.start();
  return { to: address('/audit') };
}

/** As far as the file goes now: a line that is being written is not cut in two. */
export async function checkpoints({ storage }: InstallationContext): Promise<Outcome> {
  const { file, bytes } = markCheckpoints(storage);
  if (bytes === 0) throw new OperationalError('not_found', 'No checkpoint was signed yet.');
  return {
    stream: createReadStream(file, { end: bytes - 1 }),
    type: 'application/x-ndjson; charset=utf-8',
    name: 'checkpoints.jsonl',
  };
}

export async function publicKey({ storage }: InstallationContext): Promise<Outcome> {
  const { publicKeyFile } = checkpointFiles(storage);
  if (!existsSync(publicKeyFile)) throw new OperationalError('not_found', 'There is no public key.');
  return {
    stream: createReadStream(publicKeyFile),
    type: 'application/x-pem-file',
    name: 'checkpoint-key.pub.pem',
  };
}
