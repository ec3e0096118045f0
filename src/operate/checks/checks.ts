// Every check there is, in the order in which a start asks those that refuse: what costs nothing first.

import { ADDRESS_CHECKS, MAIL_CHECKS } from './address-checks.ts';
import { BACKUP_CHECKS } from './backup-checks.ts';
import { CERTIFICATE_CHECKS, KEY_PAIR_CHECKS } from './certificate-checks.ts';
import type { Check } from './check.ts';
import { FILE_CHECKS } from './file-checks.ts';
import { HOST_CHECKS } from './host-checks.ts';
import { DATABASE_FILE_CHECKS, VOUCHED_CHECKS } from './lost-store.ts';
import { PLACE_CHECKS, READ_PLACE_CHECKS } from './place-checks.ts';
import { CLOCK_CHECKS, PROCESS_CHECKS } from './process-checks.ts';
import { SECRETS_CHECKS } from './sealed-secrets.ts';
import { LATER_SETTINGS_CHECKS, READ_CHECKS, SETTINGS_CHECKS } from './settings-checks.ts';
import { STATEMENT_FOLDER_CHECKS } from './statement-folder-check.ts';
import { INDEX_CHECKS, LATER_STORE_CHECKS, STORE_CHECKS, WEBHOOK_CHECKS } from './store-checks.ts';

/** The one list: `serve`, `doctor` and the console's health page go through it. */
export const CHECKS: readonly Check[] = [
  ...READ_CHECKS,
  ...READ_PLACE_CHECKS,
  ...SETTINGS_CHECKS,
  ...PLACE_CHECKS,
  ...PROCESS_CHECKS,
  ...FILE_CHECKS,
  ...KEY_PAIR_CHECKS,
  ...DATABASE_FILE_CHECKS,
  ...STORE_CHECKS,
  ...VOUCHED_CHECKS,
  ...INDEX_CHECKS,
  ...LATER_SETTINGS_CHECKS,
  ...BACKUP_CHECKS,
  ...STATEMENT_FOLDER_CHECKS,
  ...MAIL_CHECKS,
  ...LATER_STORE_CHECKS,
  ...SECRETS_CHECKS,
  ...WEBHOOK_CHECKS,
  ...HOST_CHECKS,
  ...CLOCK_CHECKS,
  ...ADDRESS_CHECKS,
  ...CERTIFICATE_CHECKS,
];
