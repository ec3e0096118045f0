// A customer without a browser: opens pages, fills in their forms as they stand, and follows where they lead.
import assert from 'node:assert/strict';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import type { Harness } from './harness.ts';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

const isElement = (node: Node): node is Element => 'tagName' in node;
const attribute = (element: Element, name: string) => element.attrs.find((one) => one.name === name)?.value;

function* elements(node: Node): Generator<Element> {
  if (isElement(node)) yield node;
  if ('childNodes' in node) for (const child of node.childNodes) yield* elements(child);
}

function textOf(node: Node): string {
  if (node.nodeName === '#text') return (node as DefaultTreeAdapterMap['textNode']).value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

export interface Form {
  /** Absolute. */
  action: URL;
  /** What a browser would send if nobody typed anything. */
  values: Record<string, string>;
  fields: string[];
  button: string;
}

export interface CheckoutPage {
  url: URL;
  status: number;
  headers: Headers;
  text: string;
  title: string;
  h1: string;
  /** What is read on it. */
  body: string;
  forms: Form[];
  /** The ids of the fields at fault, as its summary names them. */
  faults: string[];
  /** Where a link with this text leads, absolute. */
  link(text: string | RegExp): URL;
}

export interface SendOptions {
  headers?: Record<string, string>;
  /** Whether a redirect is followed to the page it leads to. */
  follow?: boolean;
}

/** What a browser says of a form sent from our own page. */
export const FROM_OUR_PAGE = { 'sec-fetch-site': 'same-origin', origin: 'null' };

/** Opens the page of a payment; `query` is what stands behind its id. */
export function open(
  harness: Harness,
  id: string,
  query: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<CheckoutPage> {
  const address = `${harness.origin}/payment.php?${new URLSearchParams({ payment_id: id, ...query })}`;
  return load(new URL(address), { headers });
}

/** Loads a page. */
export async function load(url: URL, init: RequestInit = {}): Promise<CheckoutPage> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  return read(url, response);
}

/** A page as it came. */
export async function read(url: URL, response: Response): Promise<CheckoutPage> {
  const text = await response.text();
  const all = [...elements(parse(text))];
  const first = (name: string) => all.find(({ tagName }) => tagName === name);
  const shown = (element: Element | undefined) =>
    element ? textOf(element).replace(/\s+/g, ' ').trim() : '';
  const isChosen = (one: Element) => one.tagName === 'input' && attribute(one, 'checked') !== undefined;
  const formsOf = (one: Element) => [...elements(one)].filter(({ tagName }) => tagName === 'form');
  const ways = all.filter((one) => attribute(one, 'class') === 'way');
  const unseen = new Set(ways.filter((way) => ![...elements(way)].some(isChosen)).flatMap(formsOf));
  const inOrder = all.filter(({ tagName }) => tagName === 'form');
  // The form that a browser shows comes first.
  const forms = [...inOrder.filter((one) => !unseen.has(one)), ...unseen].map((form): Form => {
    const inside = [...elements(form)];
    const inputs = inside.filter(({ tagName }) => /^(input|textarea)$/.test(tagName));
    return {
      action: new URL(attribute(form, 'action')!, url),
      values: Object.fromEntries(
        inputs.map((input) => [
          attribute(input, 'name')!,
          input.tagName === 'textarea' ? textOf(input) : (attribute(input, 'value') ?? ''),
        ]),
      ),
      fields: inputs
        .filter((input) => attribute(input, 'type') !== 'hidden')
        .map((input) => attribute(input, 'name')!),
      button: shown(
        inside.find((one) => one.tagName === 'button' && attribute(one, 'disabled') === undefined),
      ),
    };
  });
  const summary = all.find((one) => attribute(one, 'id') === 'errors');
  return {
    url,
    faults: summary ? [...elements(summary)].flatMap((one) => attribute(one, 'href')?.slice(1) ?? []) : [],
    status: response.status,
    headers: response.headers,
    text,
    title: shown(first('title')),
    h1: shown(first('h1')),
    body: shown(first('body')),
    forms,
    link(wanted) {
      const found = all.find(
        (one) =>
          one.tagName === 'a' &&
          (typeof wanted === 'string' ? shown(one) === wanted : wanted.test(shown(one))),
      );
      assert.ok(found, `no link ${wanted}`);
      return new URL(attribute(found, 'href')!, url);
    },
  };
}

/** Sends a page's form with `typed` over what stands in it, and follows to where it leads. */
export async function send(
  page: CheckoutPage,
  typed: Record<string, string> = {},
  { headers = FROM_OUR_PAGE, follow = true }: SendOptions = {},
): Promise<CheckoutPage> {
  const [form] = page.forms;
  assert.ok(form, `no form on the page "${page.h1}"`);
  const response = await fetch(form.action, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ ...form.values, ...typed }).toString(),
  });
  if (response.status === 303 && follow) {
    await response.arrayBuffer();
    return load(new URL(response.headers.get('location')!, page.url));
  }
  return read(form.action, response);
}

/** The heading of the page once each is sent. */
export const HEADINGS: Record<keyof typeof TYPED, string> = {
  card: 'Corner Shop is checking your payment',
  transfer: 'Waiting for your transfer',
  cash: 'Corner Shop is waiting for your payment',
  details: 'Corner Shop has received your contact details',
};

/** What a customer types for each method, without a fault. */
export const TYPED = {
  card: {
    'card-number': '4242 4242 4242 4242',
    'card-expiry': '12/40',
    'payer-email': 'ada@example.org',
  },
  transfer: {
    'payer-email': 'ada@example.org',
    'transfer-name': 'Ada Lovelace',
    'transfer-iban': 'GB82 WEST 1234 5698 7654 32',
  },
  cash: {
    'payer-name': 'Ada Lovelace',
    'payer-email': 'ada@example.org',
    'customer-reference': 'Receipt 17',
  },
  details: {
    'payer-name': 'Ada Lovelace',
    'payer-email': 'ada@example.org',
    'payer-phone': '+44 20 7946 0958',
    note: 'After six, thank you.',
  },
} as const;
