// Every page of registration, as the service answers with it: the one list that the checks of pages walk.
import { MINUTE_MS } from '../../../src/lib/time.ts';
import { type Applicant, anotherShop, CORNER_SHOP, invited } from '../../support/applicant.ts';
import type { CheckoutPage } from '../../support/customer.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

/** As long as it may be, and in words that do not end. */
const LONG_NAME = `Donaudampfschifffahrtselektrizitäten${'hauptbetriebswerkbauunterbeamten'.repeat(2)} & Söhne GmbH`;
const MANY = 'registration:\n  per_address: 10000\n  per_hour: 10000\n';
const CONTACT = '  contact: access@pay.example\n';

export interface Scene {
  name: string;
  status: number;
  show(ana: Applicant, lang: string): Promise<CheckoutPage>;
  /** Which service it is shown by. */
  by: keyof typeof CONFIGURATIONS;
}

const CONFIGURATIONS = {
  open: MANY,
  invite: `${MANY}  mode: invite\n${CONTACT}`,
  closed: `registration:\n  mode: closed\n${CONTACT}`,
  busy: 'registration:\n  per_address: 1\n',
  late: MANY,
  failing: MANY,
} as const;

const form = (ana: Applicant, lang: string, query: Record<string, string> = {}) =>
  ana.open({ lang, ...query });
const sent = async (ana: Applicant, lang: string, typed: Record<string, string> = anotherShop()) =>
  ana.send(await form(ana, lang), typed);

/** The services that the scenes are shown by; each is closed by whoever started them. */
export async function startServices(): Promise<Record<Scene['by'], Harness>> {
  const names = Object.keys(CONFIGURATIONS) as Scene['by'][];
  const started = await Promise.all(
    names.map((name) => startHarness('sqlite', { configuration: CONFIGURATIONS[name] })),
  );
  return Object.fromEntries(names.map((name, i) => [name, started[i]!])) as Record<Scene['by'], Harness>;
}

/** The scenes, in an order in which each can be shown in any language. */
export function scenesOf(services: Record<Scene['by'], Harness>): readonly Scene[] {
  return [
    { name: 'form', by: 'open', status: 200, show: form },
    { name: 'errors, all empty', by: 'open', status: 422, show: (ana, lang) => sent(ana, lang, {}) },
    {
      name: 'errors, all typed',
      by: 'open',
      status: 422,
      show: (ana, lang) =>
        sent(ana, lang, { business_name: 'x'.repeat(200), email: 'ana', website: 'corner.example' }),
    },
    {
      name: 'errors, name of another',
      by: 'open',
      status: 422,
      show: (ana, lang) => sent(ana, lang, { ...CORNER_SHOP, business_name: 'ᴅᴇᴠᴇʟᴏᴘᴍᴇɴᴛ Shop' }),
    },
    { name: 'invite', by: 'invite', status: 200, show: (ana, lang) => form(ana, lang, { invite: 'cfi_x' }) },
    { name: 'errors, no invitation', by: 'invite', status: 422, show: (ana, lang) => sent(ana, lang) },
    {
      name: 'errors, unknown invitation',
      by: 'invite',
      status: 422,
      show: (ana, lang) => sent(ana, lang, { ...CORNER_SHOP, invite: 'cfi_x' }),
    },
    {
      name: 'key, by invitation',
      by: 'invite',
      status: 201,
      async show(ana, lang) {
        const invite = await invited(services.invite);
        return sent(ana, lang, { ...CORNER_SHOP, business_name: LONG_NAME, invite });
      },
    },
    { name: 'key', by: 'open', status: 201, show: (ana, lang) => sent(ana, lang) },
    { name: 'closed', by: 'closed', status: 403, show: form },
    {
      name: 'too many',
      by: 'busy',
      status: 429,
      async show(ana, lang) {
        await sent(ana, lang);
        return sent(ana, lang);
      },
    },
    {
      name: 'shown once',
      by: 'late',
      status: 410,
      async show(ana, lang) {
        const page = await form(ana, lang);
        const shop = anotherShop();
        await ana.send(page, shop);
        services.late.clock.advance(10 * MINUTE_MS);
        return ana.send(page, shop);
      },
    },
    {
      name: 'form refused',
      by: 'open',
      status: 403,
      show: async (ana, lang) => ana.send(await form(ana, lang), { ...CORNER_SHOP, token: 'forged' }),
    },
    {
      name: 'failure',
      by: 'failing',
      status: 503,
      async show(ana, lang) {
        await services.failing.service.journal.close();
        return sent(ana, lang);
      },
    },
  ];
}
