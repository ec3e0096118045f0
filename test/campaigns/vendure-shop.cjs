// A Vendure shop with two products and a storefront of one page, for test/campaigns/vendure.test.ts.
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { CounterfoilMoneyEvent, CounterfoilPlugin } = require('@counterfoil/vendure');
const {
  bootstrap,
  DefaultLogger,
  dummyPaymentHandler,
  EventBus,
  LanguageCode,
  LogLevel,
  mergeConfig,
} = require('@vendure/core');
const { populate } = require('@vendure/core/cli');

const { SHOP_PORT, SHOP_DATABASE, COUNTERFOIL_URL, COUNTERFOIL_KEY, COUNTERFOIL_WEBHOOK_SECRET } =
  process.env;
const origin = `http://localhost:${SHOP_PORT}`;

/** What the storefront says of each state. It says "failed" of none. */
const SAID = {
  OPEN: 'Please pay for your order.',
  CHECKING: 'Your payment is being checked. You need not do anything.',
  PAID: 'Thank you. Your order is paid.',
  ATTENTION: 'We have received your money and will get in touch with you.',
  REJECTED: 'We could not find your payment.',
  ENDED: 'The payment link has ended.',
};

const STOREFRONT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Lamps</title><main><h1>Lamps</h1>
<button id="buy">Buy a lamp</button><p role="status"></p></main><script>
const ask = async (query, variables) => {
  const answer = await fetch('/shop-api', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await answer.json();
  if (errors) throw new Error(errors[0].message);
  return data;
};
const say = (text) => { document.querySelector('[role=status]').textContent = text; };
document.querySelector('#buy').onclick = async () => {
  await ask('mutation { addItemToOrder(productVariantId: 1, quantity: 1) { __typename } }');
  await ask('mutation { setCustomerForOrder(input: { firstName: "Ada", lastName: "Lovelace", emailAddress: "ada@example.org" }) { __typename } }');
  await ask('mutation { setOrderShippingAddress(input: { streetLine1: "1 Main Street", countryCode: "DE" }) { __typename } }');
  await ask('mutation { setOrderShippingMethod(shippingMethodId: [1]) { __typename } }');
  const made = await ask('mutation { createCounterfoilPayment { checkoutUrl } }');
  location = made.createCounterfoilPayment.checkoutUrl;
};
const order = new URLSearchParams(location.search).get('order');
if (order) ask('query ($order: String!) { counterfoilPayment(orderCode: $order) { state } }', { order })
  .then(({ counterfoilPayment }) => say(${JSON.stringify(SAID)}[counterfoilPayment.state]), (error) => say(error.message));
</script>`;

const config = mergeConfig(
  {
    apiOptions: {
      hostname: '127.0.0.1',
      port: Number(SHOP_PORT),
      adminApiPath: 'admin-api',
      shopApiPath: 'shop-api',
      middleware: [
        {
          route: '/lamps',
          handler: (_request, response) => response.setHeader('content-type', 'text/html').end(STOREFRONT),
        },
      ],
    },
    authOptions: {
      tokenMethod: ['cookie', 'bearer'],
      superadminCredentials: { identifier: 'superadmin', password: 'superadmin' },
      requireVerification: false,
    },
    dbConnectionOptions: {
      ...(SHOP_DATABASE ? { type: 'postgres', url: SHOP_DATABASE } : { type: 'sqljs' }),
      synchronize: true,
    },
    logger: new DefaultLogger({ level: LogLevel.Warn, timestamp: false }),
    paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  },
  {
    plugins: [
      CounterfoilPlugin.init({
        key: COUNTERFOIL_KEY,
        baseUrl: COUNTERFOIL_URL,
        webhookSecret: COUNTERFOIL_WEBHOOK_SECRET,
        returnUrl: (order) => `${origin}/lamps?order=${order.code}`,
      }),
    ],
  },
);

const initialData = {
  defaultLanguage: LanguageCode.en,
  defaultZone: 'Europe',
  countries: [{ code: 'DE', name: 'Germany', zone: 'Europe' }],
  taxRates: [{ name: 'Standard', percentage: 19 }],
  shippingMethods: [{ name: 'Parcel', price: 500 }],
  paymentMethods: [
    { name: 'Counterfoil', handler: { code: 'counterfoil', arguments: [] } },
    {
      name: 'Voucher',
      handler: { code: 'dummy-payment-handler', arguments: [{ name: 'automaticSettle', value: 'true' }] },
    },
  ],
  collections: [],
};
const PRODUCTS = `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets
Lamp,lamp,It gives light.,,,,,LAMP,49.90,standard,1000,false,,
Candle,candle,It gives less light.,,,,,CANDLE,49.90,standard,1000,false,,
`;

async function main() {
  const products = join(__dirname, 'products.csv');
  writeFileSync(products, PRODUCTS);
  const app = await populate(() => bootstrap(config), initialData, products);
  const told = ({ payment, message }) => console.log(`money ${payment.id} ${message}`);
  app.get(EventBus).ofType(CounterfoilMoneyEvent).subscribe(told);
  console.log(`ready ${origin}`);
}
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
