// Mail of an installation: how letters leave, the worker that sends them, and what administrators are alerted of.

import { lastVerification } from '../journal/background-verification.ts';
import type { Journal } from '../journal/journal.ts';
import { newestEntry } from '../journal/queries.ts';
import type { Logger } from '../lib/log.ts';
import { inSequence, Rounds } from '../lib/rounds.ts';
import { type Clock, HOUR_MS } from '../lib/time.ts';
import { DEV_MAIL_PATH, DevMail } from '../mail/dev-mail.ts';
import { LETTERS_KEPT_MS } from '../mail/letter.ts';
import { composer } from '../mail/letters/compose.ts';
import { linkCounter } from '../mail/link-limit.ts';
import type { MailTransport } from '../mail/message.ts';
import { removeLettersBefore } from '../mail/queries.ts';
import { SmtpTransport } from '../mail/smtp.ts';
import { type Alert, Timed } from '../mail/timed.ts';
import { MailWorker } from '../mail/worker.ts';
import type { Directory } from '../merchants/directory.ts';
import type { Offer } from '../payments/methods/offer.ts';
import type { Payment } from '../payments/payment.ts';
import type { ReviewFigures } from '../review/figures.ts';
import { BACKUP_MAXIMUM_MS, newestBackupAt } from './checks/folder-checks.ts';
import type { Configuration } from './config.ts';
import { mailServer } from './settings/operation.ts';
import type { Places } from './settings/places.ts';
import type { Base } from './work.ts';

/** What letters of a development server without a mail server say they are from. */
const DEV_FROM = 'counterfoil@localhost.example';

/** How the letters of an installation leave. */
export interface Mail {
  /** Undefined where mail is off. */
  transport: MailTransport | undefined;
  /** Where letters lie in development without a mail server. */
  dev: DevMail | undefined;
  from: string;
  /** Counts a link before it is sent, by API or console. Throws `conflict` where the letter would not leave, and `rate_limited`. */
  countLink(payment: Payment): void;
  /** Attempts of this node, by what came of them; undefined where mail is off. */
  counters: MailWorker['counters'] | undefined;
}

function mailOf(
  { mail, mail_password, environment }: Configuration,
  { checkoutBaseUrl }: Pick<Places, 'checkoutBaseUrl'>,
  log: Pick<Logger, 'info'>,
): Omit<Mail, 'counters' | 'countLink'> {
  if (mail)
    return { transport: new SmtpTransport(mailServer(mail, mail_password)), dev: undefined, from: mail.from };
  const dev = environment === 'development' ? new DevMail(log, checkoutBaseUrl + DEV_MAIL_PATH) : undefined;
  return { transport: dev, dev, from: DEV_FROM };
}

interface MailBase extends Pick<Base, 'configuration' | 'database' | 'ring' | 'undo'> {
  journal: Journal;
  clock: Clock;
  log: Logger;
  directory: Directory;
  offer: Offer;
  figures: ReviewFigures;
  places: Places;
  /** Called after each commit of this node. */
  woken: (() => void)[];
}

/** Removes the letters of before mail was switched off, as the worker does, when they are old. */
const removerOf = ({ journal, clock, log }: MailBase) =>
  inSequence(
    async () => {
      const old = clock.now() - LETTERS_KEPT_MS;
      while ((await journal.commitAside((transaction) => removeLettersBefore(transaction, old))) > 0) {}
    },
    log,
    'old letters are removed later',
  );

/** Begins to send letters, unless mail is off. What happens from here on is told, so no request is taken before. Throws `DatabaseError`. */
export async function startMail(base: MailBase): Promise<Mail> {
  const { configuration, directory, figures, places, clock, woken, undo, log } = base;
  const left = mailOf(configuration, places, log);
  const { transport, from } = left;
  const writesOfTests = configuration.environment === 'development';
  const takes = (address: string) => transport?.takes(address) ?? false;
  const rules = { directory, writesOfTests, takes };
  const mail = { ...left, countLink: linkCounter(clock, rules) };
  if (!transport) {
    undo.stopping(new Rounds(removerOf(base), HOUR_MS)).start();
    return { ...mail, counters: undefined };
  }
  const { time_zone: timeZone } = configuration;
  const worker = new MailWorker({
    ...{ ...base, transport, begins: await newestEntry(base.database) },
    compose: composer({
      ...{ ...base, ...rules, ...places, from, timeZone },
      consoleBaseUrl: places.baseUrls.console,
      queue: () => figures.waiting(),
    }),
    timed: new Timed({
      ...{ ...base, timeZone },
      waiting: async () => (await figures.waiting()).count,
      alerts: () => alertsOf(configuration, clock.now()),
    }),
  });
  worker.start();
  woken.push(() => worker.wake());
  undo.add(() => worker.stop());
  return { ...mail, counters: worker.counters };
}

/** What is wrong with an installation that its administrators are written to about. */
async function alertsOf({ storage, backups }: Configuration, now: number): Promise<Alert[]> {
  const newest = backups === null ? undefined : await newestBackupAt(backups, now).catch(() => 0);
  return [
    ...(lastVerification(storage)?.intact === false ? (['history_broken'] as const) : []),
    ...(newest !== undefined && now - newest > BACKUP_MAXIMUM_MS + HOUR_MS ? (['backup_old'] as const) : []),
  ];
}
