// The console's pages of review: the path of each, who may, and what answers it.
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import { EXPORT_FORMATS } from '../../web/row-writer.ts';
import type { ReviewContext, ReviewParts } from './context.ts';
import { decide, question } from './decision.ts';
import { toNext } from './done.ts';
import { homePage } from './home.ts';
import { claimOrRelease, paymentPage, takeNote } from './payment.ts';
import { download, paymentsPage } from './payments.ts';
import { newInQueue, queuePage } from './queue.ts';
import { recordPage, takeRecord } from './record-money.ts';

const PAYMENT = '/payments/:payment_id';

const routes: readonly Route<ReviewContext>[] = [
  page<ReviewContext>('/', 'read', homePage),
  page<ReviewContext>('/queue', 'read', queuePage),
  page<ReviewContext>('/queue/next', 'read', toNext),
  { ...page<ReviewContext>('/queue/new', 'read', newInQueue), isBackground: true },
  page<ReviewContext>('/payments', 'read', paymentsPage),
  ...EXPORT_FORMATS.map((format) => ({
    ...page<ReviewContext>(`/payments.${format}`, 'read', (context) => download(context, format)),
    isTold: true as const,
  })),
  page<ReviewContext>(PAYMENT, 'read', paymentPage),
  form<ReviewContext>(`${PAYMENT}/notes`, 'decide', takeNote, PAYMENT),
  form<ReviewContext>(`${PAYMENT}/claim`, 'decide', (context) => claimOrRelease(context, 'claim'), PAYMENT),
  form<ReviewContext>(
    `${PAYMENT}/release`,
    'decide',
    (context) => claimOrRelease(context, 'release'),
    PAYMENT,
  ),
  page<ReviewContext>(`${PAYMENT}/approve`, 'decide', (context) => question(context, 'approve')),
  form<ReviewContext>(`${PAYMENT}/approve`, 'decide', (context) => decide(context, 'approve')),
  page<ReviewContext>(`${PAYMENT}/record`, 'decide', recordPage),
  form<ReviewContext>(`${PAYMENT}/record`, 'decide', takeRecord),
  page<ReviewContext>(`${PAYMENT}/reject`, 'decide', (context) => question(context, 'reject')),
  form<ReviewContext>(`${PAYMENT}/reject`, 'decide', (context) => decide(context, 'reject')),
];

/** The routes, which are given `parts`. */
export const reviewRoutes = (parts: ReviewParts): Route[] => withParts(parts, routes);
