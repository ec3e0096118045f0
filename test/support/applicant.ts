// Whoever registers: with a program that sends JSON, and with a browser that keeps its cookies and sends forms.
import { createInvite, revokeInvite } from '../../src/merchants/invite.ts';
import type { Mode } from '../../src/merchants/merchant.ts';
import { type CheckoutPage, FROM_OUR_PAGE, read } from './customer.ts';
import { type Answer, type Harness, OPERATOR, type RequestOptions } from './harness.ts';

export const CORNER_SHOP = {
  business_name: 'Corner Shop',
  email: 'ana@corner.example',
  website: 'https://corner.example',
};

let shops = 0;

/** A shop like that one, with a name that nobody has. */
export const anotherShop = () => ({ ...CORNER_SHOP, business_name: `Corner Shop No ${++shops}` });

/** Any key, wherever it stands. */
export const KEY_PATTERN = /cfk_(?:live|test)_[0-9A-Za-z]{49}/;

/** Registers as a program does: a shop with a name of its own unless said otherwise. */
export function register(
  harness: Harness,
  body: unknown = anotherShop(),
  options: RequestOptions = {},
): Promise<Answer> {
  return harness.request('/register', { method: 'POST', key: null, body, ...options });
}

/** The code of a new invitation. */
export async function invited(harness: Harness, mode: Mode = 'test', days = 7): Promise<string> {
  const { journal } = harness.service;
  const wanted = { mode, note: null, days };
  return (await journal.commit((transaction) => createInvite(transaction, wanted, OPERATOR))).code;
}

/** The code of an invitation that was revoked. */
export async function uninvited(harness: Harness): Promise<string> {
  const { journal } = harness.service;
  const wanted = { mode: 'test', note: null, days: 7 } as const;
  const { code, row } = await journal.commit((transaction) => createInvite(transaction, wanted, OPERATOR));
  await journal.commit((transaction) => revokeInvite(transaction, row.id, OPERATOR), row.id);
  return code;
}

/** How many merchants and keys the store has. */
export async function stored(harness: Harness): Promise<{ merchants: number; keys: number }> {
  const [row] = await harness.service.database.query<{ merchants: number; keys: number }>(
    'select (select count(*) from merchants) as merchants, (select count(*) from api_keys) as keys',
  );
  return { ...row! };
}

/** A browser: what it is given as cookies it sends along. */
export class Applicant {
  readonly cookies = new Map<string, string>();
  readonly origin: string;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** Opens a page of registration; `query` is what stands behind the question mark. */
  async open(query: Record<string, string> = {}): Promise<CheckoutPage> {
    const text = new URLSearchParams(query).toString();
    const url = new URL(`${this.origin}/register${text && `?${text}`}`);
    return this.#keep(url, await fetch(url, { redirect: 'manual', headers: this.#headers() }));
  }

  /** Sends the form of `page` with `typed` over what stands in it. */
  async send(
    page: CheckoutPage,
    typed: Record<string, string> = {},
    headers: Record<string, string> = FROM_OUR_PAGE,
  ): Promise<CheckoutPage> {
    const { action, values } = page.forms[0]!;
    const response = await fetch(action, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...this.#headers(), ...headers },
      body: new URLSearchParams({ ...values, ...typed }).toString(),
    });
    return this.#keep(action, response);
  }

  #headers(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return cookie === '' ? {} : { cookie };
  }

  #keep(url: URL, response: Response): Promise<CheckoutPage> {
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      this.cookies.set(name!, value!);
    }
    return read(url, response);
  }
}

/** The key that a page shows; fails where it shows none, or several. */
export function keyOn({ text, h1 }: CheckoutPage): string {
  const keys = [...new Set(text.match(new RegExp(KEY_PATTERN, 'g')))];
  if (keys.length !== 1) throw new Error(`the page "${h1}" shows ${keys.length} keys`);
  return keys[0]!;
}
