// Every check there is, in the order in which a start asks those that refuse: what costs nothing first.

import { ADDRESS_CHECKS } from './address-checks.ts';
import { CERTIFICATE_CHECKS } from './certificate-checks.ts';
import type { Check } from './check.ts';
import { FILE_CHECKS, LATER_FILE_CHECKS } from './file-checks.ts';
import { PROCESS_CHECKS } from './process-checks.ts';
import { LATER_SETTINGS_CHECKS, READ_CHECKS, SETTINGS_CHECKS } from './settings-checks.ts';
import { LATER_STORE_CHECKS, STORE_CHECKS } from './store-checks.ts';

/** The one list: `serve`, `doctor` and the console's health page go through it. */
export const CHECKS: readonly Check[] = [
  ...READ_CHECKS,
  ...SETTINGS_CHECKS,
  ...PROCESS_CHECKS,
  ...FILE_CHECKS,
  ...STORE_CHECKS,
  ...LATER_SETTINGS_CHECKS,
  ...LATER_FILE_CHECKS,
  ...LATER_STORE_CHECKS,
  ...ADDRESS_CHECKS,
  ...CERTIFICATE_CHECKS,
];
