// The check of mail: whether the server that letters leave by is there, speaks TLS, and lets this installation sign in.
import { inTime } from '../../lib/in-time.ts';
import { SmtpTransport } from '../../mail/smtp.ts';
import { mailServer } from '../settings/mail.ts';
import { type Check, failed, ok, skipped, warning } from './check.ts';

const mail: Check = {
  id: 'mail',
  about: 'Mail server',
  stage: 'later',
  isRemote: true,
  async look({ settings, deadlineMs }) {
    const { mail, mail_password, written, environment } = settings;
    if (!mail)
      return environment === 'development'
        ? skipped('Mail is off: letters lie at /dev/mail')
        : warning(
            'Mail is off: neither customers nor merchants nor administrators are written to',
            'set mail (docs/mail.md)',
          );
    const place = written.place(['mail']);
    const fix = 'see what it answers: counterfoil mail test ADDRESS';
    let server: ReturnType<typeof mailServer>;
    try {
      server = mailServer(mail, mail_password);
    } catch {
      return failed(
        'The file of mail.password_file cannot be read',
        'let the account that serves read it',
        place,
      );
    }
    const late = () => `${mail.host} did not answer in time`;
    const fault = await inTime(deadlineMs, new SmtpTransport(server).look(), late);
    if (fault !== undefined)
      return failed(`${mail.host}:${mail.port}: ${fault.replace(/[.\s]+$/, '')}`, fix, place);
    return ok(`${mail.host} takes letters from ${mail.from}`);
  },
};

export const MAIL_CHECKS: readonly Check[] = [mail];
