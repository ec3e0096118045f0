// The settings of the ways to pay, and what each type of them needs.
import { electronicFormatIBAN } from 'ibantools';
import { z } from 'zod';
import { isCurrency } from '../../lib/money.ts';
import { setting, shortText } from '../../lib/setting.ts';
import type { Account } from './transfer/payload-text.ts';
import { accountFault } from './transfer/quick-pay.ts';

/** Says what is wrong with a member of a group. */
const refuse = (context: z.core.$RefinementCtx, path: PropertyKey[], message: string) =>
  context.addIssue({ code: 'custom', path, message });

const text = (maximum: number, multiline = false) =>
  shortText(maximum, multiline).meta({ check: `1 to ${maximum} characters` });

const currency = z
  .string()
  .refine(isCurrency, 'must be an ISO 4217 code, such as EUR')
  .meta({ check: 'ISO 4217 code' });

/** Made for the first address: every command would wait for it. */
let countryNames: Intl.DisplayNames | undefined;

/** Whether text is a country's code, by the names that CLDR has for them; `ZZ` is its word for none. */
function isCountry(text: string): boolean {
  countryNames ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  return /^[A-Z]{2}$/.test(text) && text !== 'ZZ' && countryNames.of(text) !== undefined;
}

const addressSchema = z.strictObject({
  street: setting(text(70).optional(), 'Street, without the number; a place without streets has none.'),
  building: setting(text(16).optional(), 'Building number.'),
  postal_code: setting(text(16), 'Postal code.'),
  city: setting(text(35), 'Town.'),
  country: setting(
    z.string().refine(isCountry, 'must be an ISO 3166-1 code of two capital letters, such as CH'),
    'Country.',
    'ISO 3166-1 code of two letters',
  ),
});

const rowSchema = z.strictObject({
  label: setting(text(40), 'What the line is, in the words of the customers: `Sort code`.'),
  value: setting(text(140), 'What is to be copied.'),
});

const accountSchema = z
  .strictObject({
    currency: setting(currency, 'The currency of payments this account takes.'),
    holder: setting(
      text(70),
      'Account holder, spelled exactly as the bank has it. Before a transfer in euros the bank of the payer compares it with the IBAN (Verification of Payee) and warns where they differ.',
    ),
    iban: setting(
      z.string().optional(),
      'IBAN.',
      'judged by its check digits; gives a QR code for EUR, and for CHF with `address`',
    ),
    bic: setting(z.string().optional(), 'BIC.', 'ISO 9362 form'),
    rows: setting(
      z.array(rowSchema).default([]),
      'Further lines to copy, for accounts without an IBAN: `Sort code`, `Account number`.',
    ),
    upi_id: setting(z.string().optional(), 'UPI id, for INR.', '`name@bank`; gives a QR code'),
    pix_key: setting(
      z.string().optional(),
      'PIX key, for BRL.',
      'CPF, CNPJ, e-mail, +55 phone number or random key; gives a QR code with `city`',
    ),
    city: setting(text(15).optional(), 'Town of the account holder, for PIX.'),
    address: setting(addressSchema.optional(), 'Address of the account holder, for the Swiss QR-bill.'),
  })
  .superRefine((account, context) => {
    const fault = accountFault(account);
    if (fault) refuse(context, [fault.field], fault.problem);
    if (!account.iban && !account.upi_id && !account.pix_key && account.rows.length === 0)
      context.addIssue('must have an iban, a upi_id, a pix_key or rows');
    if (account.pix_key && !account.city) refuse(context, ['city'], 'is missing: a PIX code needs it');
  });

const methodSchema = z
  .strictObject({
    id: setting(
      z
        .string()
        .regex(/^[a-z0-9_]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and _')
        .optional(),
      'Names the method; never change it once it was used. By default its `type`.',
      '1 to 40 of a-z, 0-9 and _; used once',
    ),
    type: setting(
      z.enum(['bank_transfer', 'manual', 'details', 'test_card']),
      'A transfer to one of `accounts`; anything described by `name` and `instructions`; contact details alone; a test card, for test payments alone.',
    ),
    name: setting(
      text(60).optional(),
      "What customers choose, in one language for all; required for `manual`, else the page's own words.",
    ),
    instructions: setting(
      text(2000, true).optional(),
      'For `manual`: what the customer is to do, in plain text.',
    ),
    currencies: setting(
      z.array(currency).min(1).optional(),
      'For `manual`: the currencies it is offered for; all when left out.',
      'ISO 4217 codes',
    ),
    accounts: setting(
      z.array(accountSchema).min(1).optional(),
      'For `bank_transfer`: one account for each currency.',
    ),
  })
  .superRefine((method, context) => {
    const { type } = method;
    const wants = (field: keyof typeof method, only: typeof type, required: boolean) => {
      const set = method[field] !== undefined;
      if (set && type !== only) refuse(context, [field], `is a setting of ${only} alone`);
      if (!set && type === only && required) refuse(context, [field], `is missing: ${only} needs it`);
    };
    if (method.id === 'details' && type !== 'details')
      refuse(context, ['id'], 'is the name of the method details');
    if (type === 'manual' && method.name === undefined)
      refuse(context, ['name'], 'is missing: manual needs it');
    wants('instructions', 'manual', true);
    wants('currencies', 'manual', false);
    wants('accounts', 'bank_transfer', true);
    const seen = new Set<string>();
    for (const [index, account] of (method.accounts ?? []).entries()) {
      if (seen.has(account.currency))
        refuse(context, ['accounts', index, 'currency'], 'has an account already: one for each currency');
      seen.add(account.currency);
    }
  });

export const methodsSchema = z
  .array(methodSchema)
  .transform((methods) =>
    methods.map((one) => ({
      id: one.id ?? one.type,
      type: one.type,
      name: one.name ?? null,
      instructions: one.instructions ?? null,
      currencies: one.currencies ?? null,
      accounts: (one.accounts ?? []).map((account) => plain(account)),
    })),
  )
  .superRefine(eachOnce);

/** For `superRefine` of a list: refuses an id that stands twice. */
export function eachOnce(list: readonly { id: string }[], context: z.RefinementCtx): void {
  const ids = new Set<string>();
  for (const [index, { id }] of list.entries()) {
    if (ids.has(id)) refuse(context, [index, 'id'], 'is used twice');
    ids.add(id);
  }
}

/** A method as the configuration has it, checked. */
export type MethodSettings = z.output<typeof methodsSchema>[number];

/** An account with its IBAN and BIC as machines write them. */
function plain(account: Account): Account {
  const { iban, bic } = account;
  return {
    ...account,
    ...(iban !== undefined && { iban: electronicFormatIBAN(iban)! }),
    ...(bic !== undefined && { bic: bic.toUpperCase() }),
  };
}
