// Three shops that share an installation, and what their customers do: the world of the console's pictures.
import { newSecret } from '../../src/lib/secrets.ts';
import { keyDigest } from '../../src/merchants/merchant.ts';
import { MANY_SIGN_INS } from '../../test/support/console.ts';
import { load, send } from '../../test/support/customer.ts';
import type { Harness } from '../../test/support/harness.ts';

export const KEYS = {
  books: newSecret('cfk_live_'),
  cafe: newSecret('cfk_live_'),
  velo: newSecret('cfk_live_'),
  trial: newSecret('cfk_test_'),
};
export type Shop = keyof typeof KEYS;

const merchant = (id: string, name: string, host: string, ...keys: [string, 'live' | 'test'][]) => `
  - id: mer_${id}
    name: ${name}
    website: https://${host}
    support: help@${host}
    keys:
${keys.map(([key, mode]) => `      - { key_sha256: ${keyDigest(key)}, mode: ${mode} }`).join('\n')}`;

/** In minor units by currency, as the program has it. */
export const FOUR_EYES_ABOVE = { CHF: 200_000 };

/** Lines for `startHarness`. */
export const SHOPS = `${merchant('hill_books', 'Hill Books', 'hillbooks.example', [KEYS.books, 'live'], [KEYS.trial, 'test'])}
${merchant('cafe_lune', 'Café Lune', 'cafelune.example', [KEYS.cafe, 'live'])}
${merchant('alp_velo', 'Alp Velo AG', 'alpvelo.example', [KEYS.velo, 'live'])}
time_zone: Europe/Zurich
checkout_forms_per_address: 100000
${MANY_SIGN_INS}
review:
  four_eyes_above:
    CHF: ${FOUR_EYES_ABOVE.CHF / 100}
methods:
  - type: bank_transfer
    accounts:
      - { currency: EUR, holder: Market Street GmbH, iban: DE89370400440532013000, bic: COBADEFFXXX }
      - currency: CHF
        holder: Alp Velo AG
        iban: CH9300762011623852957
        address: { street: Bahnhofstrasse, building: "1", postal_code: "8001", city: Zürich, country: CH }
  - { id: cash, type: manual, name: Cash at the counter, instructions: Pay when you pick it up. }
  - type: test_card
`;

/** A payment that a shop asks for and a customer sends. */
export interface Sale {
  shop: Shop;
  amount: number;
  /** The customer, as the shop knows them. */
  name: string;
  by?: 'bank_transfer' | 'cash' | 'test_card';
  /** The name on the account they pay from, where it is not theirs. */
  payer?: string;
  /** Which of their accounts they pay from. */
  account?: number;
  reference?: string;
  /** Further fields of the request. */
  more?: object;
}

/** Creates a payment and sends its form as its customer would. Returns its id. */
export async function sell(harness: Harness, sale: Sale): Promise<string> {
  const { shop, amount, name, by = 'bank_transfer', payer = name, account = 0, reference, more } = sale;
  const currency = shop === 'velo' ? 'CHF' : 'EUR';
  const email = `${name.split(' ')[0]!.toLowerCase().replace('é', 'e')}@example.org`;
  const fields = { amount, currency, merchant_reference: reference, customer: { name, email }, ...more };
  const { id } = await harness.create(fields, { key: KEYS[shop] });
  const iban = shop === 'velo' ? 'CH56 0483 5012 3456 7800 9' : ibanOf(account);
  const typed = {
    bank_transfer: { 'transfer-name': payer, 'transfer-iban': iban },
    cash: { 'payer-name': payer },
    test_card: { 'card-number': '4242 4242 4242 4242', 'card-expiry': '12/40', 'card-name': payer },
  };
  const answer = await send(await openPage(harness, id, by), { 'payer-email': email, ...typed[by] });
  if (answer.status !== 200) throw new Error(`submitting answered ${answer.status}: ${answer.body}`);
  return id;
}

/** The page of a payment, as its customer opens it. */
export function openPage({ origin }: Harness, id: string, method?: string) {
  const page = new URL('/checkout/payment.php', origin);
  page.searchParams.set('payment_id', id);
  page.searchParams.set('lang', 'en');
  if (method) page.searchParams.set('method', method);
  return load(page);
}

/** An account of its own for each number, with its check digits. */
function ibanOf(number: number): string {
  const bban = `50010517${String(5400000000 + number).padStart(10, '0')}`;
  const check = 98n - (BigInt(`${bban}131400`) % 97n);
  return `DE${String(check).padStart(2, '0')}${bban}`;
}
