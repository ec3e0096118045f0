// The whole service without a port: every surface that a site serves, wired from what it is given.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FailureTally } from '../administrators/failures.ts';
import type { Cost } from '../administrators/password.ts';
import { type Checkout, checkout, type FrontLinks, nowhere } from '../checkout/checkout.ts';
import { INBOX_PATH } from '../checkout/inbox.ts';
import { BackgroundVerification } from '../journal/background-verification.ts';
import { CheckpointLookup } from '../journal/checkpoint.ts';
import type { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../journal/keys/key-ring.ts';
import type { Logger } from '../lib/log.ts';
import { type Clock, SECOND_MS } from '../lib/time.ts';
import { VERSION } from '../lib/version.ts';
import { pathOf } from '../lib/web-address.ts';
import { DEV_MAIL_PATH } from '../mail/dev-mail.ts';
import { mailRoutes } from '../mail/pages/public-routes.ts';
import { lettersAbout } from '../mail/pages/told.ts';
import type { Directory } from '../merchants/directory.ts';
import type { KeyUses } from '../merchants/key-uses.ts';
import { DEVELOPMENT_KEY } from '../merchants/merchant.ts';
import {
  type RegistrationSettings,
  registration,
  registrationDescription,
} from '../merchants/registration/form-route.ts';
import type { EventStreams } from '../payments/events/streams.ts';
import type { Offer } from '../payments/methods/offer.ts';
import { countCreated } from '../payments/queries.ts';
import type { Waits } from '../payments/waits.ts';
import type { ReviewFigures } from '../review/figures.ts';
import { onStatement, seenOnStatement } from '../statements/matching/bank-fact.ts';
import type { Database } from '../store/database.ts';
import { type DocsSettings, docs } from '../web/docs/docs.ts';
import type { Defect } from '../web/errors.ts';
import { API_HEADERS } from '../web/headers.ts';
import { addHealthRoutes, type Health, healthDescription } from '../web/health.ts';
import { openApiDocument, withServer } from '../web/openapi.ts';
import { addRootFiles } from '../web/pages/root-files.ts';
import type { Refuse } from '../web/rate-limit.ts';
import { addSecurityText } from '../web/security-text.ts';
import { createShell, type ShellParts } from '../web/shell.ts';
import type { AddressRules } from '../webhooks/addresses.ts';
import { sentDescription } from '../webhooks/present.ts';
import { isSignedFor } from '../webhooks/signing.ts';
import { adminApi, adminDescription } from './admin.ts';
import type { Installation } from './checks/check.ts';
import { Inspector } from './checks/checks.ts';
import { ROW_CHECKS } from './checks/row-checks.ts';
import type { SurfaceSettings } from './config.ts';
import type { Mail } from './mail.ts';
import { type ConsoleSettings, consolePages } from './pages/console.ts';
import { consoleRoutes, type RoomParts } from './rooms.ts';
import { isSecure, originsOf, type Places, type Site } from './settings/places.ts';
import { v1, v1Description } from './v1.ts';

/** The health page waits no longer for the service's own addresses to answer. */
const PROBE_DEADLINE_MS = 2 * SECOND_MS;

interface AppParts extends SurfaceSettings, Pick<ShellParts, 'answerMs'> {
  database: Database;
  journal: Journal;
  clock: Clock;
  ring: KeyRing;
  directory: Directory;
  keyUses: KeyUses;
  offer: Offer;
  log: Logger;
  places: Places;
  mail: Mail;
  health: Health;
  figures: ReviewFigures;
  streams: EventStreams;
  waits: Waits;
  /** Failed sign-ins of this node that have no entry of their own. */
  tally: FailureTally;
  /** Of hashing a password, where it is not the usual. */
  passwordCost?: Cost | undefined;
  webhookRules: AddressRules;
  installation: Installation;
  /** What refuses keys and tokens: one for all sites, which count together. */
  refuse: Refuse;
  defect: Defect;
}

/** Builds what one site serves, below the paths of its base URLs, on the server that `server` makes for it. */
export async function buildApp(
  parts: AppParts,
  site: Site,
  { server, observe }: Pick<ShellParts, 'server' | 'observe'>,
): Promise<FastifyInstance> {
  const { places, storage } = parts;
  const { baseUrls, checkoutBaseUrl } = places;
  const basePaths = new Set(site.surfaces.map((surface) => pathOf(baseUrls[surface])));
  const openRoutes = new Set([...basePaths].flatMap((path) => [`${path}/health`, `${path}/health/ready`]));
  const app = createShell({
    ...parts,
    https: isSecure(site, places),
    plainHttp: parts.mayComePlain && { mayCome: parts.mayComePlain, openRoutes },
    actor: actorOf,
    nowhere: site.surfaces.includes('public') ? nowhere({ ...parts, checkoutBaseUrl }) : undefined,
    server,
    observe,
  });
  for (const path of basePaths) addHealthRoutes(app, path, { ...parts, version: VERSION });
  if (parts.security) addSecurityText(app, parts.security, { ...parts, origins: originsOf(site, places) });
  addRootFiles(app, frontPathOf(site, places));
  const shared = { ...parts, checkoutBaseUrl, checkpoints: new CheckpointLookup(storage) };
  if (site.surfaces.includes('public')) addPublic(app, shared);
  if (site.surfaces.includes('admin')) {
    app.register(adminApi, { ...shared, prefix: `${pathOf(baseUrls.admin)}/admin` });
  }
  if (site.surfaces.includes('console')) addConsole(app, shared);
  await app.ready();
  return app;
}

/** The path of the first page that a person may come to; undefined if the site has none. */
function frontPathOf({ surfaces }: Site, { baseUrls, checkoutBaseUrl }: Places): string | undefined {
  if (surfaces.includes('public')) return pathOf(checkoutBaseUrl) || '/';
  return surfaces.includes('console') ? `${pathOf(baseUrls.console)}/console` : undefined;
}

function frontLinks({ places, registration, docs: isDocumented }: AppParts): FrontLinks {
  const { baseUrls } = places;
  return {
    registerUrl: registration.mode === 'closed' ? undefined : `${baseUrls.public}/register`,
    consoleUrl: `${baseUrls.console}/console`,
    docsUrl: isDocumented ? `${baseUrls.public}/docs` : undefined,
    descriptionUrl: `${baseUrls.public}/openapi.json`,
    inboxUrl: `${places.checkoutBaseUrl}${INBOX_PATH}`,
    mailUrl: `${places.checkoutBaseUrl}${DEV_MAIL_PATH}`,
  };
}

function actorOf({ caller, principal }: FastifyRequest): object {
  return {
    ...(caller && { merchant: caller.merchant.id, key: caller.key.id }),
    ...(principal && { administrator: principal.id, token: principal.token }),
  };
}

type Shared = AppParts &
  Omit<Checkout, 'limits' | 'front' | 'triesOut' | 'isSigned' | 'more'> & { checkpoints: CheckpointLookup };

/** What merchants and their customers reach. */
function addPublic(app: FastifyInstance, shared: Shared): void {
  const { baseUrls, checkoutBaseUrl } = shared.places;
  const baseUrl = baseUrls.public;
  const basePath = pathOf(baseUrl);
  const adminServer = baseUrls.admin === baseUrl ? undefined : baseUrls.admin;
  const registering: RegistrationSettings = { ...shared, ...shared.registration, baseUrl };
  const describe = () =>
    openApiDocument({ baseUrl, contact: shared.registration.contact, version: VERSION }, [
      healthDescription({ ...shared, version: VERSION }),
      v1Description({ ...shared, baseUrl }),
      sentDescription(),
      registrationDescription(registering),
      withServer(adminServer, adminDescription(shared)),
    ]);
  let document: string | undefined;
  app.get(`${basePath}/openapi.json`, (_request, reply) => {
    // Made for the caller first: to make JSON Schemas of ours takes a while.
    document ??= JSON.stringify(describe());
    return reply.headers(API_HEADERS).send(document);
  });
  if (shared.docs) app.register(docs, { ...docsSettings(shared, describe), prefix: basePath });
  app.register(v1, { ...shared, baseUrl, prefix: `${basePath}/v1` });
  app.register(registration, { ...registering, prefix: `${basePath}/register` });
  app.register(checkout, {
    ...shared,
    front: shared.httpsOnly ? null : frontLinks(shared),
    triesOut: !shared.httpsOnly,
    isSigned: (path, received) => isSignedFor(shared, path, received),
    more: mailRoutes({ ...shared, dev: shared.mail.dev }),
    prefix: pathOf(checkoutBaseUrl),
  } satisfies Checkout & { prefix: string });
}

/** What the documentation says of this installation. `describe` makes the OpenAPI document. */
function docsSettings(shared: Shared, describe: () => object): DocsSettings {
  const { places, directory, clock, httpsOnly } = shared;
  const { checkoutBaseUrl, baseUrls } = places;
  return {
    ...shared,
    installation: {
      baseUrl: baseUrls.public,
      checkoutBaseUrl,
      consoleUrl: `${baseUrls.console}/console`,
      describe,
    },
    key: () => (!httpsOnly && directory.find(DEVELOPMENT_KEY, clock.now()) ? DEVELOPMENT_KEY : undefined),
  };
}

function addConsole(app: FastifyInstance, shared: Shared): void {
  const baseUrl = shared.places.baseUrls.console;
  const verification = new BackgroundVerification(shared, ROW_CHECKS, (error) =>
    shared.log.error({ err: error }, 'verifying the history failed'),
  );
  app.addHook('onClose', () => verification.stop());
  const { database, clock } = shared;
  const parts: RoomParts = {
    ...shared,
    checkoutBaseUrl: shared.places.checkoutBaseUrl,
    registerUrl: `${shared.places.baseUrls.public}/register`,
    countPayments: (merchantId, since, maximum) => countCreated(database, merchantId, since, maximum),
    onStatement,
    seenOnStatement,
    lettersAbout,
    verification,
    inspector: new Inspector({
      ...shared.installation,
      clock,
      store: { database },
      deadlineMs: shared.answerMs ?? PROBE_DEADLINE_MS,
      verification: () => verification.newest,
    }),
  };
  app.register(consolePages, {
    ...shared,
    baseUrl,
    routes: consoleRoutes(parts),
    waiting: async () => (await shared.figures.waiting()).count,
    prefix: `${pathOf(baseUrl)}/console`,
  } satisfies ConsoleSettings & { prefix: string });
}
