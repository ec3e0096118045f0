// The console's pages of webhooks: the path of each, who may, and what answers it.
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import type { WebhookContext, WebhookParts } from './context.ts';
import {
  deliveryPage,
  disablePage,
  disableWebhook,
  enablePage,
  enableWebhook,
  resendAll,
  resendOne,
  resendPage,
} from './webhook-acts.ts';
import { endpointPage, WEBHOOKS, webhooksPage } from './webhooks.ts';

const ENDPOINT = `${WEBHOOKS}/:endpoint_id`;
const DELIVERY = `${ENDPOINT}/deliveries/:delivery_id`;

const routes: readonly Route<WebhookContext>[] = [
  page<WebhookContext>(WEBHOOKS, 'read', webhooksPage),
  page<WebhookContext>(ENDPOINT, 'read', endpointPage),
  page<WebhookContext>(`${ENDPOINT}/disable`, 'administer', disablePage),
  form<WebhookContext>(`${ENDPOINT}/disable`, 'administer', disableWebhook),
  page<WebhookContext>(`${ENDPOINT}/enable`, 'administer', enablePage),
  form<WebhookContext>(`${ENDPOINT}/enable`, 'administer', enableWebhook),
  page<WebhookContext>(`${ENDPOINT}/resend`, 'administer', resendPage),
  form<WebhookContext>(`${ENDPOINT}/resend`, 'administer', resendAll),
  page<WebhookContext>(DELIVERY, 'read', deliveryPage),
  form<WebhookContext>(`${DELIVERY}/resend`, 'administer', resendOne, DELIVERY),
];

/** The routes, which are given `parts`. */
export const webhookRoutes = (parts: WebhookParts): Route[] => withParts(parts, routes);
