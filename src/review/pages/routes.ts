// The console's pages of review: the path of each, who may, and what answers it.
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import { EXPORT_FORMATS } from '../../web/row-writer.ts';
import type { ReviewContext, ReviewParts } from './context.ts';
import { decide, question } from './decision.ts';
import { toNext } from './done.ts';
import { homePage } from './home.ts';
import { claimOrRelease, paymentPage, takeNote } from './open-payment.ts';
import { download, paymentsPage } from './payments.ts';
import { newInQueue, queuePage } from './queue.ts';
import { recordPage, takeRecord } from './record-money.ts';

const PAYMENT = '/payments/:payment_id';

const routes: readonly Route<ReviewContext>[] = [
  page('/', 'read', homePage),
  page('/queue', 'read', queuePage),
  page('/queue/next', 'read', toNext),
  { ...page<ReviewContext>('/queue/new', 'read', newInQueue), isBackground: true },
  page('/payments', 'read', paymentsPage),
  ...EXPORT_FORMATS.map((format) => ({
    ...page<ReviewContext>(`/payments.${format}`, 'read', (context) => download(context, format)),
    isTold: true as const,
  })),
  page(PAYMENT, 'read', paymentPage),
  form(`${PAYMENT}/notes`, 'decide', takeNote, PAYMENT),
  form(`${PAYMENT}/claim`, 'decide', (context) => claimOrRelease(context, 'claim'), PAYMENT),
  form(`${PAYMENT}/release`, 'decide', (context) => claimOrRelease(context, 'release'), PAYMENT),
  page(`${PAYMENT}/approve`, 'decide', (context) => question(context, 'approve')),
  form(`${PAYMENT}/approve`, 'decide', (context) => decide(context, 'approve')),
  page(`${PAYMENT}/record`, 'decide', recordPage),
  form(`${PAYMENT}/record`, 'decide', takeRecord),
  page(`${PAYMENT}/reject`, 'decide', (context) => question(context, 'reject')),
  form(`${PAYMENT}/reject`, 'decide', (context) => decide(context, 'reject')),
];

/** The routes, which are given `parts`. */
export const reviewRoutes = (parts: ReviewParts): Route[] => withParts(parts, routes);
