// What a payment must say, worked out from the body it was made from without the service's own code.

/** The decimal number that JSON text writes, with two decimals, by moving the point in its digits. */
function amountAsWritten(source: string): string {
  const [, whole, fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source)!;
  const digits = `${whole}${fraction}${'0'.repeat(Math.max(0, Number(exponent) - fraction.length + 2))}`;
  const point = whole!.length + Number(exponent);
  const cents = point + 2 > 0 ? digits.slice(0, point + 2) : '';
  return BigInt(cents || '0')
    .toString()
    .padStart(3, '0')
    .replace(/(\d\d)$/, '.$1');
}

/** The texts of the payment that a valid body makes; metadata as JSON, whose order of names counts. */
export function expectedTexts(body: Buffer): object {
  const amounts = new Map<unknown, string>(); // as written, by the object it stands in
  function note(this: unknown, name: string, value: unknown, { source }: { source?: string }): unknown {
    if (name === 'amount' && typeof value === 'number') amounts.set(this, source!);
    return value;
  }
  const json = body.toString().replace(/^\ufeff/, '');
  let sent: ReturnType<typeof JSON.parse>;
  try {
    sent = JSON.parse(json, note as (name: string, value: unknown) => unknown);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    sent = JSON.parse(json); // nested deeper than revivers go; such bodies have plain amounts
    amounts.set(sent, String(sent.amount));
  }
  // What shops send for nothing: null, text of which nothing can be seen and, for an object, an empty array.
  const isNothing = (value: unknown) =>
    value == null ||
    (typeof value === 'string' && /^[\s\u2800\p{Default_Ignorable_Code_Point}]*$/u.test(value)) ||
    (Array.isArray(value) && value.length === 0);
  const text = (value: unknown) => (isNothing(value) ? null : value);
  const trimmed = (value: unknown) => (isNothing(value) ? null : String(value).trim());
  const url = (value: string | null | undefined) => (isNothing(value) ? null : new URL(value!).href); // WHATWG URL, 4.5
  const { customer, metadata } = sent;
  return {
    amount: amountAsWritten(amounts.get(sent)!),
    currency: String(text(sent.currency) ?? 'USD').toUpperCase(),
    merchant_reference: text(sent.merchant_reference),
    description: text(sent.description),
    return_url: url(sent.return_url),
    cancel_url: url(sent.cancel_url),
    customer: isNothing(customer)
      ? null
      : { name: trimmed(customer.name), email: trimmed(customer.email), phone: trimmed(customer.phone) },
    metadata: JSON.stringify(text(metadata)),
  };
}
