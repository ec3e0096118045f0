// A shop with one product, paid through Counterfoil. It needs Node 20 or newer and no packages: node examples/shop/shop.js
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const API = process.env.COUNTERFOIL_URL ?? 'http://127.0.0.1:8080';
const KEY = process.env.COUNTERFOIL_KEY ?? 'cfk_test_development_key_replace_before_production';
const SHOP = process.env.SHOP_URL ?? 'http://127.0.0.1:3000';
const OPEN = ['new', 'pending', 'requires_review'];
const orders = new Map(); // a real shop keeps its orders in a database

async function counterfoil(method, path, body, headers) {
  const answer = await fetch(API + path, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  });
  const { data, error } = await answer.json();
  if (error) throw Object.assign(new Error(error.message), error);
  return data;
}

/** Creates the payment of an order. A repeat with the same order returns the same payment. */
async function pay(order) {
  const { id, amount } = order;
  const request = {
    amount,
    currency: 'EUR',
    merchant_reference: id,
    return_url: `${SHOP}/thanks?order=${id}`,
  };
  const payment = await counterfoil('POST', '/v1/payments', request, { 'idempotency-key': id });
  order.payment = payment.id;
  return payment.checkout_url;
}

/** Asks what became of an order's payment. That the customer came back proves nothing. */
async function refresh(order) {
  if (order.payment) order.status = (await counterfoil('GET', `/v1/payments/${order.payment}`)).status;
}

async function serve(request, response) {
  const { pathname, searchParams } = new URL(request.url, SHOP);
  const order = orders.get(searchParams.get('order'));
  if (request.method === 'POST' && pathname === '/buy') {
    const bought = { id: randomUUID(), amount: 49.9, status: 'new' };
    orders.set(bought.id, bought);
    response.writeHead(303, { location: await pay(bought) }).end();
  } else if (pathname === '/thanks' && order) {
    await refresh(order);
    response.end(order.status === 'approved' ? 'Paid. We ship today.\n' : `Your order is ${order.status}.\n`);
  } else {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<form method="post" action="/buy"><button>Buy a lamp for 49.90 €</button></form>');
  }
}

setInterval(() => {
  for (const order of orders.values()) if (OPEN.includes(order.status)) refresh(order).catch(console.error);
}, 30_000);
createServer((request, response) =>
  serve(request, response).catch((error) => response.writeHead(502).end(`${error.message}\n`)),
).listen(new URL(SHOP).port, '127.0.0.1', () => console.log(`The shop is at ${SHOP}`));
