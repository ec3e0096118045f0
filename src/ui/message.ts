// What a reviewer tells a customer, as checkout shows it and as the console shows it beforehand.
import { type Html, html } from '../lib/html.ts';

/** `text` under `heading`, which names who it is from. */
export function customerMessage(heading: Html, text: string): Html {
  return html`<section class="message">
<h2>${heading}</h2>
<p class="words" dir="auto">${text}</p>
</section>`;
}
