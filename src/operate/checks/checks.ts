// Every check there is, in the order in which a start asks those that refuse, and the inspector that asks all of them.

import { MINUTE_MS } from '../../lib/time.ts';
import { ADDRESS_CHECKS, HOST_CHECKS, MAIL_CHECKS } from './address-checks.ts';
import { CERTIFICATE_CHECKS, KEY_PAIR_CHECKS } from './certificate-checks.ts';
import type { Check, CheckOutcome, Subject, Verdict } from './check.ts';
import { FOLDER_CHECKS } from './folder-checks.ts';
import { MACHINE_CHECKS } from './machine-checks.ts';
import { SECRETS_CHECKS } from './sealed-secrets.ts';
import { LATER_SETTINGS_CHECKS, READ_CHECKS, SETTINGS_CHECKS } from './settings-checks.ts';
import { DATABASE_FILE_CHECKS, LATER_STORE_CHECKS, STORE_CHECKS, WEBHOOK_CHECKS } from './store-checks.ts';

/** The one list: `serve`, `doctor` and the console's health page go through it. */
export const CHECKS: readonly Check[] = [
  ...READ_CHECKS,
  ...SETTINGS_CHECKS,
  ...MACHINE_CHECKS,
  ...KEY_PAIR_CHECKS,
  ...DATABASE_FILE_CHECKS,
  ...STORE_CHECKS,
  ...LATER_SETTINGS_CHECKS,
  ...FOLDER_CHECKS,
  ...MAIL_CHECKS,
  ...LATER_STORE_CHECKS,
  ...SECRETS_CHECKS,
  ...WEBHOOK_CHECKS,
  ...HOST_CHECKS,
  ...ADDRESS_CHECKS,
  ...CERTIFICATE_CHECKS,
];

/** Calls to the installation's own addresses are not made more often. */
const REMEMBERED_MS = MINUTE_MS;

/** What a check found, and what it looked at. */
export interface Finding extends Verdict {
  id: string;
  about: string;
  /** Whether production would refuse to start for this. In development it is shown as a warning. */
  beforeProduction: boolean;
}

export class Inspector {
  readonly #subject: Subject;
  readonly #remembered = new Map<string, { at: number; finding: Promise<Finding> }>();

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /**
   * What all checks find now, or some, in their order. What those found that call addresses is remembered for a minute. Throws
   * nothing.
   */
  findings(checks: readonly Check[] = CHECKS): Promise<Finding[]> {
    return Promise.all(checks.map((check) => (check.isRemote ? this.#remember(check) : this.#ask(check))));
  }

  #remember(check: Check): Promise<Finding> {
    const now = this.#subject.clock.now();
    let known = this.#remembered.get(check.id);
    if (!known || now - known.at > REMEMBERED_MS) {
      known = { at: now, finding: this.#ask(check) };
      this.#remembered.set(check.id, known);
    }
    return known.finding;
  }

  async #ask({ id, about, stage, always, look }: Check): Promise<Finding> {
    let verdict: Verdict;
    try {
      verdict = await look(this.#subject);
    } catch (error) {
      const says = `It could not be looked at: ${(error as Error).message.split('\n')[0]}`;
      verdict = { is: 'failed', says, fix: 'fix what the other checks name first' };
    }
    const isTried = this.#subject.settings.environment === 'development';
    const beforeProduction = isTried && verdict.is === 'failed' && stage !== 'later' && !always;
    return {
      id,
      about,
      beforeProduction,
      ...verdict,
      ...(beforeProduction && { is: 'warning' as const }),
    };
  }
}

/** How many findings came to each outcome. */
export function tally(findings: readonly Finding[]): Record<CheckOutcome, number> {
  const counts: Record<CheckOutcome, number> = { ok: 0, warning: 0, failed: 0, skipped: 0 };
  for (const { is } of findings) counts[is]++;
  return counts;
}

/** A clause as a sentence of its own. */
export function sentence(clause: string): string {
  return `${clause}${/[.?!]$/.test(clause) ? '' : '.'}`;
}

/** What to do, as a sentence of its own. */
export function advice(clause: string): string {
  return sentence(clause.slice(0, 1).toUpperCase() + clause.slice(1));
}
