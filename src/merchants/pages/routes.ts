// The console's pages of merchants: the path of each, who may, and what answers it.
import { actPages } from '../../administrators/pages/act-pages.ts';
import { said } from '../../administrators/pages/parts.ts';
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import { html } from '../../lib/html.ts';
import { type ActiveOrNot, MERCHANT_ACTS } from '../acts.ts';
import { invitationsPage, invite, revokeInvitation } from './invitations.ts';
import { merchantNamedIn, merchantPage } from './merchant.ts';
import {
  type MerchantContext,
  type MerchantParts,
  makeKey,
  makingPage,
  revocationPage,
  revokeMerchantKey,
  rotateMerchantKey,
  rotationPage,
} from './merchant-keys.ts';
import { merchantsPage } from './merchants.ts';

const MERCHANT = '/merchants/:merchant_id';
const KEY = `${MERCHANT}/keys/:key_id`;

const routes: readonly Route<MerchantContext>[] = [
  page<MerchantContext>('/merchants', 'read', merchantsPage),
  page<MerchantContext>(MERCHANT, 'read', merchantPage),
  ...actPages<MerchantContext, ActiveOrNot>(MERCHANT_ACTS, {
    place: '/merchants',
    find: merchantNamedIn,
    head: ({ name }, { title, lead }) => ({
      title: `${title} ${name}`,
      heading: html`${title} ${said(name)}`,
      lead: html`<p>${lead}</p>`,
    }),
  }),
  page<MerchantContext>(`${MERCHANT}/keys/new`, 'administer', makingPage),
  form<MerchantContext>(`${MERCHANT}/keys/new`, 'administer', makeKey),
  page<MerchantContext>(`${KEY}/rotate`, 'administer', rotationPage),
  form<MerchantContext>(`${KEY}/rotate`, 'administer', rotateMerchantKey),
  page<MerchantContext>(`${KEY}/revoke`, 'administer', revocationPage),
  form<MerchantContext>(`${KEY}/revoke`, 'administer', revokeMerchantKey),
  page<MerchantContext>('/invitations', 'administer', invitationsPage),
  form<MerchantContext>('/invitations', 'administer', invite),
  form<MerchantContext>('/invitations/:invite_id/revoke', 'administer', revokeInvitation, '/invitations'),
];

/** The routes, which are given `parts`. */
export const merchantRoutes = (parts: MerchantParts): Route[] => withParts(parts, routes);
