// What a merchant may ask for: the schema that checks, explains and documents a payment request, and the rules of metadata.
import { z } from 'zod';
import { holdsCardNumber } from '../lib/card-number.ts';
import { type ErrorDetails, validationFailed } from '../lib/errors.ts';
import {
  addSchemaFaults,
  fieldPath,
  NUMBERED,
  optional,
  refuseCardFields,
  saysNothing,
  soundText,
  type Whole,
  whole,
} from '../lib/faults.ts';
import { INEXACT } from '../lib/json.ts';
import { INEXACT_AMOUNT, isCurrency, parseAmount } from '../lib/money.ts';
import { isEmailAddress, languageTag, textFault } from '../lib/text.ts';
import { webAddressFault } from '../lib/web-address.ts';

export const DEFAULT_CURRENCY = 'USD';
const NO_CURRENCY = 'Must be an ISO 4217 currency code.';
const EXPIRES_IN = { minimum: 300, maximum: 15_552_000 };
const METADATA_BYTES_MAXIMUM = 16 * 1024;
const METADATA_NAMES_MAXIMUM = 100;
const METADATA_DEPTH_MAXIMUM = 5;
/** Many programs read a text only up to this character, and PostgreSQL's `jsonb` refuses it. */
const NUL = '\0';
const TOO_LARGE = `Must be at most ${METADATA_BYTES_MAXIMUM} bytes of JSON.`;

interface TextRule {
  multiline?: boolean;
  /** Free text, where a card number would be a mistake rather than a coincidence. */
  refuseCards?: boolean;
  /** The blanks around it go: people do not see them. */
  trims?: boolean;
  check?: (text: string) => string | undefined;
}

function text(maximum: number, rule: TextRule = {}) {
  const faultOf = (value: string) =>
    textFault(value, maximum, rule.multiline) ??
    (rule.refuseCards && holdsCardNumber(value) ? NUMBERED : undefined) ??
    rule.check?.(value);
  return optional(soundText(maximum, faultOf, rule));
}

const URL_MAXIMUM = 2048;
const webAddress = text(URL_MAXIMUM, {
  check(url) {
    const fault = webAddressFault(url, { httpsOnly: false });
    if (fault) return fault;
    if (new URL(url).href.length <= URL_MAXIMUM) return undefined;
    return `Must be at most ${URL_MAXIMUM} characters, percent-encoded.`;
  },
});

export const customerSchema = z.object(
  {
    name: text(255, { refuseCards: true, trims: true }).describe("The customer's name."),
    email: text(254, {
      trims: true,
      check: (email) => (isEmailAddress(email) ? undefined : 'Must be an e-mail address.'),
    }).describe("The customer's e-mail address."),
    phone: text(40, { trims: true }).describe("The customer's telephone number."),
  },
  'Must be an object.',
);

/** `POST /v1/payments`. */
export const paymentRequestSchema = z.object(
  {
    amount: z
      .number('Must be a number, such as 49.90, without quotes.')
      .meta({ exclusiveMinimum: 0, maximum: 999999999999.99, examples: [49.9] })
      .describe('Greater than zero, at most 2 decimal places, judged as written.'),
    currency: optional(
      z
        .string('Must be a string.')
        .regex(/^[A-Za-z]{3}$/, NO_CURRENCY) // or else `ſ` and `ﬆ` became letters of a code
        .transform((code) => code.toUpperCase())
        .refine((code) => isCurrency(code), NO_CURRENCY),
    ).describe('ISO 4217 code in either case. Default `USD`.'),
    merchant_reference: text(255).describe(
      "The merchant's own reference, such as an order number. Need not be unique.",
    ),
    description: text(1000, { multiline: true, refuseCards: true }).describe('What the payment is for.'),
    return_url: webAddress.describe(
      'Where the customer goes after paying. Kept as the URL standard serialises it.',
    ),
    cancel_url: webAddress.describe(
      'Where the customer goes on cancelling. Kept as the URL standard serialises it.',
    ),
    customer: optional(customerSchema).describe('What is known of the customer.'),
    metadata: optional(
      z
        .custom<Record<string, unknown>>(
          (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
          'Must be an object.',
        )
        .meta({ type: 'object', additionalProperties: true }),
    ).describe('Further data of the merchant: at most 16 KiB of JSON, 100 names, 5 levels, no U+0000.'),
    locale: text(35, {
      check: (tag) => (languageTag(tag) ? undefined : 'Must be a language tag such as de or pt-BR (BCP 47).'),
    }).describe(
      'Language of the checkout page (BCP 47), unless the customer chooses another. Default: what their browser asks for.',
    ),
    expires_in: optional(
      z
        .int('Must be a whole number.')
        .min(EXPIRES_IN.minimum, `Must be at least ${EXPIRES_IN.minimum}.`)
        .max(EXPIRES_IN.maximum, `Must be at most ${EXPIRES_IN.maximum}.`),
    ).describe(
      'Seconds until the payment expires, 300 to 15552000. Default: 7 days unless configured otherwise. Customers read an earlier day, `pay_by`.',
    ),
  },
  'Must be a JSON object.',
);
const strictSchema = paymentRequestSchema.extend({ customer: optional(customerSchema.strict()) }).strict();

/**
 * A checked request: text as it was sent, URLs as the URL standard serialises them, the amount in minor units, the language tag in the
 * case that BCP 47 recommends.
 */
export type PaymentRequest = Omit<Whole<typeof paymentRequestSchema>, 'amount' | 'currency' | 'customer'> & {
  amount_minor: number;
  currency: string;
  customer: Whole<typeof customerSchema> | null;
};

/**
 * Checks a parsed body. `strict` refuses fields it does not know (`Prefer: handling=strict`, RFC 7240); `httpsOnly` refuses
 * plain http addresses but for loopback. Throws `validation_failed` with every fault.
 */
export function parsePaymentRequest(
  fields: Record<string, unknown>,
  rule: { strict: boolean; httpsOnly: boolean },
): PaymentRequest {
  const faults: ErrorDetails = Object.create(null); // names come from outside: none may be inherited
  const inexact = fields.amount === INEXACT;
  const parsed = (rule.strict ? strictSchema : paymentRequestSchema).safeParse(
    inexact ? { ...fields, amount: 0 } : fields,
  );
  addSchemaFaults(faults, parsed.error);

  const wanted = fields.currency;
  const currency =
    typeof wanted === 'string' && !saysNothing(wanted) ? wanted.toUpperCase() : DEFAULT_CURRENCY;
  let amount_minor = 0;
  if (inexact) {
    faults.amount = INEXACT_AMOUNT;
  } else if (typeof fields.amount === 'number') {
    const amount = parseAmount(fields.amount, currency);
    if ('fault' in amount) faults.amount = amount.fault;
    else amount_minor = amount.minor;
  }
  for (const name of ['return_url', 'cancel_url'] as const) {
    const url = fields[name];
    const fault =
      rule.httpsOnly &&
      typeof url === 'string' &&
      !saysNothing(url) &&
      webAddressFault(url, { httpsOnly: true });
    if (fault) faults[name] ??= fault;
  }
  const metadata = fields.metadata;
  if (typeof metadata === 'object' && metadata !== null && !faults.metadata) checkMetadata(metadata, faults);
  refuseCardFields(fields, faults);

  if (Object.keys(faults).length > 0 || !parsed.success) throw validationFailed(faults);
  const { amount: _, customer, ...rest } = whole(paymentRequestSchema, parsed.data);
  return {
    ...rest,
    amount_minor,
    currency,
    return_url: serialised(rest.return_url),
    cancel_url: serialised(rest.cancel_url),
    customer: customer && whole(customerSchema, customer),
    locale: rest.locale && languageTag(rest.locale)!,
  };
}

/** A checked address as the URL standard serialises it (WHATWG URL, section 4.5), so that every reader sees the same host. */
function serialised(url: string | null): string | null {
  return url ? new URL(url).href : null;
}

/** Adds what is wrong with a metadata object to `faults`: size, keys, depth, text, numbers, card numbers. */
function checkMetadata(metadata: object, faults: ErrorDetails): void {
  let keys = 0;
  let characters = 0;

  function visit(value: unknown, path: string[], depth: number): void {
    if (typeof value === 'string') {
      characters += value.length;
      if (characters > METADATA_BYTES_MAXIMUM)
        faults.metadata = TOO_LARGE; // nothing of it is searched further
      else if (!value.isWellFormed()) faults[fieldPath(path)] = 'Must be well-formed Unicode.';
      else if (value.includes(NUL)) faults[fieldPath(path)] = 'Must not contain the character U+0000.';
      else if (holdsCardNumber(value)) faults[fieldPath(path)] = NUMBERED;
    } else if (typeof value === 'number') {
      if (holdsCardNumber(String(value))) faults[fieldPath(path)] = NUMBERED;
    } else if (value === INEXACT) {
      faults[fieldPath(path)] = 'Has more digits than a JSON number keeps. Send it as a string.';
    } else if (typeof value === 'object' && value !== null) {
      if (depth > METADATA_DEPTH_MAXIMUM) {
        faults.metadata = `Must be nested at most ${METADATA_DEPTH_MAXIMUM} levels deep.`;
        return;
      }
      const named = !Array.isArray(value);
      for (const [name, inner] of Object.entries(value)) {
        if (named) {
          keys++;
          if (!name.isWellFormed()) faults.metadata = 'Must have names in well-formed Unicode.';
          else if (name.includes(NUL)) faults.metadata = 'Must have names without the character U+0000.';
          else if (holdsCardNumber(name)) faults[fieldPath([...path, name])] = NUMBERED;
        }
        visit(inner, [...path, name], depth + 1);
      }
    }
  }

  visit(metadata, ['metadata'], 1);
  if (keys > METADATA_NAMES_MAXIMUM)
    faults.metadata = `Must have at most ${METADATA_NAMES_MAXIMUM} names in all.`;
  // Only shallow values are serialised, because the serialiser recurses.
  if (!faults.metadata && Buffer.byteLength(JSON.stringify(metadata)) > METADATA_BYTES_MAXIMUM) {
    faults.metadata = TOO_LARGE;
  }
}
