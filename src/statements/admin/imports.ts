// Importing bank statements under /admin: a file is taken, the status of a long import can be asked, and an import is undone.
import { z } from 'zod';
import { ENCODINGS, FILE_BYTES_MAXIMUM, type PartialLayout, parseChoices } from '#bank-statements';
import { type AdminParts, administratorActOf } from '../../administrators/admin/authenticate.ts';
import { requireStanding } from '../../administrators/standing.ts';
import type { Act } from '../../journal/audit-entry.ts';
import { OperationalError, validationFailed } from '../../lib/errors.ts';
import { isTimeOrderedId } from '../../lib/ids.ts';
import { formatTimestamp } from '../../lib/time.ts';
import type { Offer } from '../../payments/methods/offer.ts';
import {
  type ApiEndpoint,
  endpoint,
  flagParameter,
  parameter,
  shortParameter,
  wordParameter,
} from '../../web/endpoint.ts';
import type { QueryReader } from '../../web/list.ts';
import { doubtsOf } from '../import-file.ts';
import {
  endedAtOnce,
  type How,
  IMPORT_ID_PREFIX,
  IMPORT_STATES,
  type ImportStatus,
  importStatus,
  importWhatWasRead,
  ToldImport,
} from '../import-status.ts';
import { readBeside } from '../read-beside.ts';
import { readingOptions } from '../remembered.ts';
import { undoImport } from '../undo.ts';
import { faultSchema } from './statements.ts';

/** `offer`: the ways to pay, which name the accounts that statements are of. */
type ImportParts = AdminParts & { offer: Offer };

const RESPOND_ASYNC = {
  name: 'Prefer',
  in: 'header',
  description: '`respond-async` answers with 202 at once (RFC 7240).',
  schema: { type: 'string' },
};

const importAnswerSchema = z.strictObject({
  data: z.strictObject({
    object: z.literal('statement_import'),
    statements: z.array(
      z.strictObject({
        id: z.string().nullable().describe('Null for a statement that was imported before.'),
        account: z.string(),
        added: z.int().describe('Lines that are new.'),
        booked: z.int().describe('Lines that were pending and are booked now.'),
        known: z.int().describe('Lines that were known.'),
      }),
    ),
    faults: z.array(faultSchema).describe('What was wrong, with `despite_faults`.'),
    notes: z
      .array(faultSchema.extend({ warning: z.literal(true).optional().describe('It wants a look.') }))
      .describe('What a person should know although every line was read.'),
  }),
});

const statusSchema = z.strictObject({
  data: z.strictObject({
    id: z.string(),
    object: z.literal('statement_import_status'),
    state: z.enum(IMPORT_STATES),
    lines: z.int().nullable().describe('Lines of the file; null until it is read.'),
    lines_done: z.int(),
    added: z.int(),
    booked: z.int(),
    known: z.int(),
    statements: z.array(z.string()).describe('The ids of the first 100 statements that are new.'),
    faults: z
      .array(faultSchema.omit({ file: true }))
      .describe('The first 20, without what they quote of the file.'),
    updated_at: z.string(),
  }),
});

const undoneSchema = z.strictObject({
  data: z.strictObject({
    object: z.literal('statement_undo'),
    id: z.string(),
    lines: z.int().describe('Lines that count no more.'),
  }),
});

function presentStatus({ updated_at, id, ...status }: ImportStatus) {
  const object = 'statement_import_status' as const;
  return { id, object, ...status, updated_at: formatTimestamp(updated_at) };
}

function readChoices(reader: QueryReader, name: string): PartialLayout | undefined {
  let choices: PartialLayout | undefined;
  reader.text(name, (text) => {
    const read = parseChoices(text.split('|'));
    if (typeof read === 'string') return read;
    choices = read;
    return undefined;
  });
  return choices;
}

const GOES_ON = {
  description: 'It goes on. Ask the address in `Location`.',
  body: ['StatementImportStatus', statusSchema] as const,
  headers: { Location: { schema: { type: 'string' } } },
};

/** Imports a file. `imported` is undefined if it was refused. Throws as `importWhatWasRead` and `readBeside` do. */
async function importUpload(
  parts: Pick<ImportParts, 'journal' | 'offer'>,
  told: ToldImport,
  { bytes, name, ...how }: How & { bytes: Uint8Array; name: string },
  act: Act,
) {
  try {
    const read = await readBeside(bytes, name, how.csv);
    const { checked, imported } = await importWhatWasRead(parts, read, how, act, told.onTurn);
    await (imported ? told.done(imported, doubtsOf(checked)) : told.refused(checked.faults));
    return { checked, imported };
  } catch (error) {
    await told.failed().catch(() => {}); // the store is away: the status is "stopped" after a while
    throw error;
  }
}

const importing = ({ database, journal, offer, clock }: ImportParts): ApiEndpoint =>
  endpoint('POST /admin/statements', {
    id: 'importStatements',
    summary: 'Import a file of bank statements',
    description:
      'The body is the file as the bank gives it: CAMT.052, 053 or 054, MT940, MT942, OFX or CSV, also in a ZIP archive, at most 64 MB. It is imported whole or not at all. ' +
      '422 `validation_failed` says what is wrong, by line. What is known already adds nothing, so a repeated call is harmless. ' +
      'An import that takes longer than seven seconds, or two where the file has more than 1 MB, and any with `Prefer: respond-async`, is answered with 202 and the address of its status, and goes on whoever is gone. Its lines are seen once all of them stand. ' +
      '403 `forbidden`: the role of the token is auditor. 409 `conflict`: one of its lines was changed at the same moment; send it again.',
    may: 'decide',
    query: {
      file: shortParameter('The name of the file, for people.'),
      despite_faults: flagParameter('Import what is right although something is not.'),
      account: shortParameter('The account of a file that does not name it in full; it must name no other.'),
      csv: parameter(
        { type: 'string', maxLength: 255 },
        'How a CSV file is read, as the option `--csv` of the command says it, separated by `|`: `dates=dmy|sign=signed`.',
        readChoices,
      ),
      confirm: flagParameter(
        'Whether a person has looked how a CSV file is read. A file of an export that is not known by its columns needs it once for each account.',
      ),
      encoding: wordParameter(
        ENCODINGS,
        'The encoding of a file that does not name its own. Without it the bytes tell.',
      ),
    },
    refusesOthers: true,
    file: FILE_BYTES_MAXIMUM,
    headers: [RESPOND_ASYNC],
    answers: {
      201: { description: 'Imported.', body: ['StatementImportAnswer', importAnswerSchema] },
      202: GOES_ON,
    },
    errors: ['forbidden', 'payload_too_large', 'validation_failed', 'conflict'],
    async handle({ request, reply, bytes, query }) {
      const { file = 'statement', despite_faults, account, csv: choices, confirm = false, encoding } = query;
      const known = await readingOptions(database, offer.settings);
      const csv = {
        ...known,
        ...(encoding && { encoding }),
        ...(choices && { choices }),
        ...(account !== undefined && { account }),
      };
      const act = administratorActOf(request);
      const told = new ToldImport(journal, act);
      const upload = { bytes, name: file, csv, confirm, despiteFaults: despite_faults === true };
      const size = bytes.length; // the bytes are handed over
      const ended = importUpload({ journal, offer }, told, upload, act);
      const first = await endedAtOnce(ended, size, request);
      if (!first) {
        ended.catch((error: unknown) => request.log.warn({ err: error }, 'an import ended with an error'));
        const now = clock.now();
        const id = await told.tell(now);
        database.refresh();
        reply.code(202).header('location', `/admin/statement_imports/${id}`);
        return JSON.stringify({ data: presentStatus((await importStatus(database, id, now))!) });
      }
      const { checked, imported } = first;
      if (!imported) throw validationFailed(detailsOfFaults(checked.faults));
      const statements = imported.map(({ id, account, added, booked, known }) => ({
        ...{ id, account, added, booked, known },
      }));
      reply.code(201);
      return JSON.stringify({
        data: { object: 'statement_import', statements, faults: checked.faults, notes: checked.notes },
      });
    },
  });

const importRead = ({ database, clock }: ImportParts): ApiEndpoint =>
  endpoint('GET /admin/statement_imports/{import_id}', {
    id: 'readStatementImport',
    summary: 'How far an import of bank statements is',
    description:
      'Any node answers. `stopped`: its node ended, and what it had not finished is seen nowhere; send the file again, and it goes on where it ended.',
    may: 'read',
    answers: { 200: { body: ['StatementImportStatus', statusSchema] } },
    errors: ['not_found'],
    async handle({ request }) {
      const { import_id } = request.params;
      const isId = isTimeOrderedId(IMPORT_ID_PREFIX, import_id);
      const status = isId ? await importStatus(database, import_id, clock.now()) : undefined;
      if (!status) throw new OperationalError('not_found', 'There is no such import.');
      return JSON.stringify({ data: presentStatus(status) });
    },
  });

const undoing = ({ database, journal }: ImportParts): ApiEndpoint =>
  endpoint('POST /admin/statements/{statement_id}/undo', {
    id: 'undoStatementImport',
    summary: 'Undo an import of which nothing was decided',
    description:
      'Its lines count no more, and its file can be imported again. 409 `invalid_status`: something was decided about one of its lines; take that back first.',
    may: 'decide',
    answers: { 200: { body: ['StatementImportUndone', undoneSchema] } },
    errors: ['forbidden', 'not_found', 'invalid_status', 'conflict'],
    async handle({ request }) {
      const { statement_id } = request.params;
      const lines = await journal.commit(async (transaction) => {
        await requireStanding(transaction, request.principal, 'decide');
        return undoImport(transaction, statement_id, administratorActOf(request));
      });
      database.refresh();
      return JSON.stringify({ data: { object: 'statement_undo', id: statement_id, lines } });
    },
  });

/** The endpoints that import. */
export const statementImports = (parts: ImportParts): ApiEndpoint[] => [
  importing(parts),
  importRead(parts),
  undoing(parts),
];

/** Faults that an error tells, by the line of the file. */
const FAULTS_TOLD = 100;

function detailsOfFaults(faults: readonly { line: number; text: string }[]): Record<string, string> {
  const details: Record<string, string> = Object.create(null);
  for (const { line, text } of faults.slice(0, FAULTS_TOLD)) {
    const place = line > 0 ? `line ${line}` : 'file';
    details[place] = details[place] === undefined ? text : `${details[place]} ${text}`;
  }
  return details;
}
