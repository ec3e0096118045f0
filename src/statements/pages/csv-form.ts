// What the form of a CSV preview sends: the file itself, packed, and how the bookkeeper says it is read.

import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import {
  CSV_CHOICES,
  CSV_ROLES,
  CSV_STATUSES,
  type CsvChoice,
  type CsvColumns,
  type CsvRole,
  type CsvSeen,
  type CsvStatus,
  ENCODINGS,
  FILE_BYTES_MAXIMUM,
  type PartialLayout,
  type ReadOptions,
} from '#bank-statements';
import type { SelectChoices } from '../../administrators/pages/filters.ts';
import { OperationalError } from '../../lib/errors.ts';
import { phrase, type Say, spoken } from '../../lib/phrases.ts';

/** A file of the form, or one that was looked at and comes again. */
export interface Upload {
  name: string;
  bytes: Uint8Array;
  /** What the bookkeeper said about it; undefined for a file that was chosen just now. */
  said: Pick<ReadOptions, 'account' | 'choices' | 'encoding'> | undefined;
}

/** CSV files in one form. */
const FILES_MAXIMUM = 50;
const packing = promisify(gzip);
const unpacking = promisify(gunzip);

/** The name of a field about file `index`. */
export const csvField = (index: number, what: string): string => `csv-${index}-${what}`;

/** The choices of a bookkeeper, each with what it is called. */
export const wordsOf = (say: Say, words: Readonly<Record<string, string>>): SelectChoices =>
  Object.entries(words).map(([value, label]) => [value, say.of(label)]);

/** A file as a hidden field holds it: the preview keeps nothing on the server. */
export async function packed(bytes: Uint8Array): Promise<string> {
  return (await packing(bytes)).toString('base64');
}

/** The files that were looked at, at most 64 MB unpacked. Throws `validation_failed` for a field that no page of ours sends. */
export async function lookedAt(form: URLSearchParams): Promise<Upload[]> {
  const uploads: Upload[] = [];
  let left = FILE_BYTES_MAXIMUM;
  if (form.has(csvField(FILES_MAXIMUM, 'name')))
    throw new OperationalError(
      'validation_failed',
      spoken((say) => say`At most ${FILES_MAXIMUM} files are taken at once. Import fewer.`),
    );
  for (let index = 0; index < FILES_MAXIMUM; index++) {
    const name = form.get(csvField(index, 'name'));
    const content = form.get(csvField(index, 'content'));
    if (name === null || content === null) break;
    const bytes = await unpacking(Buffer.from(content, 'base64'), {
      maxOutputLength: Math.max(1, left),
    }).catch(() => {
      throw new OperationalError(
        'validation_failed',
        phrase('The file cannot be read from the form. Choose it again.'),
      );
    });
    left -= bytes.length;
    uploads.push({ name, bytes: new Uint8Array(bytes), said: saidOf(form, index) });
  }
  return uploads;
}

function saidOf(form: URLSearchParams, index: number): NonNullable<Upload['said']> {
  const value = (what: string) => form.get(csvField(index, what))?.trim() ?? '';
  const choices: PartialLayout = { columns: columnsOf(form, index) };
  for (const [key, words] of Object.entries(CSV_CHOICES) as [CsvChoice, object][])
    if (Object.hasOwn(words, value(key))) Object.assign(choices, { [key]: value(key) });
  if (/^[A-Z]{3}$/.test(value('currency'))) choices.currency = value('currency');
  const statuses = statusesOf(form, index);
  if (Object.keys(statuses).length > 0) choices.statuses = statuses;
  const encoding = ENCODINGS.find((one) => one === value('encoding'));
  // With another delimiter there are other columns.
  if (value('delimiter') !== value('delimiter-before') || value('quote') !== value('quote-before'))
    choices.columns = {};
  return {
    choices,
    ...(encoding && { encoding }),
    ...(value('account') !== '' && { account: value('account') }),
  };
}

/** What words of the status mean, by fields of the words. */
function statusesOf(form: URLSearchParams, index: number): NonNullable<PartialLayout['statuses']> {
  const prefix = csvField(index, 'status-');
  const meanings = [...form].flatMap(([field, value]) =>
    field.startsWith(prefix) && Object.hasOwn(CSV_STATUSES, value)
      ? [[field.slice(prefix.length), value as CsvStatus] as const]
      : [],
  );
  return Object.fromEntries(meanings);
}

/** Every role, without columns where the form gives it none. */
function columnsOf(form: URLSearchParams, index: number): CsvColumns {
  const columns: CsvColumns = Object.fromEntries(Object.keys(CSV_ROLES).map((role) => [role, []]));
  const prefix = csvField(index, 'column-');
  for (const [field, role] of form)
    if (field.startsWith(prefix) && Object.hasOwn(CSV_ROLES, role))
      columns[role as CsvRole]!.push(field.slice(prefix.length));
  return columns;
}

/** Whether a bookkeeper has to look at a file before it is imported. */
export function mustBeLookedAt({ questions, isRemembered, account }: CsvSeen, said: Upload['said']): boolean {
  if (questions.length > 0) return true;
  const isNamed = account.iban !== undefined || account.other !== undefined;
  return said === undefined ? !isRemembered : !isNamed && said.account === undefined;
}
