// A page that asks before something is done: the question, its fields, the button, and the way back.
import { type Html, html } from '../../lib/html.ts';
import type { Faults } from './parts.ts';
import type { Context, Shown } from './route.ts';

interface QuestionParts {
  title: string;
  /** Of the navigation, as in `Shown`. */
  place: string;
  heading: Html;
  /** What to know before the button is pressed. */
  lead: Html;
  /** The path that takes the form, below the console's address. */
  path: string;
  /** Parameters that the form's address keeps. */
  query?: Readonly<Record<string, string | undefined>>;
  fields?: Html;
  button: string;
  /** The value that the button sends with the form, and a second button that sends another. */
  named?: { name: string; value: string; other: { value: string; button: string } };
  /** How the button looks. */
  look?: 'primary' | 'danger';
  /** The address that the way back leads to. */
  back: string;
  faults?: Faults;
}

export function questionPage({ address, token, say }: Context, question: QuestionParts): Shown {
  const {
    title,
    place,
    heading,
    lead,
    path,
    query,
    fields,
    button,
    named,
    look = 'primary',
    back,
    faults = {},
  } = question;
  return {
    title,
    place,
    faults,
    content: html`<h1>${heading}</h1>
${lead}
<form class="narrow" method="post" action="${address(path, query)}#errors" novalidate>
${token}${fields}<p class="actions"><button class="${look}"${
      named && html` name="${named.name}" value="${named.value}"`
    }>${button}</button>${
      named &&
      html` <button class="secondary" name="${named.name}" value="${named.other.value}">${named.other.button}</button>`
    } <a class="plain" href="${back}">${say`Back`}</a></p>
</form>`,
  };
}
