// The console's pages for what cannot be shown or done: each says what happened and where to go on.
import { type Html, html } from '../../lib/html.ts';
import type { Say, Sentence } from '../../lib/phrases.ts';
import type { Shown } from './route.ts';

/** Where a page that says what is wrong stands. */
export interface ProblemPlace {
  say: Say;
  /** The console's address. */
  path: string;
}

function page(
  { say, path }: ProblemPlace,
  status: number,
  title: string,
  text: Html | string,
  way = say`Go to Home`,
): Shown {
  return {
    title,
    status,
    content: html`<h1>${title}</h1>
<p>${text}</p>
<p><a class="primary" href="${path}">${way}</a></p>`,
  };
}

export function missing(place: ProblemPlace): Shown {
  const { say } = place;
  const text = say`There is no page at this address, or not any more.`;
  return { ...page(place, 404, say`There is no such page`, text), code: 'not_found' };
}

export function forbidden(place: ProblemPlace, role: string): Shown {
  const { say } = place;
  const text = say`Your role is ${say.of(role)}. Nothing was changed. Ask an administrator if you need to do this.`;
  return { ...page(place, 403, say`Your role does not allow this`, text), code: 'forbidden' };
}

/** A form that comes from somewhere else. */
export function foreign(place: ProblemPlace): Shown {
  const { say } = place;
  const text = say`It was sent from another site, or from a page that is too old. Nothing was done. Open the page again.`;
  return { ...page(place, 403, say`This form is out of date`, text), code: 'forbidden' };
}

/** A conflict with the current state. `said` is shown to the user. */
export function refused(place: ProblemPlace, status: number, said: Sentence): Shown {
  const { say } = place;
  const title = status === 409 ? say`This was not done` : say`This cannot be done`;
  return page(place, status, title, said(say));
}

/** Too many forms from one address. `until`: when the next is taken. */
export function busy(place: ProblemPlace, until: string): Shown {
  const { say } = place;
  const text = say`There were too many attempts to sign in from your network. Try again at ${until}.`;
  return page(place, 429, say`Too many attempts`, text);
}

/** An internal error. `requestId` leads the operator to the log. */
export function failure(place: ProblemPlace, status: number, requestId: string): Shown {
  const { say } = place;
  const number = html`<code>${requestId}</code>`;
  const text = say.html`Check whether it was done before you do it again. The operator finds more in the log, under ${number}.`;
  return page(place, status, say`Something went wrong on our side`, text);
}
