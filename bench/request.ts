// The request that every measurement sends: an ordinary payment with most fields filled in.

export const KEY = 'cfk_test_development_key_replace_before_production';

export const BODY = {
  amount: 49.9,
  currency: 'EUR',
  merchant_reference: 'ORDER-10042',
  description: 'Two coffees and a cake',
  return_url: 'https://shop.example/orders/10042/thanks',
  cancel_url: 'https://shop.example/orders/10042',
  customer: { name: 'Ana Silva', email: 'ana@example.com' },
  metadata: { cart: 'c-7731', items: 3 },
};
