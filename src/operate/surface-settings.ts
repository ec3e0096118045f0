// The part of the configuration that each surface gets.

import { newSecret } from '../lib/secrets.ts';
import type { PaymentTerms } from '../payments/pay-by.ts';
import type { MatchSettings } from '../statements/matching/propose.ts';
import { plainPeers } from '../web/host-name.ts';
import { addressForLog } from '../web/network.ts';
import type { Configuration } from './config.ts';

/** The settings that new payments are created with. */
export const termsOf = (configuration: Configuration): PaymentTerms => ({
  lifetimeS: configuration.payment_lifetime_s,
  timeZone: configuration.time_zone,
  calendar: configuration.calendar,
  graceDays: configuration.pay_by_grace_days,
});

/** The settings that bank lines are matched by. */
export const matchSettingsOf = (configuration: Configuration): MatchSettings => ({
  timeZone: configuration.time_zone,
  calendar: configuration.calendar,
  prefixes: configuration.statements.prefixes,
});

/** The settings that surfaces go by. */
export function surfaceSettings(configuration: Configuration) {
  const { registration, rate_limits, trust_proxy } = configuration;
  const httpsOnly = configuration.environment === 'production';
  return {
    terms: termsOf(configuration),
    httpsOnly,
    docs: configuration.docs,
    ...matchSettingsOf(configuration),
    storage: configuration.storage,
    /** Minor units by currency above which a second administrator must confirm. */
    fourEyesAbove: configuration.review.four_eyes_above,
    /** How many forms of signing in to the console one network address may send in 15 minutes. */
    signInForms: configuration.sign_in_forms_per_address,
    limits: {
      perPayment: configuration.checkout_forms_per_payment,
      perAddress: configuration.checkout_forms_per_address,
    },
    rateLimits: rate_limits.enabled ? { ...rate_limits, nodes: configuration.nodes } : null,
    registration: {
      mode: registration.mode,
      contact: registration.contact,
      limits: { perAddress: registration.per_address, perHour: registration.per_hour },
    },
    security: configuration.security,
    loggedAddress: addressForLog(configuration.log_addresses, newSecret('')),
    trustProxy: trust_proxy,
    /** Who may speak plain HTTP, where https alone is promised and a proxy speaks it; undefined where all may. */
    mayComePlain: httpsOnly && !configuration.tls ? plainPeers(trust_proxy) : undefined,
  };
}

export type SurfaceSettings = ReturnType<typeof surfaceSettings>;
