// Approved payments: each is added to its order once, and what has no place is told to the shop's staff once.
import type { Payment } from '@counterfoil/client';
import { Injectable } from '@nestjs/common';
import {
  EventBus,
  HistoryService,
  type ID,
  isGraphQlErrorResult,
  Logger,
  Order,
  OrderService,
  type RequestContext,
  RequestContextService,
  TransactionalConnection,
  VendureEvent,
} from '@vendure/core';
import { amountText, orderReferenceOf, unitsOf } from './cart.ts';
import { Misfit } from './handler.ts';
import { Shop } from './shop.ts';

const LOG = 'Counterfoil';

/** Money has come that pays for no order. It is published once for a payment, after the order has a note of it. */
export class CounterfoilMoneyEvent extends VendureEvent {
  constructor(
    readonly ctx: RequestContext,
    /** Undefined where the order is gone. */
    readonly order: Order | undefined,
    readonly payment: Payment,
    /** Why it pays for nothing, and what to do. */
    readonly message: string,
  ) {
    super();
  }
}

@Injectable()
export class Settlement {
  /** The work that is done last of what is begun. */
  #last: Promise<void> = Promise.resolve();

  constructor(
    private readonly shop: Shop,
    private readonly orders: OrderService,
    private readonly history: HistoryService,
    private readonly contexts: RequestContextService,
    private readonly connection: TransactionalConnection,
    private readonly events: EventBus,
  ) {}

  /**
   * Adds an approved payment to its order. Where it is there already, nothing happens; where it does not fit the order, a private note on
   * the order says why. Payments of other shops are left alone. Throws where it may succeed later.
   */
  settle(payment: Payment): Promise<void> {
    // One after another, because on SQLite all transactions of a process are one.
    const turn = this.#last.then(() => this.#settle(payment));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #settle(payment: Payment): Promise<void> {
    const reference = orderReferenceOf(payment);
    if (payment.status !== 'approved' || reference?.shop !== (await this.shop.token())) return;
    const ctx = await this.contexts.create({ apiType: 'admin', channelOrToken: reference.channel });
    const order = await this.orders.findOneByCode(ctx, payment.merchant_reference ?? '');
    if (!order) return this.#publish(ctx, undefined, payment, 'its order is gone');
    try {
      await this.connection.withTransaction(ctx, (inner) => this.#add(inner, order.id, payment));
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      return this.#tell(ctx, order, payment, error.message);
    }
    const { precision } = this.shop;
    const more = unitsOf(payment.amount_received, precision) - unitsOf(payment.amount, precision);
    if (more > 0)
      await this.#tell(ctx, order, payment, `${amountText(more, precision)} more came than was asked for`);
  }

  /** Throws `Misfit`, which undoes what was begun. */
  async #add(ctx: RequestContext, orderId: ID, payment: Payment): Promise<void> {
    await this.#lock(ctx, orderId);
    const order = await this.shop.orderOf(ctx, orderId);
    if (order.payments.some(({ transactionId }) => transactionId === payment.id)) return;
    const misfit = await this.shop.misfitOf(payment, order);
    if (misfit !== undefined) throw new Misfit(misfit);
    if (order.state === 'AddingItems') {
      const moved = await this.orders.transitionToState(ctx, orderId, 'ArrangingPayment');
      if (isGraphQlErrorResult(moved)) throw new Misfit(moved.transitionError);
    }
    const method = await this.shop.methodOf(ctx, order);
    if (method === undefined) throw new Misfit('no payment method of the order is Counterfoil’s any more');
    const added = await this.orders.addPaymentToOrder(ctx, orderId, {
      method,
      metadata: { payment_id: payment.id },
    });
    if (isGraphQlErrorResult(added)) throw new Misfit(added.message);
    Logger.info(`Payment ${payment.id} settles order ${order.code}`, LOG);
  }

  /** Webhooks that race at two servers wait for one another. An update locks the row on every database that Vendure has. */
  async #lock(ctx: RequestContext, orderId: ID): Promise<void> {
    await this.connection.getRepository(ctx, Order).update({ id: orderId }, { updatedAt: new Date() });
  }

  async #tell(ctx: RequestContext, order: Order, payment: Payment, reason: string): Promise<void> {
    const { id, amount_received, currency } = payment;
    const note = `Counterfoil ${id}: ${amount_received} ${currency} came, and ${reason}. Return it by hand and record that in Counterfoil.`;
    const isNew = await this.connection.withTransaction(ctx, async (inner) => {
      await this.#lock(inner, order.id);
      const { items } = await this.history.getHistoryForOrder(inner, order.id, false);
      if (items.some(({ data }) => `${data?.note}`.startsWith(`Counterfoil ${id}:`))) return false;
      await this.orders.addNoteToOrder(inner, { id: order.id, note, isPublic: false });
      return true;
    });
    if (isNew) await this.#publish(ctx, order, payment, note);
  }

  async #publish(ctx: RequestContext, order: Order | undefined, payment: Payment, message: string) {
    Logger.error(
      `Money has no place: payment ${payment.id}, order ${payment.merchant_reference}: ${message}`,
      LOG,
    );
    await this.events.publish(new CounterfoilMoneyEvent(ctx, order, payment, message));
  }
}
