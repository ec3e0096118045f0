// The endpoint by which a merchant's server has the link of a payment sent to its customer.
import { type AnswerOnce, actOf, paymentAnswer, tenantOf } from '../../payments/api/once.ts';
import { paymentAnswerSchema } from '../../payments/api/payments.ts';
import { isPaymentId, type Payment } from '../../payments/payment.ts';
import { sendLink } from '../../payments/send-link.ts';
import { paymentNotFound } from '../../payments/transition.ts';
import { type ApiEndpoint, endpoint } from '../../web/endpoint.ts';
import { mailIsOff } from '../link-limit.ts';

export interface SendLinkRoutes {
  checkoutBaseUrl: string;
  mail: {
    /** Undefined where no letter leaves. */
    transport: object | undefined;
    /** Counts a link before it is sent. Throws `conflict` and `rate_limited`. */
    countLink(payment: Payment): void;
  };
}

export function sendLinkEndpoint({ checkoutBaseUrl, mail }: SendLinkRoutes, once: AnswerOnce): ApiEndpoint {
  return endpoint('POST /v1/payments/{payment_id}/send_link', {
    id: 'sendPaymentLink',
    summary: "Send the link of a pending payment to its customer's email address",
    description:
      'To `customer.email` alone, in the language of the payment, with its description. ' +
      '409 `conflict` where no letter would leave: mail is off, `letters_off` of the merchant has `link`, ' +
      'or it is a test payment in production and not the confirmed address of the merchant. ' +
      'A request body is ignored.',
    once: true,
    answers: {
      200: { description: 'The letter is on its way.', body: ['PaymentAnswer', paymentAnswerSchema] },
    },
    errors: ['not_found', 'invalid_status', 'conflict'],
    handle({ request, reply }) {
      const { payment_id } = request.params;
      if (!isPaymentId(payment_id)) throw paymentNotFound();
      if (!mail.transport) throw mailIsOff();
      const tenant = tenantOf(request);
      const act = actOf(request);
      const route = 'POST /v1/payments/:payment_id/send_link';
      return once(request, reply, { route, body: payment_id, row: payment_id }, async (transaction) => {
        const facts = { key: request.caller.key.id };
        const payment = await sendLink(transaction, tenant, payment_id, act, facts);
        mail.countLink(payment);
        return paymentAnswer(payment, 200, checkoutBaseUrl, transaction.now);
      });
    },
  });
}
