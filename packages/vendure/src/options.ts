// The plugin's options, and the client that is made of them.
import { Counterfoil } from '@counterfoil/client';
import type { Order } from '@vendure/core';

/** Below this, Counterfoil would end its wait for the webhook's answer first. */
const TIMEOUT_MS = 5000;

/** What `CounterfoilPlugin.init` takes. */
export interface CounterfoilPluginOptions {
  /** `cfk_test_…` or `cfk_live_…`. */
  key: string;
  /** The address of Counterfoil: `https://pay.example`. */
  baseUrl: string;
  /** `whsec_…` of the webhook endpoint; both while one replaces the other. */
  webhookSecret: string | readonly string[];
  /** The page of the shop where the customer goes on after checkout. It asks for the state by the order's code. */
  returnUrl(order: Order): string;
  /** Seconds until a link expires. Default: as Counterfoil is configured. */
  expiresInS?: number;
}

/** The token of Nest under which the options are provided. */
export const OPTIONS = Symbol('CounterfoilPluginOptions');

/** A client with the options' key. Throws `TypeError` for options with which no request, and no webhook, could be right. */
export function clientOf({ key, baseUrl, webhookSecret, returnUrl }: CounterfoilPluginOptions): Counterfoil {
  const secrets = [webhookSecret].flat();
  if (secrets.length === 0 || !secrets.every((one) => /^whsec_\S{32,}$/.test(one ?? '')))
    throw new TypeError('webhookSecret is the whsec_… of the webhook endpoint in Counterfoil');
  if (typeof returnUrl !== 'function') throw new TypeError('returnUrl is a function of the order');
  return new Counterfoil({ key, baseUrl, timeoutMs: TIMEOUT_MS });
}
