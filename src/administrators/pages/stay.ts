// Staying signed in: opening this page is a use of the session, and its address tells the script how long the session lasts.
import { Readable } from 'node:stream';
import { html } from '../../lib/html.ts';
import { SECOND_MS } from '../../lib/time.ts';
import { moment } from './parts.ts';
import type { Context, Outcome } from './route.ts';

export function stayPage(context: Context): Outcome {
  const { say, ends } = context;
  return {
    title: say`You stay signed in`,
    content: html`<h1>${say`You stay signed in`}</h1>
<p>${say.html`Your session ends at ${moment(context, ends.at)} if you do not use it until then.`}</p>
<p>${say`Close this tab and go on where you were.`}</p>`,
  };
}

/** In how many seconds a page should warn that the session ends. */
export function secondsLeft({ ends, now }: Context): Outcome {
  const seconds = Math.max(0, Math.floor((ends.unused - now) / SECOND_MS) - WARNING_S);
  return { stream: Readable.from([String(seconds)]), type: 'text/plain; charset=utf-8', name: 'left.txt' };
}

/** How long before its session ends a page warns (WCAG 2.2.1 asks for 20 seconds). */
export const WARNING_S = 120;
