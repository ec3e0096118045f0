// Brands that customers trust with money. A merchant that registers without an invitation cannot take such a name.
import { looksOf } from './look.ts';

/** No other business has such a word in its name. */
const COINED = `
Alipay, American Express, Barclays, BNP Paribas, Citibank, Commerzbank, Counterfoil, Crédit Agricole, Deutsche Bank, Goldman Sachs,
JPMorgan, Klarna, Mastercard, MoneyGram, PayPal, PostFinance, Rabobank, Raiffeisen, Razorpay, Revolut, Santander,
Société Générale, Sparkasse, UniCredit, Wells Fargo, Western Union, Worldpay
`;
/** Words that others use too: refused where they are the whole name, but for words that any business may add. */
const WORDS = `
Adyen, Affirm, Afterpay, Amazon, Amex, Apple, Bank of America, BBVA, Binance, Capital One, Cash App, Chase, Citi, Coinbase, Diners Club,
Discover, Google, HSBC, ING, JCB, Lloyds, Maestro, Meta, Microsoft, Mollie, Monzo, N26, NatWest, Payoneer, Paytm, Paysafe, PhonePe,
Postbank, RuPay, Samsung,
SEPA, Skrill, Sofort, Square, Stripe, Swift, Twint, UBS, UnionPay, Venmo, Visa, WeChat, Wero, Wise, Zelle
`;
const ADDED = new RegExp(
  `\\b(?:${[
    'ag|bank|card|checkout|com|corp|gmbh|help|inc|limited|llc|ltd|official|online|pay|payments?|plc|sa',
    'secure|security|service|services|support|team|the',
  ].join('|')})\\b`,
  'gi',
);

const brandLooks = (brands: string) => brands.split(',').flatMap((brand) => looksOf(brand).map(unmarked));
const coined = brandLooks(COINED);
const words = new Set(brandLooks(WORDS));

/** Whether a business name looks like a brand of the list. */
export function looksLikeBrand(name: string): boolean {
  const [whole, bare] = [name, name.normalize('NFKC').replace(ADDED, ' ')].map((text) =>
    looksOf(text).map(unmarked),
  );
  return (
    whole!.some((look) => coined.some((brand) => look.includes(brand))) ||
    [...whole!, ...bare!].some((look) => words.has(look))
  );
}

/** A look without its marks: a dot below a letter deceives as well. */
function unmarked(look: string): string {
  return look.replace(/\p{M}/gu, '');
}
