// What an order asks for: its amount in Counterfoil's terms, and whether a payment was made for it as it is now.
import type { Payment } from '@counterfoil/client';
import { type Order, totalCoveredByPayments } from '@vendure/core';

const FINGERPRINT_BYTES = 12;

/** What a payment's metadata holds of the order. */
export interface OrderReference {
  /** The token of the shop's default channel: another shop may use the same merchant. */
  shop: string;
  /** The token of the channel in which the link was asked for. */
  channel: string;
  /** The fingerprint of the cart. */
  cart: string;
}

/** The reference in a payment's metadata; undefined where no plugin made the payment. */
export function orderReferenceOf({ metadata }: Payment): OrderReference | undefined {
  const { vendure } = (metadata ?? {}) as { vendure?: Partial<OrderReference> };
  return vendure?.shop && vendure.channel && vendure.cart ? (vendure as OrderReference) : undefined;
}

/** What is still to be paid of an order that was loaded with its payments. In Vendure's units. */
export function outstandingOf(order: Order): number {
  return order.totalWithTax - totalCoveredByPayments(order);
}

/**
 * Vendure's units as an amount. Vendure keeps `precision` decimals for every currency, so 1,500 yen are 150000: the number of decimals
 * in ISO 4217 does not count.
 */
export function amountText(units: number, precision: number): string {
  const digits = `${units}`.padStart(precision + 1, '0');
  const whole = digits.slice(0, digits.length - precision);
  const fraction = digits.slice(digits.length - precision).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction.padEnd(2, '0')}`;
}

/** An amount in Vendure's units. NaN for one that they cannot hold. */
export function unitsOf(amount: string, precision: number): number {
  const [whole = '', fraction = ''] = amount.split('.');
  const isWhole = /^0*$/.test(fraction.slice(precision));
  return isWhole ? Number(whole + fraction.slice(0, precision).padEnd(precision, '0')) : Number.NaN;
}

/** A digest of all that a customer agrees to pay for: lines with quantity and price, shipping, total, currency. */
export async function fingerprintOf(order: Order): Promise<string> {
  const lines = order.lines
    .filter(({ quantity }) => quantity > 0)
    .map((line) => [`${line.productVariantId}`, line.quantity, line.proratedLinePriceWithTax].join());
  const cart = [...lines.sort(), order.shippingWithTax, order.totalWithTax, order.currencyCode];
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(cart.join('|')));
  return Buffer.from(digest).subarray(0, FINGERPRINT_BYTES).toString('hex');
}

/** Why a payment does not pay for an order as it is now; undefined where it does. The order is loaded with lines and payments. */
export async function misfitOf(
  payment: Payment,
  order: Order,
  { shop, precision }: { shop: string; precision: number },
): Promise<string | undefined> {
  const reference = orderReferenceOf(payment);
  const asked = outstandingOf(order);
  if (reference?.shop !== shop || payment.merchant_reference !== order.code) return 'it is of another order';
  if (order.state !== 'ArrangingPayment' && order.state !== 'AddingItems')
    return `the order is ${order.state} already`;
  if (reference.cart !== (await fingerprintOf(order))) return 'the cart was changed after its link was made';
  if (payment.currency !== order.currencyCode) return `the order is in ${order.currencyCode}`;
  if (unitsOf(payment.amount, precision) !== asked)
    return `${amountText(asked, precision)} ${order.currencyCode} are to be paid`;
  if (payment.status === 'approved' && !(unitsOf(payment.amount_received, precision) >= asked))
    return `only ${payment.amount_received} ${payment.currency} came`;
  return undefined;
}
