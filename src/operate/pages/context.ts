// What the console's pages about the installation are given.
import type { Context } from '../../administrators/pages/route.ts';
import type { BackgroundVerification } from '../../journal/background-verification.ts';
import type { CheckpointLookup } from '../../journal/checkpoint.ts';
import type { Inspector } from '../checks/checks.ts';

export interface InstallationParts {
  /** The private directory, where checkpoints and the public key lie. */
  storage: string;
  checkpoints: CheckpointLookup;
  verification: BackgroundVerification;
  inspector: Inspector;
}

export type InstallationContext = Context & InstallationParts;
