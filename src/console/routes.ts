// Every page of the console and every form of theirs, for the guard to register.
import { accountRoutes } from './account.ts';
import { auditRoutes } from './audit-log.ts';
import { healthRoutes } from './health.ts';
import { homeRoutes } from './home.ts';
import { invitationRoutes } from './invitations.ts';
import { merchantRoutes } from './merchant.ts';
import { merchantKeyRoutes } from './merchant-keys.ts';
import { merchantListRoutes } from './merchants.ts';
import { paymentRoutes } from './payment.ts';
import { paymentListRoutes } from './payments.ts';
import { exportRoutes } from './payments-export.ts';
import { queueRoutes } from './queue.ts';
import type { Route } from './route.ts';
import { signOutRoutes } from './sign-in.ts';

export const routes: readonly Route[] = [
  ...homeRoutes,
  ...queueRoutes,
  ...paymentListRoutes,
  ...exportRoutes,
  ...paymentRoutes,
  ...auditRoutes,
  ...merchantListRoutes,
  ...merchantRoutes,
  ...merchantKeyRoutes,
  ...invitationRoutes,
  ...healthRoutes,
  ...signOutRoutes,
  ...accountRoutes,
];
