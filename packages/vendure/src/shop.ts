// The shop that the plugin stands in: its client, its orders with their payments, and the payment method that staff made.
import type { Counterfoil, Payment } from '@counterfoil/client';
import { Inject, Injectable } from '@nestjs/common';
import {
  ChannelService,
  ConfigService,
  type ID,
  type Order,
  OrderService,
  PaymentMethodService,
  type RequestContext,
} from '@vendure/core';
import { misfitOf, orderReferenceOf } from './cart.ts';
import { type CounterfoilPluginOptions, clientOf, OPTIONS } from './options.ts';

/** The code of the payment method handler. */
export const HANDLER_CODE = 'counterfoil';

@Injectable()
export class Shop {
  readonly client: Counterfoil;

  constructor(
    @Inject(OPTIONS) readonly options: CounterfoilPluginOptions,
    private readonly orders: OrderService,
    private readonly methods: PaymentMethodService,
    private readonly channels: ChannelService,
    private readonly config: ConfigService,
  ) {
    this.client = clientOf(options);
  }

  /** Decimals that Vendure keeps of every amount. */
  get precision(): number {
    return this.config.entityOptions.moneyStrategy.precision ?? 2;
  }

  /** What names this shop in the metadata of payments: the token of its default channel. */
  async token(): Promise<string> {
    return (await this.channels.getDefaultChannel()).token;
  }

  /** An order with its lines and payments. Throws where the channel of the context has none. */
  async orderOf(ctx: RequestContext, id: ID): Promise<Order> {
    const order = await this.orders.findOne(ctx, id);
    if (!order) throw new Error(`no order ${id}`);
    order.payments = await this.orders.getOrderPayments(ctx, id);
    return order;
  }

  /** The code of the payment method with this plugin's handler, where the order may be paid with it. */
  async methodOf(ctx: RequestContext, order: Order): Promise<string | undefined> {
    const { items } = await this.methods.findAll(ctx);
    const ours = items.filter(({ enabled, handler }) => enabled && handler.code === HANDLER_CODE);
    const quotes = await this.methods.getEligiblePaymentMethods(ctx, order);
    return ours.find(({ code }) => quotes.some((quote) => quote.code === code && quote.isEligible))?.code;
  }

  /** Why a payment does not pay for an order as it is now; undefined where it does. */
  async misfitOf(payment: Payment, order: Order): Promise<string | undefined> {
    return misfitOf(payment, order, { shop: await this.token(), precision: this.precision });
  }

  /** The payments that this shop asked for of an order, newest first. */
  async paymentsOf(order: Order): Promise<Payment[]> {
    const shop = await this.token();
    const found: Payment[] = [];
    for await (const payment of this.client.payments.list({ merchant_reference: order.code }))
      if (orderReferenceOf(payment)?.shop === shop) found.push(payment);
    return found;
  }
}
