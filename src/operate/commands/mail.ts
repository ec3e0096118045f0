// counterfoil mail: sends a letter to try the settings, and shows each step with the server's own words.
import { type Command, InvalidArgumentError } from 'commander';
import { randomId } from '../../lib/ids.ts';
import { systemClock } from '../../lib/time.ts';
import { LETTER_ID_PREFIX } from '../../mail/letter.ts';
import { messageOf } from '../../mail/letters/compose.ts';
import { PRODUCT, trialLetter } from '../../mail/letters/staff.ts';
import { isSendable } from '../../mail/message.ts';
import { SmtpTransport } from '../../mail/smtp.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { mailServer } from '../settings/mail.ts';
import { Failure } from './terminal.ts';
import { addCommands, newCommand } from './usage.ts';

export function mailCommand(): Command {
  const example = 'mail test you@example.com';
  const description = 'mail: the server that letters leave by';
  return addCommands(newCommand('mail', description, [example, `${example} --json`]), [
    newCommand('test', 'send a letter at once, and show what the server says at each step', [example])
      .argument('<address>', 'whom the letter goes to', parseAddress)
      .action(tryMail),
  ]);
}

function parseAddress(text: string): string {
  if (!isSendable(text)) throw new InvalidArgumentError('It must be an e-mail address.');
  return text;
}

async function tryMail(to: string, options: { config?: string; json?: boolean }): Promise<void> {
  const { mail, mail_password, file } = readConfiguration(configurationFile(options.config));
  if (!mail) throw new Failure(`mail is off: ${file} has no mail (docs/mail.md)`);
  const id = randomId(LETTER_ID_PREFIX);
  const letter = { id, created_at: systemClock.now() };
  const message = messageOf(letter, mail, { to, name: PRODUCT, content: trialLetter() });
  const steps: string[] = [];
  const { is, words } = await new SmtpTransport(mailServer(mail, mail_password)).send(message, (line) => {
    steps.push(line);
    if (!options.json) console.log(line);
  });
  if (options.json) console.log(JSON.stringify({ outcome: is, answer: words, letter: id, steps }));
  if (is !== 'sent') throw new Failure(`the letter was not sent: ${words}`);
  if (!options.json) console.log(`The letter was sent to ${to}: ${words}`);
}
