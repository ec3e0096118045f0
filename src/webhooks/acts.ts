// What administrators and operators do about a webhook endpoint: disable, enable, send again.

import { phrase } from '../lib/phrases.ts';
import { asciiDigits, counted } from '../lib/text.ts';
import { DAY_MS } from '../lib/time.ts';
import { REASON_MAXIMUM, reasonFault } from '../merchants/change.ts';
import { type Acts, act, reasonTaken, type Taken } from '../web/act.ts';
import { disableEndpoint, enableEndpoint } from './change.ts';
import {
  presentResend,
  RESENDS,
  type Resend,
  resend,
  resendAnswerSchema,
  resendRequestSchema,
} from './deliver.ts';
import { DELIVERIES_KEPT_MS, type Endpoint } from './endpoint.ts';

const DAYS_MAXIMUM = DELIVERIES_KEPT_MS / DAY_MS;

const isEnabled = ({ disabled_at }: Endpoint) => disabled_at === null;

function saysStatus(endpoint: Endpoint) {
  const { id } = endpoint;
  const status = isEnabled(endpoint) ? 'enabled' : 'disabled';
  return { json: { id, status }, text: `${id} is ${status}.` };
}

const disable = act({
  name: 'disable',
  may: 'administer',
  takes: () => ({
    reason: reasonTaken(REASON_MAXIMUM, reasonFault, {
      described: 'Why. The merchant reads it as `disabled_note`.',
      option: 'what the merchant is told',
      readBy: phrase('Its merchant reads it.'),
    }),
  }),
  does: (journal, { id }: Endpoint, { reason }, by) =>
    journal.commit((transaction) => disableEndpoint(transaction, id, by.kind, by, reason), id),
  offers: isEnabled,
  asks: {
    link: phrase('Disable…'),
    title: phrase('Disable this endpoint?'),
    lead: phrase(
      'Nothing is sent to it until an administrator enables it. What happens meanwhile is kept, and sent then.',
    ),
    button: phrase('Disable the endpoint'),
    look: 'danger',
  },
  endpoint: {
    id: 'disableWebhookEndpointOfMerchant',
    summary: 'Disable a webhook endpoint',
    description:
      'Nothing is sent to it until an administrator enables it. What happens meanwhile is kept. A repeated call changes nothing.',
    body: 'EndpointDisabling',
  },
  command: {
    description: 'send nothing to an endpoint',
    example: ' --reason "It answers with our own checkout"',
    says: saysStatus,
  },
});

const enable = act({
  name: 'enable',
  may: 'administer',
  does: (journal, { id }: Endpoint, _, by) =>
    journal.commit((transaction) => enableEndpoint(transaction, id, by), id),
  offers: (endpoint) => !isEnabled(endpoint),
  asks: {
    link: phrase('Enable…'),
    title: phrase('Enable this endpoint?'),
    lead: phrase('Sending goes on where it stopped: what happened meanwhile is sent now.'),
    button: phrase('Enable the endpoint'),
  },
  endpoint: {
    id: 'enableWebhookEndpointOfMerchant',
    summary: 'Enable a webhook endpoint',
    description:
      'What happened while it was disabled is sent now. 409 `invalid_status`: its secret is lost. A request body is ignored. A repeated call changes nothing.',
    errors: ['invalid_status'],
  },
  command: {
    description: 'send to an endpoint again, also what happened meanwhile',
    says: saysStatus,
  },
});

/** `now` gives milliseconds since 1970. */
function resendTakes(now: () => number): { what: Taken<Resend>; since: Taken<number> } {
  const { what, since } = resendRequestSchema(now).shape;
  return {
    what: {
      schema: what,
      option: {
        flags: '--what <what>',
        description: 'failed deliveries, or events that it never got',
        choices: RESENDS,
        default: 'failed',
      },
      asks: {
        label: phrase('What is sent'),
        choices: [
          ['failed', phrase('What failed')],
          [
            'missing',
            phrase('What it never got, because it was added later or its deliveries are no longer kept'),
          ],
        ],
        initial: 'failed',
        missing: phrase('Choose what is sent'),
      },
    },
    since: {
      schema: since.transform((text) => Date.parse(text)),
      option: {
        flags: '--since <moment>',
        description: 'from when on, such as 24h, 7d or an ISO 8601 moment',
        past: DAYS_MAXIMUM,
      },
      asks: {
        name: 'days',
        label: phrase('How many days back'),
        hint: phrase('1 to 30.'),
        initial: '1',
        attributes: { inputmode: 'numeric', class: 'short' },
      },
      read(text, now) {
        const days = Number(asciiDigits(text.trim()));
        return Number.isInteger(days) && days >= 1 && days <= DAYS_MAXIMUM
          ? { value: now - days * DAY_MS }
          : { fault: `Enter a number of days from 1 to ${DAYS_MAXIMUM}` };
      },
    },
  };
}

const sendAgain = act({
  name: 'resend',
  may: 'administer',
  takes: resendTakes,
  does: (journal, { id }: Endpoint, { what, since }, by) =>
    journal.commit((transaction) => resend(transaction, id, what, since, by), id),
  offers: isEnabled,
  asks: {
    link: phrase('Send again…'),
    title: phrase('Send again'),
    lead: phrase('Each event keeps its id, so that its server recognises one that it has already.'),
    button: phrase('Send again'),
  },
  endpoint: {
    id: 'resendDeliveriesOfMerchant',
    summary: 'Send again what an endpoint did not take, or what it is missing',
    description: 'What was delivered is not sent again. 409 `invalid_status`: the endpoint is disabled.',
    body: 'StrictResendRequest',
    gives: {
      answer: ['ResendAnswer', resendAnswerSchema],
      present: ({ what, since }, deliveries) => presentResend(what, since, deliveries),
    },
    errors: ['invalid_status'],
  },
  command: {
    description: 'send again what an endpoint did not take',
    example: ' --what missing --since 7d',
    says: (deliveries, { id }, { what }) => ({
      json: { id, what, deliveries },
      text:
        deliveries === null
          ? 'A server sends what is missing within a second.'
          : `A server sends ${counted(deliveries, 'delivery', 'deliveries')} within a second.`,
    }),
  },
});

export const ENDPOINT_ACTS: Acts<Endpoint> = {
  thing: 'a webhook endpoint',
  command: 'counterfoil webhooks',
  page: '/webhooks/:endpoint_id',
  admin: '/admin/webhook_endpoints/{endpoint_id}',
  acts: [sendAgain, disable, enable],
};
