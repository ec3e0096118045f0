// The endpoints of routine acts under /admin.
import { z } from 'zod';
import type { Reader } from '../../store/database.ts';
import { type Acts, type RoutineAct, takenBy } from '../../web/act.ts';
import { type ApiEndpoint, endpoint } from '../../web/endpoint.ts';
import { type AdminParts, administratorActOf } from './authenticate.ts';

interface Things<T> {
  /** The thing with an id. Throws `not_found`. */
  find(database: Reader, id: string): Promise<T>;
  answer: readonly [name: string, schema: z.ZodType];
  /** The JSON text of the answer about one thing. */
  text(database: Reader, one: T): Promise<string>;
}

const ROLES = {
  read: '',
  decide: ' 403 `forbidden`: the role of the token is auditor.',
  administer: ' 403 `forbidden`: the role of the token is not administrator.',
};

export const actEndpoints = <T extends { id: string }>(
  parts: AdminParts,
  { admin, acts }: Acts<T>,
  things: Things<T>,
): ApiEndpoint[] =>
  acts.flatMap((act) =>
    act.endpoint ? [endpointOf(parts, `${admin}/${act.name}`, things, act, act.endpoint)] : [],
  );

function endpointOf<T extends { id: string }>(
  { database, journal, clock }: AdminParts,
  path: string,
  { find, answer, text }: Things<T>,
  act: RoutineAct<T>,
  { id, summary, description, body, gives, errors = [] }: NonNullable<RoutineAct<T>['endpoint']>,
): ApiEndpoint {
  const schemas = takenBy(act, () => clock.now()).map(([name, { schema }]) => [name, schema]);
  return endpoint(`POST ${path}`, {
    id,
    summary,
    description: description + ROLES[act.may],
    may: act.may,
    ...(body && {
      body: [body, z.strictObject(Object.fromEntries(schemas), 'Must be a JSON object.')] as const,
    }),
    prefers: false,
    answers: { 200: { description: 'Done.', body: gives?.answer ?? answer } },
    errors: ['forbidden', 'not_found', ...errors],
    async handle({ request, body }) {
      const values = (body ?? {}) as Record<string, unknown>;
      const one = await find(database, Object.values(request.params as Record<string, string>)[0]!);
      const by = { ...administratorActOf(request), kind: 'administrator', by: request.principal.id } as const;
      const result = await act.does(journal, one, values, by);
      if (gives) return JSON.stringify({ data: gives.present(values, result) });
      return text(database, await find(database, one.id));
    },
  });
}
