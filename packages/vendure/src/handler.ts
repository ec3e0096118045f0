// The payment method handler: it takes a payment for an order only where Counterfoil says that it is approved and fits.
import { type Injector, LanguageCode, PaymentMethodHandler } from '@vendure/core';
import { unitsOf } from './cart.ts';
import { HANDLER_CODE, Shop } from './shop.ts';

/** Thrown where money does not pay for an order. `message` is the reason, for the shop's staff. */
export class Misfit extends Error {}

let shop: Shop;

/** The handler of the shop's payment method. Nothing that the caller hands in is believed. */
export const counterfoilHandler = new PaymentMethodHandler({
  code: HANDLER_CODE,
  description: [
    { languageCode: LanguageCode.en, value: 'Counterfoil: payment requests that people review' },
    { languageCode: LanguageCode.de, value: 'Counterfoil: von Menschen geprüfte Zahlungsanforderungen' },
  ],
  args: {},
  init(injector: Injector) {
    shop = injector.get(Shop);
  },
  async createPayment(ctx, order, amount, _args, { payment_id: id }) {
    if (ctx.apiType !== 'admin' || typeof id !== 'string')
      throw new Misfit('The shop is told by Counterfoil itself: call createCounterfoilPayment');
    const payment = await shop.client.payments.read(id);
    if (payment.status !== 'approved') throw new Misfit(`payment ${id} is ${payment.status}`);
    const misfit = await shop.misfitOf(payment, order);
    if (misfit !== undefined) throw new Misfit(misfit);
    if (unitsOf(payment.amount, shop.precision) !== amount) throw new Misfit('another amount is to be paid');
    const metadata = { payment_id: id, amount_received: payment.amount_received };
    return { amount, state: 'Settled', transactionId: id, metadata };
  },
  settlePayment: () => ({ success: true }),
  cancelPayment: () => ({
    success: false,
    state: 'Settled',
    errorMessage:
      'The money has arrived, so the payment cannot be cancelled. Return it from your bank account.',
  }),
});
