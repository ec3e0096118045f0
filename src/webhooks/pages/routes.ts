// The console's pages of webhooks: the path of each, who may, and what answers it.
import { actPages } from '../../administrators/pages/act-pages.ts';
import { literal } from '../../administrators/pages/parts.ts';
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import { html } from '../../lib/html.ts';
import { ENDPOINT_ACTS } from '../acts.ts';
import type { Endpoint } from '../endpoint.ts';
import {
  deliveryPage,
  endpointNamed,
  endpointPage,
  resendOne,
  WEBHOOKS,
  type WebhookContext,
  type WebhookParts,
  webhooksPage,
} from './webhooks.ts';

const ENDPOINT = `${WEBHOOKS}/:endpoint_id`;
const DELIVERY = `${ENDPOINT}/deliveries/:delivery_id`;

const routes: readonly Route<WebhookContext>[] = [
  page<WebhookContext>(WEBHOOKS, 'read', webhooksPage),
  page<WebhookContext>(ENDPOINT, 'read', endpointPage),
  ...actPages<WebhookContext, Endpoint>(ENDPOINT_ACTS, {
    place: '/merchants',
    find: endpointNamed,
    head: ({ url }, { title, lead }) => ({
      title,
      heading: html`${title}`,
      lead: html`<p>${literal(url)}</p>\n<p>${lead}</p>`,
    }),
  }),
  page<WebhookContext>(DELIVERY, 'read', deliveryPage),
  form<WebhookContext>(`${DELIVERY}/resend`, 'administer', resendOne, DELIVERY),
];

/** The routes, which are given `parts`. */
export const webhookRoutes = (parts: WebhookParts): Route[] => withParts(parts, routes);
