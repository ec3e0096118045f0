// The console's pages of merchants: the path of each, who may, and what answers it.
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import type { MerchantContext, MerchantParts } from './context.ts';
import { invitationsPage, invite, revokeInvitation } from './invitations.ts';
import { changeState, merchantPage, stateQuestion } from './merchant.ts';
import {
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
  page<MerchantContext>(`${MERCHANT}/suspend`, 'administer', (context) => stateQuestion(context, 'suspend')),
  form<MerchantContext>(`${MERCHANT}/suspend`, 'administer', (context) => changeState(context, 'suspend')),
  page<MerchantContext>(`${MERCHANT}/resume`, 'administer', (context) => stateQuestion(context, 'resume')),
  form<MerchantContext>(`${MERCHANT}/resume`, 'administer', (context) => changeState(context, 'resume')),
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
