// Letters as the console tells of them: what each is, to whom, and what became of it.
import { phrase, type Say } from '../../lib/phrases.ts';
import type { ToldLetter } from '../../review/pages/context.ts';
import type { Reader } from '../../store/database.ts';
import type { Letter, LetterKind } from '../letter.ts';
import { listLetters } from '../queries.ts';

/** Of one payment. */
const SHOWN_MAXIMUM = 100;

export const LETTER_NAMES: Readonly<Record<LetterKind, string>> = {
  link: phrase('Payment link'),
  new_link: phrase('New payment link'),
  reminder: phrase('Reminder'),
  details_received: phrase('Details received'),
  money_found: phrase('Money received'),
  receipt: phrase('Receipt'),
  not_accepted: phrase('Not accepted'),
  cancelled: phrase('Cancelled'),
  needs_attention: phrase('Payment to review'),
  link_requested: phrase('New link requested'),
  webhook_failing: phrase('Webhook fails'),
  key_made: phrase('API key created'),
  queue_digest: phrase('Digest of the queue'),
  history_broken: phrase('History broken'),
  backup_old: phrase('Backup old'),
};

export const STATUS_NAMES: Readonly<Record<Letter['status'], string>> = {
  pending: phrase('Waits'),
  retrying: phrase('To be tried again'),
  sent: phrase('Sent'),
  failed: phrase('Failed'),
  withdrawn: phrase('Not sent'),
};

export const recipientOf = (say: Say, { recipient }: Letter): string =>
  recipient === 'customer' ? say`Customer` : recipient === 'merchant' ? say`Merchant` : say`Administrator`;

/** The letters about a payment, oldest first. Throws `DatabaseError`. */
export async function lettersAbout(database: Reader, about: string, say: Say): Promise<ToldLetter[]> {
  const letters = await listLetters(database, { about }, SHOWN_MAXIMUM);
  return letters.reverse().map((letter) => ({
    at: letter.created_at,
    sentence: `${say`Email`}: ${say.of(LETTER_NAMES[letter.kind])} → ${recipientOf(say, letter)}. ${say.of(STATUS_NAMES[letter.status])}.`,
    // Reasons of ours are phrases; a server's own words have no translation.
    answer: letter.answer && say.of(letter.answer),
  }));
}
