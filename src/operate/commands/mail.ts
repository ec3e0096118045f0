// counterfoil mail: tries the settings step by step, lists letters and what became of them, sends again what failed, and takes bounces.
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { randomId } from '../../lib/ids.ts';
import { momentsIn } from '../../lib/moments.ts';
import { ENGLISH } from '../../lib/phrases.ts';
import { counted } from '../../lib/text.ts';
import { formatTimestamp, systemClock, timestampOrNull } from '../../lib/time.ts';
import { bounceOf } from '../../mail/bounce.ts';
import { LETTER_ID_PREFIX, type Letter } from '../../mail/letter.ts';
import { messageOf } from '../../mail/letters/compose.ts';
import { PRODUCT, trialLetter } from '../../mail/letters/staff.ts';
import { isSendable } from '../../mail/message.ts';
import { type LettersWanted, listLetters, noteBounce, sendAgain } from '../../mail/queries.ts';
import { SmtpTransport } from '../../mail/smtp.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { mailServer } from '../settings/operation.ts';
import { listed, onStore, type Store, type StoreOptions } from './store.ts';
import { Failure } from './terminal.ts';
import { addCommands, newCommand } from './usage.ts';

const LISTED = 200;
const EXAMPLE = `${LETTER_ID_PREFIX}01m8ee4gp0jjsy7rmd4vzs30cjbav3g7sxyb`;

export function command(): Command {
  const example = 'mail test you@example.com';
  const description = 'mail: the server that letters leave by, and what became of letters';
  return addCommands(
    newCommand('mail', description, [example, 'mail list --failed', 'mail resend --failed']),
    [
      newCommand('test', 'send a letter at once, and show what the server says at each step', [
        example,
        `${example} --json`,
      ])
        .argument('<address>', 'whom the letter goes to', parseAddress)
        .action(tryMail),
      newCommand('list', `list the newest ${LISTED} letters, and what the server said of each`, [
        'mail list --failed',
      ])
        .option('--failed', 'only letters that failed or came back')
        .option('--about <id>', 'only letters about a payment, a key or an endpoint')
        .action(onStore(list)),
      newCommand('resend', 'send letters again that failed or came back', [
        `mail resend ${EXAMPLE}`,
        'mail resend --failed',
      ])
        .argument('[ids...]', 'ids of letters: counterfoil mail list --failed shows them')
        .option('--failed', 'all that failed')
        .hook('preAction', (one) => {
          if (Boolean(one.opts().failed) === one.args.length > 0)
            one.error('error: name letters by their ids, or send again all that --failed');
        })
        .action(onStore(resend)),
      newCommand(
        'bounced',
        'note that a letter came back, as the report on standard input says (RFC 3464)',
        ['mail bounced < report.eml'],
        'For the mailbox of mail.bounces: let it hand each message to this command. What is no report about a letter of this store is passed over.',
      ).action(onStore(bounced)),
    ],
  );
}

async function list({ configuration, database }: Store, options: LettersWanted) {
  const letters = await listLetters(database, options, LISTED);
  const words = momentsIn(configuration.time_zone);
  return listed('letters', letters.map(presentLetter), 'There are no such letters.', (one) => [
    one.id,
    words.within(one.created_at),
    one.kind,
    one.about,
    one.status,
    one.answer ?? '',
  ]);
}

function presentLetter({ created_at, due_at, sent_at, ...letter }: Letter) {
  const { id, kind, about, merchant_id, recipient, status, attempts, answer } = letter;
  const shown = { id, kind, about, merchant_id, recipient, status, attempts, answer };
  return {
    ...shown,
    created_at: formatTimestamp(created_at),
    next_attempt_at: timestampOrNull(due_at),
    sent_at: timestampOrNull(sent_at),
  };
}

async function resend({ journal }: Store, ids: readonly string[]) {
  const named = ids.length > 0 ? ids : undefined;
  const letters = await journal.commitAside((transaction) => sendAgain(transaction, named));
  const missing = ids.filter((id) => !letters.includes(id));
  if (missing.length > 0)
    throw new Failure(`not among the letters that failed: ${missing.join(', ')}; the others leave now`);
  return {
    json: { letters },
    text: `${counted(letters.length, 'letter')} to be sent again within a second.`,
  };
}

async function bounced({ journal }: Store) {
  const report = bounceOf(readFileSync(0, 'latin1'));
  const letter =
    report &&
    (await journal.commitAside((transaction) => noteBounce(transaction, report.letter, report.words)));
  return {
    json: { letter: letter ? presentLetter(letter) : null },
    text: letter
      ? `The letter ${letter.id} (${letter.kind}) came back: ${report!.words}`
      : 'That reports no letter of this store: nothing was noted.',
  };
}

function parseAddress(text: string): string {
  if (!isSendable(text)) throw new InvalidArgumentError('It must be an e-mail address.');
  return text;
}

async function tryMail(to: string, options: StoreOptions): Promise<void> {
  const { mail, mail_password, file } = readConfiguration(configurationFile(options.config));
  if (!mail) throw new Failure(`mail is off: ${file} has no mail (docs/mail.md)`);
  const id = randomId(LETTER_ID_PREFIX);
  const letter = { id, created_at: systemClock.now() };
  const message = messageOf(letter, mail, { to, name: PRODUCT, content: trialLetter({ say: ENGLISH }) });
  const steps: string[] = [];
  const trace = (line: string) => {
    steps.push(line);
    if (!options.json) console.log(line);
  };
  const { is, words } = await new SmtpTransport(mailServer(mail, mail_password)).send(message, { trace });
  if (options.json) console.log(JSON.stringify({ outcome: is, answer: words, letter: id, steps }));
  if (is !== 'sent') throw new Failure(`the letter was not sent: ${words}`);
  if (!options.json) console.log(`The letter was sent to ${to}: ${words}`);
}
