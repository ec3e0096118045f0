// What the console's pages of webhooks are given.
import type { Context } from '../../administrators/pages/route.ts';
import type { Directory } from '../../merchants/directory.ts';

export interface WebhookParts {
  directory: Directory;
}

export type WebhookContext = Context & WebhookParts;
