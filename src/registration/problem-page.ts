// The pages for what cannot be shown or done: each says what became of the form, and what to do next.
import { problemPage, reference } from '../pages/problem.ts';
import type { Visit } from './visit.ts';

/** The text of the link to the form. */
export const BACK = 'register.again';

/** A form that was sent again after its key had been shown. */
export function gonePage(visit: Visit): string {
  const { words } = visit;
  const sentences = [words.html('register.gone.lead'), words.html('register.gone.next')];
  return problemPage(visit, { heading: 'register.gone.heading', sentences, back: BACK });
}

/** A form that is not ours, or not this browser's. */
export function refusedPage(visit: Visit): string {
  const sentences = [visit.words.html('register.refused.lead')];
  return problemPage(visit, { heading: 'refused.heading', sentences, back: BACK });
}

/** A failure of ours. `requestId` leads the operator to the log. */
export function failurePage(visit: Visit, requestId: string): string {
  const { words } = visit;
  return problemPage(visit, {
    heading: 'failure.heading',
    sentences: [words.html('register.failure.lead')],
    more: reference(words, requestId),
    back: BACK,
    look: 'secondary',
  });
}
