// What the console's pages about the installation are given.
import type { Context } from '../../administrators/pages/route.ts';
import type { BackgroundVerification } from '../../journal/background-verification.ts';
import type { CheckpointLookup } from '../../journal/checkpoint.ts';
import type { Inspector } from '../checks/checks.ts';

export interface InstallationParts {
  /** The private directory, where checkpoints and the public key lie. */
  storage: string;
  checkpoints: CheckpointLookup;
  /** Verifies the history in the background of this node. */
  verification: BackgroundVerification;
  /** Asks every check about this installation. */
  inspector: Inspector;
}

export type InstallationContext = Context & InstallationParts;
