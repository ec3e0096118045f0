// The console's pages about the installation: the path of each, who may, and what answers it.
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import { auditPage, checkpoints, publicKey, verify } from './audit-log.ts';
import type { InstallationContext, InstallationParts } from './context.ts';
import { healthPage } from './health.ts';

const routes: readonly Route<InstallationContext>[] = [
  page<InstallationContext>('/health', 'read', healthPage),
  page<InstallationContext>('/audit', 'read', auditPage),
  form<InstallationContext>('/audit/verify', 'read', verify, '/audit'),
  page<InstallationContext>('/audit/checkpoints', 'read', checkpoints),
  page<InstallationContext>('/audit/key', 'read', publicKey),
];

/** The routes, which are given `parts`. */
export const installationRoutes = (parts: InstallationParts): Route[] => withParts(parts, routes);
