// Every page and form of the console: its path, who may, and what answers it.

import {
  accountPage,
  authenticatorPage,
  codesFile,
  codesPage,
  endOthers,
  passwordPage,
  sessionsPage,
  takeAuthenticator,
  takeNewCodes,
  takeNewPassword,
} from '../../administrators/pages/account.ts';
import {
  passkeysPage,
  removalPage,
  takePasskey,
  takeRemoval,
} from '../../administrators/pages/account-passkeys.ts';
import { form, page, type Route } from '../../administrators/pages/route.ts';
import { signOut } from '../../administrators/pages/sign-in.ts';
import { invitationsPage, invite, revokeInvitation } from '../../merchants/pages/invitations.ts';
import { changeState, merchantPage, stateQuestion } from '../../merchants/pages/merchant.ts';
import {
  makeKey,
  makingPage,
  revocationPage,
  revokeMerchantKey,
  rotateMerchantKey,
  rotationPage,
} from '../../merchants/pages/merchant-keys.ts';
import { merchantsPage } from '../../merchants/pages/merchants.ts';
import { decide, question } from '../../review/pages/decision.ts';
import { homePage } from '../../review/pages/home.ts';
import { claimOrRelease, paymentPage, takeNote } from '../../review/pages/payment.ts';
import { paymentsPage } from '../../review/pages/payments.ts';
import { download } from '../../review/pages/payments-export.ts';
import { newInQueue, queuePage } from '../../review/pages/queue.ts';
import { recordPage, takeRecord } from '../../review/pages/record-money.ts';
import { linePage, takeAccept, takeApproval, takeIgnore } from '../../statements/pages/statement-line.ts';
import { STATEMENTS_PATH } from '../../statements/pages/statement-lists.ts';
import { takeParts, takeReopen } from '../../statements/pages/statement-parts.ts';
import { statementsPage } from '../../statements/pages/statements.ts';
import { certainPage, takeCertain } from '../../statements/pages/statements-certain.ts';
import { downloadLines, exportPage } from '../../statements/pages/statements-export.ts';
import { importPage, takeFiles } from '../../statements/pages/statements-import.ts';
import { PASTE_PATH, pastePage, takeList } from '../../statements/pages/statements-paste.ts';
import { downloadReport, REPORT_PATH, reportPage } from '../../statements/pages/statements-report.ts';
import { EXPORT_FORMATS } from '../../web/row-writer.ts';
import {
  deliveryPage,
  disablePage,
  disableWebhook,
  enablePage,
  enableWebhook,
  resendAll,
  resendOne,
  resendPage,
} from '../../webhooks/pages/webhook-acts.ts';
import { endpointPage, WEBHOOKS, webhooksPage } from '../../webhooks/pages/webhooks.ts';
import { auditPage, checkpoints, publicKey, verify } from './audit-log.ts';
import { healthPage } from './health.ts';

const PAYMENT = '/payments/:payment_id';
const MERCHANT = '/merchants/:merchant_id';
const KEY = `${MERCHANT}/keys/:key_id`;
const ENDPOINT = `${WEBHOOKS}/:endpoint_id`;
const LINE = `${STATEMENTS_PATH}/lines/:line_id`;
const DELIVERY = `${ENDPOINT}/deliveries/:delivery_id`;

export const routes: readonly Route[] = [
  page('/', 'read', homePage),
  page('/health', 'read', healthPage),
  form('/sign-out', 'read', signOut, '/'),

  page('/queue', 'read', queuePage),
  { ...page('/queue/new', 'read', newInQueue), isBackground: true },
  page('/payments', 'read', paymentsPage),
  ...EXPORT_FORMATS.map((format) => ({
    ...page(`/payments.${format}`, 'read', (context) => download(context, format)),
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

  page(STATEMENTS_PATH, 'read', statementsPage),
  page(`${STATEMENTS_PATH}/import`, 'decide', (context) => importPage(context)),
  { ...form(`${STATEMENTS_PATH}/import`, 'decide', takeFiles), takesFiles: true },
  page(PASTE_PATH, 'decide', (context) => pastePage(context)),
  { ...form(PASTE_PATH, 'decide', takeList), takesFiles: true },
  page(`${STATEMENTS_PATH}/certain`, 'decide', certainPage),
  form(`${STATEMENTS_PATH}/certain`, 'decide', takeCertain),
  page(`${STATEMENTS_PATH}/export`, 'read', exportPage),
  ...EXPORT_FORMATS.map((format) => ({
    ...page(`${STATEMENTS_PATH}/lines.${format}`, 'read', (context) => downloadLines(context, format)),
    isTold: true as const,
  })),
  page(REPORT_PATH, 'read', reportPage),
  ...EXPORT_FORMATS.map((format) => ({
    ...page(`${REPORT_PATH}.${format}`, 'read', (context) => downloadReport(context, format)),
    isTold: true as const,
  })),
  page(LINE, 'read', (context) => linePage(context)),
  form(`${LINE}/accept`, 'decide', takeAccept, LINE),
  form(`${LINE}/approve`, 'decide', takeApproval, LINE),
  form(`${LINE}/ignore`, 'decide', takeIgnore, LINE),
  form(`${LINE}/split`, 'decide', takeParts, LINE),
  form(`${LINE}/reopen`, 'decide', takeReopen, LINE),

  page('/audit', 'read', auditPage),
  form('/audit/verify', 'read', verify, '/audit'),
  page('/audit/checkpoints', 'read', checkpoints),
  page('/audit/key', 'read', publicKey),

  page('/merchants', 'read', merchantsPage),
  page(MERCHANT, 'read', merchantPage),
  page(`${MERCHANT}/suspend`, 'administer', (context) => stateQuestion(context, 'suspend')),
  form(`${MERCHANT}/suspend`, 'administer', (context) => changeState(context, 'suspend')),
  page(`${MERCHANT}/resume`, 'administer', (context) => stateQuestion(context, 'resume')),
  form(`${MERCHANT}/resume`, 'administer', (context) => changeState(context, 'resume')),
  page(`${MERCHANT}/keys/new`, 'administer', makingPage),
  form(`${MERCHANT}/keys/new`, 'administer', makeKey),
  page(`${KEY}/rotate`, 'administer', rotationPage),
  form(`${KEY}/rotate`, 'administer', rotateMerchantKey),
  page(`${KEY}/revoke`, 'administer', revocationPage),
  form(`${KEY}/revoke`, 'administer', revokeMerchantKey),
  page('/invitations', 'administer', invitationsPage),
  form('/invitations', 'administer', invite),
  form('/invitations/:invite_id/revoke', 'administer', revokeInvitation, '/invitations'),

  page(WEBHOOKS, 'read', webhooksPage),
  page(ENDPOINT, 'read', endpointPage),
  page(`${ENDPOINT}/disable`, 'administer', disablePage),
  form(`${ENDPOINT}/disable`, 'administer', disableWebhook),
  page(`${ENDPOINT}/enable`, 'administer', enablePage),
  form(`${ENDPOINT}/enable`, 'administer', enableWebhook),
  page(`${ENDPOINT}/resend`, 'administer', resendPage),
  form(`${ENDPOINT}/resend`, 'administer', resendAll),
  page(DELIVERY, 'read', deliveryPage),
  form(`${DELIVERY}/resend`, 'administer', resendOne, DELIVERY),

  page('/account', 'read', accountPage),
  page('/account/password', 'read', passwordPage),
  form('/account/password', 'read', takeNewPassword),
  page('/account/authenticator', 'read', authenticatorPage),
  form('/account/authenticator', 'read', takeAuthenticator),
  page('/account/recovery-codes', 'read', codesPage),
  form('/account/recovery-codes', 'read', takeNewCodes),
  form('/account/recovery-codes/file', 'read', codesFile, '/account/recovery-codes'),
  page('/account/passkeys', 'read', passkeysPage),
  form('/account/passkeys', 'read', takePasskey),
  page('/account/passkeys/remove', 'read', removalPage),
  form('/account/passkeys/remove', 'read', takeRemoval),
  page('/account/sessions', 'read', sessionsPage),
  form('/account/sessions', 'read', endOthers),
];
