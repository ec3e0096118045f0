// The plugin: what Vendure is given, and what it does when orders end or money is to go back.
import type { OnApplicationBootstrap } from '@nestjs/common';
import {
  EventBus,
  Logger,
  OrderService,
  OrderStateTransitionEvent,
  PluginCommonModule,
  RefundEvent,
  type Type,
  VendurePlugin,
} from '@vendure/core';
import { amountText } from './cart.ts';
import { counterfoilHandler } from './handler.ts';
import { PaymentLinks } from './links.ts';
import { type CounterfoilPluginOptions, clientOf, OPTIONS } from './options.ts';
import { Settlement } from './settlement.ts';
import { Shop } from './shop.ts';
import { CounterfoilResolver, shopSchema } from './shop-api.ts';
import { keepRawBody, WEBHOOK_PATH, WebhookController } from './webhook.ts';

/** In these states of an order nobody shall pay by a link any more. */
const PAID_OR_OVER = ['Cancelled', 'PaymentAuthorized', 'PaymentSettled'];

@VendurePlugin({
  imports: [PluginCommonModule],
  providers: [
    Shop,
    PaymentLinks,
    Settlement,
    { provide: OPTIONS, useFactory: () => CounterfoilPlugin.options },
  ],
  controllers: [WebhookController],
  shopApiExtensions: { schema: shopSchema, resolvers: [CounterfoilResolver] },
  compatibility: '^3.0.0',
  configuration(config) {
    config.paymentOptions.paymentMethodHandlers.push(counterfoilHandler);
    config.apiOptions.middleware.push({ route: WEBHOOK_PATH, handler: keepRawBody, beforeListen: true });
    return config;
  },
})
export class CounterfoilPlugin implements OnApplicationBootstrap {
  /** @internal */
  static options: CounterfoilPluginOptions;

  constructor(
    private readonly events: EventBus,
    private readonly orders: OrderService,
    private readonly links: PaymentLinks,
    private readonly shop: Shop,
  ) {}

  /** For `plugins` of the Vendure configuration. Throws `TypeError` for options with which no payment could be made. */
  static init(options: CounterfoilPluginOptions): Type<CounterfoilPlugin> {
    clientOf(options);
    CounterfoilPlugin.options = options;
    return CounterfoilPlugin;
  }

  /** @internal */
  onApplicationBootstrap(): void {
    this.events.ofType(OrderStateTransitionEvent).subscribe(({ toState, order }) => {
      if (PAID_OR_OVER.includes(toState)) void logged(order.code, this.links.cancelOpen(order));
    });
    this.events
      .ofType(RefundEvent)
      .subscribe((event) => void logged(event.order.code, this.#noteRefund(event)));
  }

  /** Vendure keeps the refund as Pending, because the handler makes none. The note says what is to be done by hand. */
  async #noteRefund({ ctx, order, refund }: RefundEvent): Promise<void> {
    const { payments } = await this.shop.orderOf(ctx, order.id);
    const payment = payments.find(({ id }) => id === refund.paymentId);
    if (payment?.metadata.payment_id === undefined) return; // not through this plugin
    const amount = `${amountText(refund.total, this.shop.precision)} ${order.currencyCode}`;
    const note = `Counterfoil cannot return money. Return ${amount} from your bank account, record it for payment ${payment.transactionId} in Counterfoil, then settle this refund with the transfer's reference.`;
    await this.orders.addNoteToOrder(ctx, { id: order.id, note, isPublic: false });
  }
}

function logged(order: string, work: Promise<void>): Promise<void> {
  return work.catch((error: Error) =>
    Logger.error(`order ${order}: ${error.message}`, 'Counterfoil', error.stack),
  );
}
