// What a merchant's program does with the client, in any runtime: exports a function that says what came of it.
import {
  ApiError,
  Counterfoil,
  fromMinorUnits,
  verifyWebhook,
  WebhookVerificationError,
} from '@counterfoil/client';

export async function useClient({ key, baseUrl, webhook }) {
  const counterfoil = new Counterfoil({ key, baseUrl });
  const { id } = await counterfoil.payments.create({ amount: fromMinorUnits(4990, 'EUR'), currency: 'EUR' });
  const { amount, status } = await counterfoil.payments.read(id);
  const refused = await counterfoil.payments.read('pay_none').catch((error) => error);
  const event = await verifyWebhook(webhook.body, webhook.headers, webhook.secret);
  const forged = await verifyWebhook(`${webhook.body} `, webhook.headers, webhook.secret).catch(
    (error) => error,
  );
  const listed = [];
  for await (const one of counterfoil.payments.list()) listed.push(one.id);
  const streamed = [];
  const stream = counterfoil.events.stream({ after: (await counterfoil.events.page()).data[0].id });
  const second = await counterfoil.payments.create({ amount: '1.00', currency: 'EUR' });
  for await (const { data } of stream)
    if (streamed.push(data.payment_id) && data.payment_id === second.id) break;
  new Counterfoil({ key: 'cfk_live_abc', baseUrl: 'https://pay.example' }); // it throws in a browser
  return {
    payment: `${amount} ${status}`,
    refused: refused instanceof ApiError && refused.code,
    event: event.id,
    isForgeryFound: forged instanceof WebhookVerificationError,
    isListed: listed.includes(id),
    isStreamed: streamed.includes(second.id),
  };
}

// As a program of its own it takes what to use as its argument.
const given = globalThis.Deno?.args[0] ?? globalThis.process?.argv?.[2];
if (given) console.log(JSON.stringify(await useClient(JSON.parse(given))));
