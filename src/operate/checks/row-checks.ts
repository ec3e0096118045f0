// Every table that verifying holds against the history: one list for the command, the console and the tests.

import { verifyAdministrators } from '../../administrators/verify.ts';
import { verifySecretKeys } from '../../journal/keys/verify.ts';
import type { RowCheck } from '../../journal/rows.ts';
import { verifyMerchants } from '../../merchants/verify.ts';
import { verifyKeptAnswers, verifyPayments } from '../../payments/verify.ts';
import { verifyStatements } from '../../statements/verify.ts';
import { verifyEndpoints } from '../../webhooks/verify.ts';

export const ROW_CHECKS: readonly RowCheck[] = [
  verifyPayments,
  verifyKeptAnswers,
  ...verifyMerchants,
  ...verifyAdministrators,
  verifySecretKeys,
  verifyEndpoints,
  ...verifyStatements,
];
