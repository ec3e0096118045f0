// Links to checkout: made for an order as it is, replaced when its cart changes, cancelled when nobody shall pay by them.
import { ApiError, type Payment } from '@counterfoil/client';
import { Injectable } from '@nestjs/common';
import { type Order, type RequestContext, UserInputError } from '@vendure/core';
import { amountText, fingerprintOf, type OrderReference, outstandingOf, unitsOf } from './cart.ts';
import { Shop } from './shop.ts';

/** How often links are looked at anew because a customer paid by one that was being cancelled. */
const LOOKS_MAXIMUM = 3;

/** What a page of the shop shows of a payment. */
type PaymentState = 'OPEN' | 'CHECKING' | 'PAID' | 'ATTENTION' | 'REJECTED' | 'ENDED';

/** A payment as the shop API gives it. */
export interface PaymentView {
  state: PaymentState;
  checkoutUrl: string | null;
  amount: number;
  currencyCode: string;
  payBy: string | null;
  reviewMessage: string | null;
}

interface Known {
  payment: Payment;
  state: PaymentState;
}

/** The states in which a customer is not asked for money again; the first one counts. */
const STANDING: readonly PaymentState[] = ['PAID', 'ATTENTION', 'CHECKING', 'OPEN'];

@Injectable()
export class PaymentLinks {
  constructor(private readonly shop: Shop) {}

  /** The payment of an order that counts: what is paid or being checked before an open link, and that before what came to nothing. */
  async find(order: Order): Promise<Known | undefined> {
    const known = await this.#knownOf(order);
    for (const state of STANDING) {
      const found = known.find((one) => one.state === state);
      if (found) return found;
    }
    return known[0];
  }

  /**
   * The payment by which an order is to be paid as it is now. While an earlier one is being checked, or money that came has no place, it is
   * that one, so that nobody pays twice. Links of an earlier cart are cancelled. Throws `UserInputError` where nothing is to be paid.
   */
  async make(ctx: RequestContext, order: Order): Promise<Known> {
    for (let looks = 0; looks < LOOKS_MAXIMUM; looks++) {
      const known = await this.#knownOf(order);
      const standing = known.find(({ state }) => state !== 'PAID' && STANDING.includes(state));
      if (standing) return standing;
      if (outstandingOf(order) <= 0) throw new UserInputError('Nothing is to be paid of this order.');
      if (!(await this.#cancel(known))) continue;
      return { payment: await this.#create(ctx, order, known.length), state: 'OPEN' };
    }
    throw new Error(`links of order ${order.code} change faster than they are read`);
  }

  /** Cancels the links of an order by which nobody has paid. */
  async cancelOpen(order: Order): Promise<void> {
    const payments = await this.shop.paymentsOf(order);
    await this.#cancel(payments.map((payment) => ({ payment, state: 'OPEN' })));
  }

  viewOf({ payment, state }: Known): PaymentView {
    const isOpen = state === 'OPEN';
    return {
      state,
      checkoutUrl: isOpen ? payment.checkout_url : null,
      amount: unitsOf(payment.amount, this.shop.precision),
      currencyCode: payment.currency,
      payBy: isOpen ? payment.pay_by : null,
      reviewMessage: state === 'REJECTED' ? payment.review_message : null,
    };
  }

  async #knownOf(order: Order): Promise<Known[]> {
    const payments = await this.shop.paymentsOf(order);
    return Promise.all(
      payments.map(async (payment) => ({
        payment,
        state: stateOf(payment, order, (await this.shop.misfitOf(payment, order)) === undefined),
      })),
    );
  }

  /** Cancels those that are pending. False where a customer was faster. */
  async #cancel(known: readonly Known[]): Promise<boolean> {
    let isDone = true;
    for (const { payment } of known.filter(({ payment }) => payment.status === 'pending'))
      await this.shop.client.payments.cancel(payment.id).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.code === 'invalid_status')) throw error;
        isDone = false;
      });
    return isDone;
  }

  /** Two calls for one cart get one payment: the key is that of the order, its attempt and its cart. */
  async #create(ctx: RequestContext, order: Order, attempt: number): Promise<Payment> {
    const { options, client, precision } = this.shop;
    const shop = await this.shop.token();
    const reference: OrderReference = { shop, channel: ctx.channel.token, cart: await fingerprintOf(order) };
    const { customer } = order;
    const name = `${customer?.firstName ?? ''} ${customer?.lastName ?? ''}`.trim();
    return client.payments.create(
      {
        amount: amountText(outstandingOf(order), precision),
        currency: order.currencyCode,
        merchant_reference: order.code,
        return_url: options.returnUrl(order),
        cancel_url: options.returnUrl(order),
        locale: ctx.languageCode.replace('_', '-'),
        metadata: { vendure: reference },
        ...(customer && { customer: { name, email: customer.emailAddress } }),
        ...(options.expiresInS !== undefined && { expires_in: options.expiresInS }),
      },
      { idempotencyKey: ['vendure', shop, order.code, attempt, reference.cart].join('-') },
    );
  }
}

/** What a payment is to the order's customer. `isFit`: it pays for the order as it is now. */
function stateOf(payment: Payment, order: Order, isFit: boolean): PaymentState {
  const hasMoney = Number(payment.amount_received) > 0;
  if (order.payments.some(({ transactionId, state }) => transactionId === payment.id && state === 'Settled'))
    return 'PAID';
  switch (payment.status) {
    case 'requires_review':
      return 'CHECKING';
    case 'approved':
      if (!hasMoney && Number(payment.amount_returned) > 0) return 'ENDED';
      return isFit ? 'CHECKING' : 'ATTENTION';
    case 'rejected':
      return hasMoney ? 'ATTENTION' : 'REJECTED';
    case 'cancelled':
      return hasMoney ? 'CHECKING' : 'ENDED';
    default:
      if (hasMoney || payment.announced_at !== null) return 'CHECKING';
      return isFit ? 'OPEN' : 'ENDED';
  }
}
