// Every room of the house: what each brings to the console, and its routine acts.

import { accountRoutes } from '../administrators/pages/account.ts';
import { form, page, type Route, withParts } from '../administrators/pages/route.ts';
import { type MailPageParts, mailPages } from '../mail/pages/letters.ts';
import { MERCHANT_ACTS } from '../merchants/acts.ts';
import type { MerchantParts } from '../merchants/pages/merchant-keys.ts';
import { merchantRoutes } from '../merchants/pages/routes.ts';
import { reviewRoutes } from '../review/pages/routes.ts';
import { statementRoutes } from '../statements/pages/routes.ts';
import type { StatementParts } from '../statements/pages/statement-page.ts';
import type { Acts } from '../web/act.ts';
import { ENDPOINT_ACTS } from '../webhooks/acts.ts';
import { webhookRoutes } from '../webhooks/pages/routes.ts';
import { auditPage, checkpoints, publicKey, verify } from './pages/audit-log.ts';
import { healthPage, type InstallationContext, type InstallationParts } from './pages/health.ts';

/** The routine acts of all rooms, for the documents and the test of permissions. */
export const ROUTINE_ACTS: readonly Acts<never>[] = [MERCHANT_ACTS, ENDPOINT_ACTS];

/** What the pages of all rooms need besides what every page works with. */
export interface RoomParts extends StatementParts, MerchantParts, InstallationParts, MailPageParts {}

/** Every page and form of the console. */
export function consoleRoutes(parts: RoomParts): Route[] {
  return [
    ...reviewRoutes(parts),
    ...statementRoutes(parts),
    ...merchantRoutes(parts),
    ...webhookRoutes(parts),
    ...mailPages(parts),
    ...installationRoutes(parts),
    ...accountRoutes,
  ];
}

const routes: readonly Route<InstallationContext>[] = [
  page<InstallationContext>('/health', 'read', healthPage),
  page<InstallationContext>('/audit', 'read', auditPage),
  form<InstallationContext>('/audit/verify', 'read', verify, '/audit'),
  page<InstallationContext>('/audit/checkpoints', 'read', checkpoints),
  page<InstallationContext>('/audit/key', 'read', publicKey),
];

/** The routes, which are given `parts`. */
const installationRoutes = (parts: InstallationParts): Route[] => withParts(parts, routes);
