// What storefronts call: make the link, ask for the state, cancel.
import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import {
  ActiveOrderService,
  Allow,
  ConfigService,
  Ctx,
  ForbiddenError,
  isGraphQlErrorResult,
  type Order,
  OrderService,
  Permission,
  RequestContext,
  UserInputError,
} from '@vendure/core';
import { parse } from 'graphql';
import { PaymentLinks, type PaymentView } from './links.ts';
import { Settlement } from './settlement.ts';
import { Shop } from './shop.ts';

/** The plugin's part of the shop API. */
export const shopSchema = parse(`
  enum CounterfoilPaymentState {
    "The customer can pay by checkoutUrl."
    OPEN
    "The customer has paid, and a person checks it. Say so, and do not ask for money again."
    CHECKING
    "The order is paid."
    PAID
    "Money has come that does not fit the order as it is now. The shop's staff was told, and gets in touch."
    ATTENTION
    "No money was found. reviewMessage is for the customer. They may ask for another link."
    REJECTED
    "The link is of an earlier cart, was cancelled, or expired. They may ask for another link."
    ENDED
  }

  type CounterfoilPayment {
    state: CounterfoilPaymentState!
    "Where the customer pays; null unless the state is OPEN."
    checkoutUrl: String
    amount: Money!
    currencyCode: CurrencyCode!
    "The last day to pay by."
    payBy: String
    reviewMessage: String
  }

  extend type Query {
    "The payment of an order that the customer may see; null where no link was made."
    counterfoilPayment(orderCode: String!): CounterfoilPayment
  }

  extend type Mutation {
    "Takes the active order to ArrangingPayment, and returns the payment by which it is to be paid."
    createCounterfoilPayment: CounterfoilPayment!
    "Cancels the link of the active order, so that it can be paid in another way. What is being checked stays."
    cancelCounterfoilPayment: CounterfoilPayment
  }
`);

@Resolver()
export class CounterfoilResolver {
  constructor(
    private readonly shop: Shop,
    private readonly links: PaymentLinks,
    private readonly settlement: Settlement,
    private readonly orders: OrderService,
    private readonly activeOrders: ActiveOrderService,
    private readonly config: ConfigService,
  ) {}

  @Query()
  @Allow(Permission.Owner)
  async counterfoilPayment(
    @Ctx() ctx: RequestContext,
    @Args('orderCode') code: string,
  ): Promise<PaymentView | null> {
    const order = await this.orders.findOneByCode(ctx, code, ['customer', 'customer.user']);
    const { orderByCodeAccessStrategy } = this.config.orderOptions;
    const active = await this.activeOrders.getActiveOrder(ctx, undefined);
    const isTheirs =
      order && (active?.id === order.id || (await orderByCodeAccessStrategy.canAccessOrder(ctx, order)));
    // The same for an order that is not there, so that codes cannot be guessed.
    if (!isTheirs) throw new ForbiddenError();
    return this.#shown(await this.shop.orderOf(ctx, order.id));
  }

  @Mutation()
  @Allow(Permission.Owner)
  async createCounterfoilPayment(@Ctx() ctx: RequestContext): Promise<PaymentView> {
    const active = await this.#active(ctx);
    if ((await this.shop.methodOf(ctx, active)) === undefined)
      throw new UserInputError('This order cannot be paid through Counterfoil.');
    if (active.state !== 'ArrangingPayment') {
      const moved = await this.orders.transitionToState(ctx, active.id, 'ArrangingPayment');
      if (isGraphQlErrorResult(moved)) throw new UserInputError(moved.transitionError);
    }
    const order = await this.shop.orderOf(ctx, active.id);
    const made = await this.links.make(ctx, order);
    if (made.payment.status !== 'approved') return this.links.viewOf(made);
    // The cart is again what was paid for, or the webhook is on its way.
    await this.settlement.settle(made.payment);
    return (await this.#shown(await this.shop.orderOf(ctx, order.id)))!;
  }

  @Mutation()
  @Allow(Permission.Owner)
  async cancelCounterfoilPayment(@Ctx() ctx: RequestContext): Promise<PaymentView | null> {
    const active = await this.#active(ctx);
    await this.links.cancelOpen(active);
    return this.#shown(await this.shop.orderOf(ctx, active.id));
  }

  async #active(ctx: RequestContext): Promise<Order> {
    const order = await this.activeOrders.getActiveOrder(ctx, undefined);
    if (!order) throw new UserInputError('There is no active order.');
    return order;
  }

  async #shown(order: Order): Promise<PaymentView | null> {
    const found = await this.links.find(order);
    return found ? this.links.viewOf(found) : null;
  }
}
