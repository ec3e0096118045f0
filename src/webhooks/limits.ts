// What a node holds back: attempts at receivers that never took one, and replies that are stored.
import { type Clock, DAY_MS, MINUTE_MS, SECOND_MS } from '../lib/time.ts';
import { Throttle } from '../web/throttle.ts';
import { type Endpoint, hostOf } from './endpoint.ts';

/** Attempts a minute of one merchant at one host, before the host has taken a webhook of the endpoint. */
export const TRIALS_A_MINUTE = 6;
/** Attempts a second at receivers that failed twice in a row: of one merchant at one host, and of one merchant. */
const FAILING_A_SECOND = { ofHost: 1, ofMerchant: 4 };
/** Test events a minute that one merchant may send to one host. */
export const TESTS_A_MINUTE = 20;
/** Replies of 4 KiB at most that are stored of one merchant, a day. They are kept for 30 days: up to 60 MB. */
export const STORED_REPLIES_A_DAY = 500;

const ofMerchantAndHost = (maximum: number) => [
  { nameOf: (endpoint: Endpoint) => `${endpoint.merchant_id} ${hostOf(endpoint)}`, maximum },
];

export const trialThrottle = (clock: Clock) =>
  new Throttle<Endpoint>(clock, MINUTE_MS, ofMerchantAndHost(TRIALS_A_MINUTE));

export const failingThrottle = (clock: Clock) =>
  new Throttle<Endpoint>(clock, SECOND_MS, [
    ...ofMerchantAndHost(FAILING_A_SECOND.ofHost),
    { nameOf: ({ merchant_id }) => merchant_id, maximum: FAILING_A_SECOND.ofMerchant },
  ]);

export const testThrottle = (clock: Clock) =>
  new Throttle<Endpoint>(clock, MINUTE_MS, ofMerchantAndHost(TESTS_A_MINUTE));

/** What is stored of a reply: null where the merchant has had as many as a day may have. */
export function storedReply(
  replies: Throttle<Endpoint>,
  endpoint: Endpoint,
  reply: string | null,
): string | null {
  return reply && replies.count(endpoint) > 0 ? null : reply;
}

export const replyThrottle = (clock: Clock) =>
  new Throttle<Endpoint>(clock, DAY_MS, [
    { nameOf: ({ merchant_id }) => merchant_id, maximum: STORED_REPLIES_A_DAY },
  ]);
