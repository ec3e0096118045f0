// The yardstick: a Fastify route of the same body and answer that checks, stores and logs nothing.
import { fastify } from 'fastify';
import { BODY } from './request.ts';

const ANSWER = {
  id: 'pay_01m7xvg1gzeknra7xzczb82s2pr4pehgxk4d',
  object: 'payment',
  amount: '49.90',
  currency: 'EUR',
  status: 'pending',
  merchant_name: 'Development Shop',
  merchant_reference: BODY.merchant_reference,
  checkout_url: 'http://127.0.0.1:8080/payment.php?payment_id=pay_01m7xvg1gzeknra7xzczb82s2pr4pehgxk4d',
  payment_url: 'http://127.0.0.1:8080/payment.php?payment_id=pay_01m7xvg1gzeknra7xzczb82s2pr4pehgxk4d',
  created_at: '2026-11-21T01:28:23+00:00',
  expires_at: '2026-11-22T01:28:23+00:00',
  livemode: false,
  description: BODY.description,
  return_url: BODY.return_url,
  cancel_url: BODY.cancel_url,
  customer: { ...BODY.customer, phone: null },
  metadata: BODY.metadata,
  status_reason: null,
  updated_at: '2026-11-21T01:28:23+00:00',
  payment_details: null,
};

const app = fastify({ logger: false });
app.post('/v1/payments', async (_request, reply) => {
  reply.code(201);
  return { data: ANSWER };
});
app.get('/v1/payments/:payment_id', async () => ({ data: ANSWER }));
app.get('/v1/payments', async () => ({
  data: Array(20).fill(ANSWER),
  has_more: true,
  next_cursor: 'cursor',
}));
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
