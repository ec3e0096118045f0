// What a customer typed into a refused form, sealed in the address of the page that shows it again: going back finds a page.
import type { KeyRing } from '../journal/keys/key-ring.ts';
import { FIELDS, type Field } from '../payments/methods/fields.ts';
import type { Method } from '../payments/methods/method.ts';
import type { Payment } from '../payments/payment.ts';
import type { TypedPayment } from './form.ts';
import type { CheckoutVisit } from './visit.ts';

/** Longer addresses do not pass every proxy: such a form is answered with the page itself. */
const SEALED_MAXIMUM = 3000;

const cellOf = ({ id }: Payment, method: Method) => ({ table: 'checkout form', row: id, column: method.id });

/**
 * The address of the page with what was typed, sealed for this payment and method. Undefined if the request is no navigation of a browser,
 * the form has a field that is never written back, or too much was typed.
 */
export function typedAddress(
  { request, asked, address }: CheckoutVisit,
  ring: KeyRing,
  payment: Payment,
  method: Method,
  { values }: TypedPayment,
): string | undefined {
  const isSecret = method.fields.some(({ name }) => (FIELDS[name] as Field).secret);
  if (request.headers['sec-fetch-mode'] !== 'navigate' || isSecret) return undefined;
  const typed = ring.seal(cellOf(payment, method), JSON.stringify([...values]));
  if (typed.length > SEALED_MAXIMUM) return undefined;
  return `${address({ method: method.id, edit: asked.edit, typed })}#errors`;
}

/** What an address says was typed; undefined if it says nothing, or was made for another payment or method, or with a key that is gone. */
export function typedBefore(
  { asked }: CheckoutVisit,
  ring: KeyRing,
  payment: Payment,
  method: Method,
): URLSearchParams | undefined {
  if (asked.typed === undefined) return undefined;
  try {
    return new URLSearchParams(JSON.parse(ring.open(cellOf(payment, method), asked.typed)));
  } catch {
    return undefined;
  }
}
