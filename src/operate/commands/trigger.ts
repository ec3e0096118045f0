// counterfoil trigger: makes a test payment and moves it until it has an event of the type asked for.
import { Argument, type Command } from 'commander';
import { KEY_OPTION, type TestApiOptions, testApi, URL_OPTION } from './listen.ts';
import { CONFIG_OPTION, JSON_OPTION, newCommand } from './usage.ts';

/** Below `/v1`, for each type: what is called one after the other, `ID` being the payment. */
const CALLS = {
  'payment.created': [],
  'payment.submitted': ['test/payments/ID/submit'],
  'payment.approved': ['test/payments/ID/submit', 'test/payments/ID/approve'],
  'payment.rejected': ['test/payments/ID/submit', 'test/payments/ID/reject'],
  'payment.cancelled': ['payments/ID/cancel'],
  'payment.expired': ['test/payments/ID/expire'],
  'payment.reopened': ['payments/ID/cancel', 'test/payments/ID/record'],
  'payment.link_requested': ['test/payments/ID/expire', 'test/payments/ID/request_link'],
  'payment.money_received': ['test/payments/ID/record'],
} as const;
type Triggered = keyof typeof CALLS;

const PAYMENT = {
  amount: 49.9,
  currency: 'EUR',
  merchant_reference: 'trigger',
  description: 'A test payment',
};

export function command(): Command {
  return newCommand(
    'trigger',
    'make a test payment with an event of a type, for the webhooks and streams of a developer',
    [
      'trigger payment.approved',
      'trigger payment.approved --payment pay_01m8…',
      'trigger payment.expired --url https://pay.example --key cfk_test_…',
    ],
    `The service must be running. The events before come too: a payment that is approved was created and submitted.`,
  )
    .addArgument(new Argument('<type>', 'type of the event').choices(Object.keys(CALLS)))
    .option(
      '--payment <id>',
      'a payment of the key instead of a new one; only the steps that it has not taken',
    )
    .option(...KEY_OPTION)
    .option(...URL_OPTION)
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .action(trigger);
}

async function trigger(
  type: Triggered,
  { json, payment: given, ...options }: TestApiOptions & { json?: boolean; payment?: string },
): Promise<void> {
  const api = testApi(options);
  const read = async (path: string, init: RequestInit = {}) => {
    const response = await api.request(`/v1/${path}`, init);
    return ((await response.json()) as { data: { id: string; status: string } }).data;
  };
  const post = (path: string, init: RequestInit = {}) => read(path, { method: 'POST', ...init });
  const headers = { 'content-type': 'application/json' };
  let payment = given
    ? await read(`payments/${encodeURIComponent(given)}`)
    : await post('payments', { headers, body: JSON.stringify(PAYMENT) });
  const calls: readonly string[] = CALLS[type];
  const isSubmitted = payment.status === 'requires_review';
  for (const call of calls.filter((one) => !(isSubmitted && one.endsWith('/submit'))))
    payment = await post(call.replace('ID', payment.id));
  const { id, status } = payment;
  console.log(json ? JSON.stringify({ type, payment_id: id, status }) : `${type}  ${id} is ${status}`);
}
