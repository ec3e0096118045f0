// The merchants of this installation, a page at a time, found by their names.
import { may } from '../../administrators/administrator.ts';
import { filterBar, findField } from '../../administrators/pages/filters.ts';
import { emptyState, literal, said } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { type Html, html } from '../../lib/html.ts';
import { pager, records } from '../../web/markup/table.ts';
import { type Merchant, workingIn } from '../merchant.ts';
import { COUNTED_DAYS, recentPaymentCount, stateStamp } from './merchant.ts';
import type { MerchantContext } from './merchant-keys.ts';

const PAGE = 50;
/** Maximum length of a search. */
const TEXT_MAXIMUM = 255;

export async function merchantsPage(context: MerchantContext): Promise<Outcome> {
  const { directory, query, address, principal, say } = context;
  const asked = (query.get('q') ?? '').trim().slice(0, TEXT_MAXIMUM);
  const after = query.get('after') ?? '';
  const found = merchantsCalled(directory.merchants, asked).sort((one, other) =>
    one.id < other.id ? -1 : 1,
  );
  const rest = found.filter(({ id }) => id > after);
  const shown = rest.slice(0, PAGE);
  const pages = pager(
    after !== '' && [say`First`, address('/merchants', { q: asked })],
    rest.length > PAGE && [say`Next`, address('/merchants', { q: asked, after: shown.at(-1)!.id })],
    say`Pages`,
  );
  const content = html`<h1>${say`Merchants`}</h1>
${(asked !== '' || directory.count > PAGE) && searchForm(context, asked)}
${
  shown.length === 0
    ? emptyState(
        'shop',
        asked === '' ? say`There are no merchants yet.` : say`No merchant has this name or id.`,
      )
    : table(context, await linesOf(context, shown))
}
${pages}
<p class="actions"><a class="secondary" href="${address('/webhooks')}">${say`Webhooks`}</a>
${may(principal.role, 'administer') && html`<a class="secondary" href="${address('/invitations')}">${say`Invitations…`}</a>`}</p>
<p class="muted">${say.html`Merchants register with an invitation, or are in the configuration file: ${html`<code>counterfoil merchants --help</code>`}.`}</p>`;
  return { title: say`Merchants`, content, place: '/merchants' };
}

/** Warns that a merchant's name looks like another's, because a live key must go to the right one. */
async function sameName({ directory, say }: MerchantContext, { id, name }: Merchant): Promise<Html | null> {
  const others = (await directory.names.idsLike(name)).filter((one) => one !== id);
  const [first] = others;
  if (first === undefined) return null;
  const more = others.length - 1;
  const text =
    more > 0
      ? say.html`same name as ${literal(first)} and ${more} more`
      : say.html`same name as ${literal(first)}`;
  return html` <span class="muted">${text}</span>`;
}

/** The merchants whose name or id holds `text`, in either case; all if it is empty. */
function merchantsCalled(merchants: readonly Merchant[], text: string): Merchant[] {
  if (text === '') return [...merchants];
  const wanted = text.toLowerCase();
  return merchants.filter(({ id, name }) => id.includes(wanted) || name.toLowerCase().includes(wanted));
}

function searchForm(context: MerchantContext, asked: string): Html {
  const fields = findField(context, asked || undefined, context.say`Part of a business name, or an id`);
  const set = asked === '' ? {} : { q: asked };
  return filterBar(context, '/merchants', set, { fields, button: '', label: context.say`Search` });
}

interface Line {
  merchant: Merchant;
  namesakes: Html | null;
  payments: Html | string | number;
}

async function linesOf(context: MerchantContext, merchants: readonly Merchant[]): Promise<Line[]> {
  const lines: Line[] = [];
  for (const merchant of merchants) {
    const namesakes = await sameName(context, merchant);
    lines.push({ merchant, namesakes, payments: await recentPaymentCount(context, merchant.id) });
  }
  return lines;
}

function table(context: MerchantContext, lines: readonly Line[]): Html {
  const { directory, address, now, say } = context;
  const keysOf = ({ merchant }: Line) => directory.keysOf(merchant.id);
  const link = ({ id, name }: Merchant) =>
    html`<a class="plain" href="${address(`/merchants/${id}`)}" data-key-row>${said(name)}</a>`;
  return records<Line>(
    [
      [say`Merchant`, ({ merchant, namesakes }) => html`${link(merchant)}${namesakes}`],
      [say`Id`, ({ merchant }) => html`<span class="whole">${literal(merchant.id)}</span>`],
      [say`Live keys`, (line) => workingIn(keysOf(line), 'live', now), 'number'],
      [say`Test keys`, (line) => workingIn(keysOf(line), 'test', now), 'number'],
      [say`Payments in ${COUNTED_DAYS} days`, ({ payments }) => payments, 'number'],
      [say`State`, ({ merchant }) => stateStamp(context, directory.isSuspended(merchant.id))],
    ],
    lines,
  );
}
