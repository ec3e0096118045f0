// What the OpenAPI document says of bank statements under /admin, built from the schemas that shape the answers.

import { ENCODINGS } from '#bank-statements';
import { readOperation, TOKEN_NEEDED, UNDER_ADMIN } from '../../operate/admin/openapi.ts';
import {
  type Description,
  failures,
  jsonSchema,
  PAGE_PARAMETERS,
  query,
  success,
} from '../../web/openapi.ts';
import { LINE_STATES } from '../kept.ts';
import { importAnswerSchema, lineListSchema, statementListSchema } from './statements.ts';

const text = { type: 'string', maxLength: 255 };
const OTHERS = 'A parameter that is none of these is an error.';

const importing = {
  operationId: 'importStatements',
  summary: 'Import a file of bank statements',
  description:
    'The body is the file as the bank gives it: CAMT.052, 053 or 054, MT940, MT942, OFX or CSV, also in a ZIP archive, at most 64 MB. It is imported whole or not at all. ' +
    '422 `validation_failed` says what is wrong, by line. What is known already adds nothing, so a repeated call is harmless. ' +
    '403 `forbidden`: the role of the token is auditor. 409 `conflict`: one of its lines was changed at the same moment; send it again.',
  security: TOKEN_NEEDED,
  parameters: [
    query('file', text, 'The name of the file, for people.'),
    query(
      'despite_faults',
      { type: 'string', enum: ['true', 'false'] },
      'Import what is right although something is not.',
    ),
    query('account', text, 'The account of a CSV file that does not name its own.'),
    query(
      'csv',
      text,
      'How a CSV file is read, as the option `--csv` of the command says it, separated by `|`: `dates=dmy|sign=signed`.',
    ),
    query(
      'confirm',
      { type: 'string', enum: ['true', 'false'] },
      'Whether a person has looked how a CSV file is read. A file of an export that is not known by its columns needs it once for each account.',
    ),
    query(
      'encoding',
      { type: 'string', enum: [...ENCODINGS] },
      'The encoding of a file that does not name its own. Without it the bytes tell.',
    ),
  ],
  requestBody: { required: true, content: { 'application/octet-stream': {} } },
  responses: {
    201: success('Imported.', 'StatementImportAnswer'),
    ...failures([...UNDER_ADMIN, 'forbidden', 'payload_too_large', 'validation_failed', 'conflict']),
  },
};

export const adminStatementDescription = (): Description => ({
  paths: {
    '/admin/statements': {
      ...readOperation('listStatements', 'Bank statements', 'StatementList', ['validation_failed'], {
        description: `The newest import first. ${OTHERS}`,
        parameters: [query('account', text, 'Only those of this account.'), ...PAGE_PARAMETERS],
      }),
      post: importing,
    },
    '/admin/statement_lines': readOperation(
      'listStatementLines',
      'Lines of bank statements',
      'StatementLineList',
      ['validation_failed'],
      {
        description: `The newest day first. ${OTHERS}`,
        parameters: [
          query('statement_id', text, 'Only those that this statement brought first.'),
          query('account', text, 'Only those of this account.'),
          query('state', { type: 'string', enum: [...LINE_STATES] }, 'Only those in this state.'),
          query('direction', { type: 'string', enum: ['credit', 'debit'] }, 'Only credits, or only debits.'),
          query('from', { type: 'string', format: 'date' }, 'From this day on.'),
          query('to', { type: 'string', format: 'date' }, 'Up to this day.'),
          ...PAGE_PARAMETERS,
        ],
      },
    ),
  },
  schemas: {
    StatementList: jsonSchema(statementListSchema, 'output'),
    StatementLineList: jsonSchema(lineListSchema, 'output'),
    StatementImportAnswer: jsonSchema(importAnswerSchema, 'output'),
  },
});
