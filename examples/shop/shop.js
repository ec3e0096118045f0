// A shop with one lamp, paid through Counterfoil. npm install fastify and @counterfoil/client (its README says how, until it is on npm), make
// a webhook endpoint with the URL http://localhost:3000/webhooks, then: WEBHOOK_SECRET=whsec_… node shop.js
import { randomUUID } from 'node:crypto';
import { Counterfoil, verifyWebhook, WebhookVerificationError } from '@counterfoil/client';
import Fastify from 'fastify';

const { SHOP_URL = 'http://127.0.0.1:3000', COUNTERFOIL_URL = 'http://127.0.0.1:8080' } = process.env;
const { COUNTERFOIL_KEY = 'cfk_test_development_key_replace_before_production', WEBHOOK_SECRET } =
  process.env;
const PAGES = {
  pending: 'Please pay for your order.',
  requires_review: 'Your payment is being checked. You need not do anything.',
  approved: 'Your payment was accepted.',
  rejected: 'We could not find your payment.',
  cancelled: 'The payment has ended.',
};

const counterfoil = new Counterfoil({ key: COUNTERFOIL_KEY, baseUrl: COUNTERFOIL_URL, timeoutMs: 5000 });
const orders = new Map(); // a real shop keeps its orders in a database
const app = Fastify();
// Webhooks are signed over the bytes that came, so nothing is parsed before.
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.setErrorHandler((error, _request, reply) => reply.code(502).send(`${error.message}\n`));

/** Asks what became of an order's payment, and ships what is paid, once. That the customer came back proves nothing. */
async function refresh(order) {
  const { status, amount_received } = await counterfoil.payments.read(order.payment);
  if (status === 'approved' && Number(amount_received) >= Number(order.amount) && !order.isShipped) {
    order.isShipped = true;
    console.log(`Ship order ${order.id}`);
  }
  return status;
}

app.get('/', (_request, reply) =>
  reply
    .type('text/html')
    .send('<form method="post" action="/buy"><button>Buy a lamp for 49.90 €</button></form>'),
);

app.post('/buy', async (_request, reply) => {
  const order = { id: randomUUID(), attempt: 1, amount: '49.90' };
  orders.set(order.id, order); // before its payment: if the shop fails now, the order says that there may be one
  const return_url = `${SHOP_URL}/thanks?order=${order.id}`;
  const payment = await counterfoil.payments.create(
    { amount: order.amount, currency: 'EUR', merchant_reference: order.id, return_url },
    { idempotencyKey: `${order.id}-${order.attempt}` },
  );
  order.payment = payment.id;
  return reply.redirect(payment.checkout_url, 303);
});

app.get('/thanks', async ({ query }, reply) => {
  const order = orders.get(query.order);
  return order?.payment ? `${PAGES[await refresh(order)]}\n` : reply.code(404).send('No such order.\n');
});

app.post('/webhooks', async ({ body, headers }, reply) => {
  try {
    const { data } = await verifyWebhook(body, headers, WEBHOOK_SECRET);
    const order = orders.get(data.merchant_reference);
    if (order?.payment) await refresh(order); // a webhook may come twice, and late
    return reply.code(204).send();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return reply.code(400).send();
    throw error; // and so it is sent again
  }
});

await app.listen({ port: Number(new URL(SHOP_URL).port), host: '127.0.0.1' });
console.log(`The shop is at ${SHOP_URL}`);
