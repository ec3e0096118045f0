// Every room of the house, and what each brings to the console.

import type { Route } from '../administrators/pages/route.ts';
import { accountRoutes } from '../administrators/pages/routes.ts';
import type { MerchantParts } from '../merchants/pages/context.ts';
import { merchantRoutes } from '../merchants/pages/routes.ts';
import { reviewRoutes } from '../review/pages/routes.ts';
import type { StatementParts } from '../statements/pages/context.ts';
import { statementRoutes } from '../statements/pages/routes.ts';
import { webhookRoutes } from '../webhooks/pages/routes.ts';
import type { InstallationParts } from './pages/context.ts';
import { installationRoutes } from './pages/routes.ts';

/** What the pages of all rooms need besides what every page works with. */
export interface RoomParts extends StatementParts, MerchantParts, InstallationParts {}

/** Every page and form of the console. */
export function consoleRoutes(parts: RoomParts): Route[] {
  return [
    ...reviewRoutes(parts),
    ...statementRoutes(parts),
    ...merchantRoutes(parts),
    ...webhookRoutes(parts),
    ...installationRoutes(parts),
    ...accountRoutes,
  ];
}
