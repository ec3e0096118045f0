// Amounts as the API takes them: decimal texts of the main unit, never a binary fraction.

/** Currencies by the decimals of their minor unit (ISO 4217); all others have two. */
const DECIMALS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
};

/**
 * An integer of the currency's minor unit (ISO 4217) as an amount: `fromMinorUnits(4990, 'EUR')` is `'49.90'`, `fromMinorUnits(4990,
 * 'JPY')` is `'4990'`. Throws `TypeError` for a number that is no safe integer, and for an amount that two decimals cannot hold.
 */
export function fromMinorUnits(minor: number | bigint, currency: string): string {
  if (typeof minor !== 'bigint' && !Number.isSafeInteger(minor))
    throw new TypeError(`minor units are an integer or a bigint: ${minor} is none`);
  const code = currency.toUpperCase();
  if (!/^[A-Z]{3}$/.test(code)) throw new TypeError('currency is an ISO 4217 code such as EUR');
  const decimals = Number(Object.keys(DECIMALS).find((one) => DECIMALS[Number(one)]!.includes(code)) ?? 2);
  if (decimals === 0) return checkedAmount(`${minor}`);
  const digits = `${minor}`.padStart(decimals + 1, '0');
  const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return checkedAmount(decimals === 3 ? text.replace(/0$/, '') : text);
}

/** The amount as it stands in the body of a request. Throws `TypeError` for a number, and for a text that is no amount. */
export function checkedAmount(amount: unknown): string {
  if (typeof amount === 'string' && /^(0|[1-9]\d{0,11})(\.\d{1,2})?$/.test(amount)) return amount;
  const shown = typeof amount === 'string' ? `'${amount}'` : `a ${typeof amount}`;
  throw new TypeError(
    `amount is ${shown}: it must be a text of the main unit with at most two decimals, such as '49.90', or fromMinorUnits(4990, 'EUR')`,
  );
}
