// For each table that the history tells of: how a row is made, and every ordinary act that records it anew.

import { readStatements } from '#bank-statements';
import { STRANGER, sourceOfHolder } from '../../src/administrators/failures.ts';
import { changeRole, createAdministrator, disable, reset } from '../../src/administrators/manage.ts';
import { findAdministrator, passkeysOf } from '../../src/administrators/queries.ts';
import { endAllSessions, endReplaced, endSession, startSession } from '../../src/administrators/session.ts';
import { completeSetUp, newSetUpLink } from '../../src/administrators/set-up.ts';
import { complete, type Proof } from '../../src/administrators/sign-in.ts';
import { createToken, revokeToken } from '../../src/administrators/token.ts';
import { addSecretKey } from '../../src/journal/keys/key-file.ts';
import { dropKey, SECRET_KEY_PREFIX, useKey } from '../../src/journal/keys/open-ring.ts';
import type { Transaction } from '../../src/journal/transaction.ts';
import { issueKey, revokeKey, rotateKey } from '../../src/merchants/api-keys.ts';
import { changeMerchantState, limitMerchant } from '../../src/merchants/change.ts';
import { keyById } from '../../src/merchants/follow.ts';
import { createInvite, revokeInvite } from '../../src/merchants/invite.ts';
import { importMerchant, registerMerchant } from '../../src/merchants/register.ts';
import { erasePayment } from '../../src/payments/erase.ts';
import { expireDuePayment } from '../../src/payments/expire.ts';
import { forgetOldAnswers } from '../../src/payments/idempotency.ts';
import { cancelByCustomer, requestLink } from '../../src/payments/submit.ts';
import { addNote, claim } from '../../src/review/act.ts';
import { tryOut } from '../../src/review/try-out.ts';
import { eraseOldLines } from '../../src/statements/erase.ts';
import { checkFile, importFile } from '../../src/statements/import-file.ts';
import { activeRules, findLine } from '../../src/statements/line-queries.ts';
import { ignoreLine, reopenLine } from '../../src/statements/matching/line-acts.ts';
import { rememberLayout } from '../../src/statements/remembered.ts';
import { endRule, makeRule } from '../../src/statements/rules.ts';
import { undoImport } from '../../src/statements/undo.ts';
import * as endpoints from '../../src/webhooks/change.ts';
import { ACCOUNT, camt } from '../support/camt.ts';
import { type Harness, OPERATOR } from '../support/harness.ts';
import { decide, record, submit } from '../support/payments.ts';
import { addPerson, type Person, partsOf } from '../support/people.ts';
import { ANA } from '../support/reviewers.ts';
import { addMerchant } from '../support/store-merchant.ts';

const REQUEST = 'req_test';
const TENANT = { merchant_id: 'mer_development', mode: 'test' } as const;
const WHO = { ...OPERATOR, by: 'operator' };
const DAY_MS = 86_400_000;

export interface Kind {
  table: string;
  /** The column that names a row, and what stands before it in the subject of its entries. */
  key: string;
  prefix: string;
  /** Makes a row. Returns its name. */
  make(): Promise<string>;
  acts: Record<string, (id: string) => unknown>;
  /** Makes a name for a copied row, if any other would stop the service. */
  nameOfCopy?(): string;
}

/** Every kind of row of a service. */
export function recordedKinds(harness: Harness): Kind[] {
  return [
    ...administratorKinds(harness),
    ...merchantKinds(harness),
    ...paymentKinds(harness),
    ...lineKinds(harness),
    keyKind(harness),
  ].map((kind) => ({ key: 'id', prefix: '', ...kind }));
}

type Named = Omit<Kind, 'key' | 'prefix'> & Partial<Kind>;

function administratorKinds(harness: Harness): Named[] {
  const parts = partsOf(harness);
  const { journal, database, ring } = harness.service;
  const commit = <T>(work: (transaction: Transaction) => T | Promise<T>) => journal.commit(work);
  let count = 0;
  const email = () => `person.${++count}@washed.example`;
  const people = new Map<string, Person>();
  const links = new Map<string, string>();
  const person = async () => {
    const made = await addPerson(parts, { email: email(), role: 'reviewer' });
    people.set(made.administrator.id, made);
    return made;
  };
  const invited = async () => {
    const wanted = { email: email(), name: 'Zoë', role: 'reviewer' } as const;
    const { administrator, link } = await commit((one) => createAdministrator(one, wanted, OPERATOR));
    links.set(administrator.id, link);
    return administrator.id;
  };
  const chosen = { password: 'x', recoveryDigests: '[]' };
  const withPasskey = async () => {
    const id = await invited();
    const passkey = { credential_id: `c${id}`, public_key: 'k', counter: 0, transports: '[]' };
    const factor = { passkey, name: 'Key' };
    await commit((one) => completeSetUp(one, ring, links.get(id)!, { ...chosen, factor }, REQUEST));
    database.refresh();
    return (await passkeysOf(database, id))[0]!;
  };
  const signIn = async (id: string, proof: Proof | undefined) => {
    database.refresh();
    const found = (await findAdministrator(database, id))!;
    const by = { requestId: REQUEST, caller: STRANGER, source: sourceOfHolder(found) };
    return complete(parts, found, () => proof, by);
  };
  const sessions = new Map<string, { person: Person; secret: string }>();
  const ownerOf = async (table: string, id: string) =>
    (
      await database.query<{ administrator_id: string }>(
        `select administrator_id from ${table} where id = ?`,
        id,
      )
    )[0]!.administrator_id;
  return [
    {
      table: 'administrators',
      make: invited,
      acts: {
        'is set up': (id) =>
          commit((one) =>
            completeSetUp(
              one,
              ring,
              links.get(id)!,
              { ...chosen, factor: { totp: { secret: 'JBSWY3DPEHPK3PXP', step: 1 } } },
              REQUEST,
            ),
          ),
        'gets a new link': (id) => commit((one) => newSetUpLink(one, { id }, OPERATOR)),
        'gets a role': (id) => commit((one) => changeRole(one, id, 'auditor', OPERATOR)),
        'is disabled': (id) => commit((one) => disable(one, id, OPERATOR)),
        'is reset': (id) => commit((one) => reset(one, id, OPERATOR)),
      },
    },
    {
      table: 'administrators',
      make: async () => (await person()).administrator.id,
      acts: {
        'signs in': (id) => signIn(id, { factor: 'totp', change: { totp_step: 7 } }),
        'fails to sign in': (id) => signIn(id, undefined),
      },
    },
    {
      table: 'sessions',
      async make() {
        const { administrator, session, secret } = await person();
        sessions.set(session.id, { person: people.get(administrator.id)!, secret });
        return session.id;
      },
      acts: {
        'signs out': (id) => {
          const { principal } = sessions.get(id)!.person;
          return commit((one) => endSession(one, principal));
        },
        'is replaced': (id) => commit((one) => endReplaced(one, `${sessions.get(id)!.secret}.1.x`, REQUEST)),
        'ends with all': (id) =>
          commit((one) => endAllSessions(one, sessions.get(id)!.person.administrator.id, OPERATOR)),
        'is one too many': async (id) => {
          for (let i = 0; i < 6; i++)
            await commit((one) =>
              startSession(one, sessions.get(id)!.person.administrator.id, 'totp', REQUEST),
            );
        },
      },
    },
    {
      table: 'passkeys',
      make: async () => (await withPasskey()).id,
      acts: {
        'is used': async (id) => {
          const owner = await ownerOf('passkeys', id);
          const passkey = (await passkeysOf(database, owner)).find((one) => one.id === id)!;
          return signIn(owner, { factor: 'passkey', change: {}, used: { passkey, counter: 9, used_at: 9 } });
        },
        'is reset': async (id) => {
          const owner = await ownerOf('passkeys', id);
          return commit((one) => reset(one, owner, OPERATOR));
        },
      },
    },
    {
      table: 'administrator_tokens',
      async make() {
        const wanted = { administratorId: await invited(), role: 'auditor', name: 'ERP', days: 9 } as const;
        return (await commit((one) => createToken(one, wanted, OPERATOR))).row.id;
      },
      acts: { 'is revoked': (id) => commit((one) => revokeToken(one, id, OPERATOR)) },
    },
  ];
}

function merchantKinds(harness: Harness): Named[] {
  const { journal, database, directory, ring } = harness.service;
  const commit = <T>(work: (transaction: Transaction) => T | Promise<T>) => journal.commit(work);
  const codes = new Map<string, string>();
  const keyOf = async (id: string) => {
    database.refresh();
    return (await keyById(database, directory, id))!;
  };
  const profile = { name: 'Taken Over', website: null, support: null, methods: null, limits: {}, keys: [] };
  return [
    {
      table: 'merchants',
      make: async () => (await addMerchant(harness)).merchant.id,
      acts: {
        'is suspended': (id) => changeMerchantState(journal, id, 'suspended', WHO, 'A reason'),
        'goes on': (id) => changeMerchantState(journal, id, 'resumed', WHO, 'A reason'),
        'gets limits': (id) => limitMerchant(journal, id, { writes_per_second: 7 }, OPERATOR),
        'is taken over': (id) => importMerchant(journal, { id, ...profile }, OPERATOR),
      },
    },
    {
      table: 'api_keys',
      async make() {
        const { merchant } = await addMerchant(harness);
        const wish = { merchantId: merchant.id, mode: 'test', name: 'Till', expires_at: null } as const;
        return (await commit((one) => issueKey(one, wish, OPERATOR))).row.id;
      },
      acts: {
        'is replaced': async (id) => {
          const key = await keyOf(id);
          return commit((one) => rotateKey(one, key, { overlapMs: 1000 }, OPERATOR));
        },
        'is revoked': async (id) => {
          const key = await keyOf(id);
          return commit((one) => revokeKey(one, key, OPERATOR));
        },
      },
    },
    {
      table: 'invites',
      async make() {
        const { row, code } = await commit((one) =>
          createInvite(one, { mode: 'test', note: 'For Zoë', days: 3 }, OPERATOR),
        );
        codes.set(row.id, code);
        return row.id;
      },
      acts: {
        'is revoked': (id) => commit((one) => revokeInvite(one, id, OPERATOR)),
        'is used': (id) =>
          registerMerchant(
            { database, journal, directory, mode: 'open', contact: undefined },
            { business_name: `Shop ${id}`, email: 'a@b.example', website: null, invite: codes.get(id)! },
            OPERATOR,
          ),
      },
    },
    {
      table: 'webhook_endpoints',
      async make() {
        const { merchant } = await addMerchant(harness);
        const wish = { url: 'https://shop.example/hook', types: null, description: null };
        const tenant = { merchant_id: merchant.id, mode: 'test' } as const;
        return (await commit((one) => endpoints.createEndpoint(one, ring, tenant, wish as never, OPERATOR)))
          .id;
      },
      acts: {
        'is changed': (id) =>
          commit((one) => endpoints.changeEndpoint(one, id, { description: 'Mine' }, OPERATOR)),
        'is disabled': (id) => commit((one) => endpoints.disableEndpoint(one, id, 'operator', OPERATOR)),
        'is enabled': (id) => commit((one) => endpoints.enableEndpoint(one, id, OPERATOR)),
        'gets a secret': (id) => commit((one) => endpoints.rotateSecret(one, ring, id, OPERATOR)),
        'is deleted': (id) => commit((one) => endpoints.deleteEndpoint(one, id, OPERATOR)),
      },
    },
  ];
}

function paymentKinds(harness: Harness): Named[] {
  const { journal } = harness.service;
  const commit = <T>(work: (transaction: Transaction) => T | Promise<T>) => journal.commit(work);
  const erased = (id: string) => commit((one) => erasePayment(one, id, OPERATOR));
  const cancelled = async () => {
    const { id } = await harness.create({}, { headers: { 'idempotency-key': `k-${++asked}` } });
    await commit((one) => cancelByCustomer(one, id, REQUEST));
    return id as string;
  };
  let asked = 0;
  const ofAnswer = new Map<string, string>();
  return [
    {
      table: 'payments',
      make: async () => (await harness.create()).id,
      acts: {
        'is submitted': (id) => submit(harness, id),
        'is cancelled': (id) => commit((one) => cancelByCustomer(one, id, REQUEST)),
        'gets money': (id) => record(harness, id),
        'gets a note': (id) => commit((one) => addNote(one, ANA, id, 'A note')),
        'expires at once': (id) =>
          commit((one) => tryOut(one, 'expire', { id, merchant_id: TENANT.merchant_id, requestId: REQUEST })),
        expires: (id) => commit((one) => expireDuePayment(one, id)),
      },
    },
    {
      table: 'payments',
      async make() {
        const { id } = await harness.create();
        await submit(harness, id);
        return id;
      },
      acts: {
        'is claimed': (id) => commit((one) => claim(one, ANA, id, {})),
        'is approved': (id) => decide(harness, id, 'approve'),
        'is rejected': (id) => decide(harness, id, 'reject'),
      },
    },
    {
      table: 'payments',
      make: cancelled,
      acts: {
        'is erased': erased,
        'is asked for anew': (id) => commit((one) => requestLink(one, id, REQUEST)),
      },
    },
    {
      table: 'idempotency_keys',
      key: 'scope',
      prefix: 'answer_',
      async make() {
        const id = await cancelled();
        harness.service.database.refresh();
        const [answer] = await harness.service.database.query<{ scope: string }>(
          'select scope from idempotency_keys where body like ?',
          `%${id}%`,
        );
        ofAnswer.set(answer!.scope, id);
        return answer!.scope;
      },
      acts: {
        'is erased': (scope) => erased(ofAnswer.get(scope)!),
        'is forgotten': async () => {
          harness.clock.advance(8 * DAY_MS);
          await forgetOldAnswers(journal);
          harness.clock.advance(-8 * DAY_MS);
        },
      },
    },
  ];
}

function lineKinds(harness: Harness): Named[] {
  const { journal, database } = harness.service;
  const commit = <T>(work: (transaction: Transaction) => T | Promise<T>) => journal.commit(work);
  let count = 0;
  const methods = [{ accounts: [{ currency: 'EUR', holder: 'Shop', iban: ACCOUNT, rows: [] }] }];
  const take = (bank: string, booked: boolean) =>
    importFile(
      journal,
      checkFile(
        readStatements(
          camt([{ amount: '5.00', bank, ...(booked ? {} : { status: 'PDNG' }) } as never], {
            number: `${++count}`,
          }),
          'a.xml',
        ),
        methods,
      ),
      OPERATOR,
      { despiteFaults: false, dryRun: false },
    );
  const banks = new Map<string, string>();
  const line = async (booked: boolean) => {
    const bank = `W${++count}`;
    await take(bank, booked);
    database.refresh();
    const [row] = await database.query<{ id: string }>(
      'select id from statement_lines where entry_reference = ?',
      bank,
    );
    banks.set(row!.id, bank);
    return row!.id;
  };
  const files = new Map<string, string>();
  const shape = (id: string) => ({ account: ACCOUNT, shape: id });
  const shapes = new Map<string, string>();
  return [
    {
      table: 'statements',
      async make() {
        const row = (await findLine(database, await line(true)))!;
        files.set(row.statement_id, banks.get(row.id)!);
        return row.statement_id;
      },
      acts: {
        'is imported again': (id) => take(files.get(id)!, true),
        'is undone': (id) => commit((one) => undoImport(one, id, OPERATOR)),
        'loses its old lines': () => commit((one) => eraseOldLines(one, '2999-01-01')),
      },
    },
    {
      table: 'statement_lines',
      make: () => line(true),
      acts: {
        'is ignored': (id) => commit((one) => ignoreLine(one, ANA, id, 'A reason')),
        'is erased': () => commit((one) => eraseOldLines(one, '2999-01-01')),
      },
    },
    {
      table: 'statement_lines',
      make: () => line(false),
      acts: { 'is booked': (id) => take(banks.get(id)!, true) },
    },
    {
      table: 'statement_lines',
      async make() {
        const id = await line(true);
        await commit((one) => ignoreLine(one, ANA, id, 'A reason'));
        return id;
      },
      acts: { 'is reopened': (id) => commit((one) => reopenLine(one, ANA, id)) },
    },
    {
      table: 'line_rules',
      async make() {
        const row = (await findLine(database, await line(true)))!;
        const details = JSON.stringify({
          references: {},
          text: '',
          counterparty: { name: `Firm ${++count}` },
        });
        await commit((one) => makeRule(one, ANA, { ...row, details }, 'A reason'));
        database.refresh();
        return (await activeRules(database))[0]!.id;
      },
      acts: { 'is ended': (id) => commit((one) => endRule(one, ANA, id)) },
    },
    {
      table: 'csv_layouts',
      async make() {
        const name = `s${++count}`;
        await commit((one) =>
          rememberLayout(one, { ...shape(name), layout: { delimiter: ',' } as never }, OPERATOR),
        );
        database.refresh();
        const [row] = await database.query<{ id: string }>(
          'select id from csv_layouts where shape = ?',
          name,
        );
        shapes.set(row!.id, name);
        return row!.id;
      },
      acts: {
        'is changed': (id) =>
          commit((one) =>
            rememberLayout(one, { ...shape(shapes.get(id)!), layout: { delimiter: ';' } as never }, OPERATOR),
          ),
      },
    },
  ];
}

/** The keys for secrets: each is the current one when it is made. */
function keyKind({ service, store }: Harness): Named {
  const commit = <T>(work: (transaction: Transaction) => T | Promise<T>) => service.journal.commit(work);
  const newKey = () => addSecretKey({ ...store, secrets_keys: null, secrets_key_file: null }).id;
  const use = async () => {
    const id = newKey();
    await commit((one) => useKey(one, OPERATOR, id));
    return id;
  };
  return {
    table: 'secret_keys',
    prefix: SECRET_KEY_PREFIX,
    make: use,
    nameOfCopy: newKey,
    acts: {
      'is replaced': use,
      'is removed': (id) => commit((one) => dropKey(one, OPERATOR, 'secrets.key_removed', id)),
      'is lost': (id) => commit((one) => dropKey(one, OPERATOR, 'secrets.key_lost', id)),
    },
  };
}
