// The console's pages for what cannot be shown or done: each says what happened and where to go on.
import { type Html, html } from '../../lib/html.ts';
import type { Sentence } from '../../lib/phrases.ts';
import type { Shown, Visit } from './route.ts';

/** Where a page that says what is wrong stands. */
type Place = Pick<Visit, 'say' | 'path'>;

function page({ say, path }: Place, status: number, title: string, text: Html | string): Shown {
  return {
    title,
    status,
    content: html`<h1>${title}</h1>
<p>${text}</p>
<p><a class="primary" href="${path}">${say`Go to Home`}</a></p>`,
  };
}

export const missing = (place: Place): Shown => ({
  ...page(
    place,
    404,
    place.say`There is no such page`,
    place.say`There is no page at this address, or not any more.`,
  ),
  noted: { code: 'not_found' },
});

export function forbidden(place: Place, role: string): Shown {
  const { say } = place;
  const text = say`Your role is ${say.of(role)}. Nothing was changed. Ask an administrator if you need to do this.`;
  return { ...page(place, 403, say`Your role does not allow this`, text), noted: { code: 'forbidden' } };
}

/** A form that comes from somewhere else. */
export function foreign(place: Place): Shown {
  const { say } = place;
  const text = say`It was sent from another site, or from a page that is too old. Nothing was done. Open the page again.`;
  return { ...page(place, 403, say`This form is out of date`, text), noted: { code: 'forbidden' } };
}

/** A conflict with the current state. `said` is shown to the user. */
export function refused(place: Place, status: number, said: Sentence): Shown {
  const { say } = place;
  const title = status === 409 ? say`This was not done` : say`This cannot be done`;
  return page(place, status, title, said(say));
}

/** Too many forms from one address. `until`: when the next is taken. */
export function busy(place: Place, until: string): Shown {
  const { say } = place;
  const text = say`There were too many attempts to sign in from your network. Try again at ${until}.`;
  return page(place, 429, say`Too many attempts`, text);
}

/** An internal error. `requestId` leads the operator to the log. */
export function failure(place: Place, status: number, requestId: string): Shown {
  const { say } = place;
  const number = html`<code>${requestId}</code>`;
  const text = say.html`Check whether it was done before you do it again. The operator finds more in the log, under ${number}.`;
  return page(place, status, say`Something went wrong on our side`, text);
}
