// The console's pages for what cannot be shown or done: each says what happened and where to go on.
import { html } from '../../lib/html.ts';
import type { Shown } from './route.ts';

/** `path`: the console's address. */
export function missing(path: string): Shown {
  return {
    title: 'There is no such page',
    status: 404,
    code: 'not_found',
    content: html`<h1>There is no such page</h1>
<p>Nothing is at this address, or not any more.</p>
<p><a class="primary" href="${path}">To the first page</a></p>`,
  };
}

export function forbidden(path: string, role: string): Shown {
  return {
    title: 'This is not for your role',
    status: 403,
    code: 'forbidden',
    content: html`<h1>This is not for your role</h1>
<p>You are signed in as ${role}. Nothing was changed. Ask an administrator if you need to do this.</p>
<p><a class="primary" href="${path}">To the first page</a></p>`,
  };
}

/** A form that comes from somewhere else. */
export function foreign(path: string): Shown {
  return {
    title: 'This did not come from our page',
    status: 403,
    code: 'forbidden',
    content: html`<h1>This did not come from our page</h1>
<p>Your browser says that another site sent this. Nothing was done.</p>
<p><a class="primary" href="${path}">To the first page</a></p>`,
  };
}

/** A conflict with the current state. `message` is shown to the user. */
export function refused(path: string, status: number, message: string): Shown {
  const title = status === 409 ? 'This was not done' : 'This cannot be done';
  return {
    title,
    status,
    content: html`<h1>${title}</h1>
<p>${message}</p>
<p><a class="primary" href="${path}">Look at how it is now</a></p>`,
  };
}

/** Too many forms from one address; `minutes` until the next is taken. */
export function busy(path: string, until: string): Shown {
  return {
    title: 'Too many attempts',
    status: 429,
    content: html`<h1>Too many attempts</h1>
<p>There were too many attempts to sign in from your network. Try again at ${until}.</p>
<p><a class="secondary" href="${path}">To the first page</a></p>`,
  };
}

/** An internal error. `requestId` leads the operator to the log. */
export function failure(path: string, status: number, requestId: string): Shown {
  return {
    title: 'Something went wrong on our side',
    status,
    content: html`<h1>Something went wrong on our side</h1>
<p>Check whether it was done before you do it again. The log has more under <code>${requestId}</code>.</p>
<p><a class="primary" href="${path}">To the first page</a></p>`,
  };
}
