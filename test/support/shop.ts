// Merchants with every way to pay, for the tests of checkout: one that offers all, and one for each alone.
import { newSecret } from '../../src/lib/secrets.ts';
import type { Harness } from './harness.ts';

/** The methods of the tests, as lines of a configuration file. */
export const METHODS = `
methods:
  - type: test_card
  - type: bank_transfer
    accounts:
      - currency: EUR
        holder: Corner Shop GmbH
        iban: DE89370400440532013000
        bic: COBADEFFXXX
      - currency: CHF
        holder: Corner Shop AG
        iban: CH9300762011623852957
        address: { street: Bahnhofstrasse, building: "1", postal_code: "8001", city: Zürich, country: CH }
      - currency: INR
        holder: Corner Shop Pvt Ltd
        upi_id: cornershop@okaxis
        rows:
          - { label: Account number, value: "50100012345678" }
          - { label: IFSC, value: HDFC0000001 }
      - currency: BRL
        holder: Corner Shop Ltda
        pix_key: 123e4567-e12b-42d1-a456-426655440000
        city: São Paulo
      - currency: USD
        holder: Corner Shop Inc.
        rows:
          - { label: Account number, value: "000123456789" }
          - { label: Routing number, value: "021000021" }
      - currency: GBP
        holder: Corner Shop
        rows:
          - { label: Sort code, value: 12-34-56 }
          - { label: Account number, value: "12345678" }
      - currency: JPY
        holder: コーナーショップ
        rows:
          - { label: 口座番号, value: "1234567" }
  - id: cash
    type: manual
    name: Cash on delivery
    instructions: |
      Pay the courier when the parcel arrives.
      Have the exact amount ready.
  - type: details
`;

/** Methods that narrow a merchant to one, by the name tests call them. */
export const OFFERS = {
  all: null,
  card: 'test_card',
  transfer: 'bank_transfer',
  cash: 'cash',
  details: 'details',
} as const;
export type OfferName = keyof typeof OFFERS;

/** A key of the merchant that offers each. */
export const KEYS = Object.fromEntries(
  Object.keys(OFFERS).map((name) => [name, newSecret('cfk_test_')]),
) as Record<OfferName, string>;

/** Lines for `startHarness`: the merchants `mer_all`, `mer_card`, … of Corner Shop, and the methods. */
export const SHOP = `${Object.entries(OFFERS)
  .map(
    ([name, method]) => `  - id: mer_${name}
    name: Corner Shop
    website: https://corner.example
    support: help@corner.example
    ${method === null ? '' : `methods: [${method}]`}
    keys:
      - key: ${KEYS[name as OfferName]}
`,
  )
  .join('')}${METHODS}`;

/** A payment of the merchant that offers `offer`, as the API shows it. */
export function createAt(harness: Harness, offer: OfferName, fields: object = {}) {
  return harness.create({ currency: 'EUR', ...fields }, { key: KEYS[offer] });
}
