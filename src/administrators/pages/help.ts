// The page that explains the console's words, its keys and its roles.
import { html } from '../../lib/html.ts';
import { phrase } from '../../lib/phrases.ts';
import { keyboardList } from './frame.ts';
import type { Context, Outcome } from './route.ts';

const WORDS = [
  [phrase('Payment'), phrase('What a merchant asks a customer to pay. It is created through the API.')],
  [
    phrase('To review'),
    phrase('The customer says that they have paid. An administrator looks at it and approves or rejects it.'),
  ],
  [
    phrase('Approve'),
    phrase(
      'The money is there: the customer gets a receipt, and the merchant’s system is told. It cannot be undone.',
    ),
  ],
  [
    phrase('Reject'),
    phrase(
      'The payment is not accepted. The customer reads your message, if you write one; never the reason or the note. It cannot be undone.',
    ),
  ],
  [
    phrase('Claim'),
    phrase(
      'The payment is yours for ten minutes, so that nobody else decides it meanwhile. Others can take it over.',
    ),
  ],
  [
    phrase('1 of 2'),
    phrase(
      'One administrator has approved the payment, and a second one must confirm it, because it is above the limit that the operator set.',
    ),
  ],
  [
    phrase('Money seen'),
    phrase(
      'A line of a bank statement was matched with the payment, or an administrator recorded that the money arrived.',
    ),
  ],
  [
    phrase('Statement line'),
    phrase(
      'One movement on the bank account. You match it with the payment it is for, or ignore it with a reason.',
    ),
  ],
  [
    phrase('Record money'),
    phrase(
      'For money that arrived although the customer never said so, or after the payment had ended. The payment then waits for review.',
    ),
  ],
  [phrase('Test'), phrase('A payment that a test key created. No money moves.')],
  [phrase('Merchant'), phrase('Whoever creates payments, with API keys of their own.')],
  [phrase('Webhook'), phrase('A message to the merchant’s system when something happens to a payment.')],
  [
    phrase('History'),
    phrase(
      'Every change, numbered and sealed. It shows whether anybody changed the data outside the service.',
    ),
  ],
  [
    phrase('Seal'),
    phrase(
      'A number calculated from all changes up to then. It is different if one of them was changed afterwards.',
    ),
  ],
  [
    phrase('Checkpoint'),
    phrase(
      'A seal that the service has signed, about every minute. Keep copies elsewhere to prove the history later.',
    ),
  ],
] as const;

const ROLES = [
  [phrase('auditor'), phrase('reads everything and changes nothing.')],
  [phrase('reviewer'), phrase('also decides payments and works with bank statements.')],
  [phrase('administrator'), phrase('also manages merchants, keys, invitations and webhooks.')],
] as const;

export function helpPage({ say, keys, address }: Context): Outcome {
  return {
    title: say`Help`,
    place: '/help',
    content: html`<h1>${say`Help`}</h1>
<section class="block" aria-labelledby="words-heading"><h2 id="words-heading">${say`What the words mean`}</h2>
<dl class="glossary">${WORDS.map(([word, text]) => html`<div><dt>${say.of(word)}</dt><dd>${say.of(text)}</dd></div>\n`)}</dl>
</section>
<section class="block" aria-labelledby="roles-heading"><h2 id="roles-heading">${say`Roles`}</h2>
<dl class="terms">${ROLES.map(([role, text]) => html`<div><dt>${say.of(role)}</dt><dd>${say.of(text)}</dd></div>\n`)}</dl>
</section>
<section class="block" aria-labelledby="keys-list-heading"><h2 id="keys-list-heading">${say`Keyboard shortcuts`}</h2>
${
  keys
    ? keyboardList(say)
    : html`<p>${say`You have switched them off.`} <a href="${address('/account')}">${say`Go to your account`}</a></p>`
}
</section>
<section class="block" aria-labelledby="session-heading"><h2 id="session-heading">${say`Signing out`}</h2>
<p>${say`You are signed out after 15 minutes without use, and eight hours after you signed in. What you have typed by then is
kept while you sign in again.`} <a href="${address('/account')}">${say`Go to your account`}</a></p>
</section>`,
  };
}
