// Importing bank statements by a form: several files at once, what came of each, how far a long import is, and undoing one.

import type { StatementFault } from '#bank-statements';
import { type Faults, literal, notice } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { requireStanding } from '../../administrators/standing.ts';
import { OperationalError } from '../../lib/errors.ts';
import { attributes, type Html, hidden, html } from '../../lib/html.ts';
import { isTimeOrderedId } from '../../lib/ids.ts';
import { accountNumber } from '../../review/pages/panel.ts';
import { daysInWords } from '../../review/told.ts';
import { records } from '../../web/markup/table.ts';
import { FilesForm } from '../../web/pages/form.ts';
import { type Imported, importedText } from '../import.ts';
import { doubtsOf, type FileFault } from '../import-file.ts';
import {
  endedAtOnce,
  IMPORT_ID_PREFIX,
  type ImportStatus,
  importStatus,
  importWhatWasRead,
  ToldImport,
} from '../import-status.ts';
import type { KeptStatement } from '../kept.ts';
import { listStatements, statementsDecided } from '../line-queries.ts';
import { readBeside } from '../read-beside.ts';
import { readingOptions } from '../remembered.ts';
import { isUndone, undoImport } from '../undo.ts';
import { lookedAt, mustBeLookedAt, packed, type Upload } from './csv-form.ts';
import { type CsvPreview, previewFaults, previewFields } from './csv-preview.ts';
import {
  faultItems,
  linkToLines,
  pageBelow,
  STATEMENTS_PATH,
  type StatementContext,
  warnNotice,
} from './statement-page.ts';

export const IMPORT_PATH = `${STATEMENTS_PATH}/import`;

/** What came of one file. `imported` is undefined if nothing was imported because of its faults. */
interface FileOutcome {
  file: string;
  imported: Imported[] | undefined;
  faults: FileFault[];
  notes: FileFault[];
}

/** Faults of one file that are shown. */
const FAULTS_SHOWN = 20;

interface Shown {
  outcomes?: readonly FileOutcome[];
  /** CSV files that are to be looked at first. */
  previews?: readonly CsvPreview[];
  fault?: string;
  /** What was done before the page is shown again. */
  done?: Html;
}

export async function importPage(
  context: StatementContext,
  { outcomes = [], previews = [], fault, done }: Shown = {},
): Promise<Outcome> {
  const { address, token, say } = context;
  const isImported = outcomes.some(({ imported }) => imported);
  const faults: Faults = fault ? { files: fault } : previewFaults(context, previews);
  const fields =
    previews.length > 0
      ? previewFields(context, previews, faults)
      : filesField(context, outcomes.length === 0, fault);
  const body = html`${done}${outcomes.map((one) => outcomeShown(context, one))}
${isImported && linkToLines(context)}
<form${attributes({
    class: previews.length === 0 && 'narrow',
    method: 'post',
    action: `${address(IMPORT_PATH)}#errors`,
    enctype: 'multipart/form-data',
    novalidate: true,
  })}>${token}
${fields}<div class="radio"><input type="checkbox" id="despite" name="despite" value="yes">
<label for="despite">${say`Skip faulty lines and import the rest`}</label></div>
<p class="actions"><button class="primary">${say`Import`}</button>${
    previews.length > 0 &&
    html` <button class="secondary" name="act" value="look">${say`Read again`}</button>`
  }</p></form>
<p class="muted">${say`You can import a file twice: nothing is added twice.`}</p>
${previews.length === 0 && (await recentImports(context))}`;
  return pageBelow(context, say`Import statements`, body, faults);
}

function filesField({ say }: StatementContext, isFirst: boolean, fault: string | undefined): Html {
  const described = fault && html` aria-invalid="true" aria-describedby="files-error"`;
  return html`<div class="field${fault && ' wrong'}"><label for="files">${say`Files from your bank`}</label>
<p class="hint" id="files-hint">${say`CAMT.052, 053 or 054, MT940, MT942, OFX or CSV, also in a ZIP archive. 64 MB together or less.`}</p>
${fault && html`<p class="error" id="files-error">${fault}</p>\n`}<input id="files" name="files" type="file"
multiple${described}${isFirst && html` autofocus`}></div>
`;
}

function outcomeShown(context: StatementContext, { file, imported, faults, notes }: FileOutcome): Html {
  const { say } = context;
  const some = (of: readonly FileFault[], heading?: string) =>
    of.length > 0 && html`${heading && html`<p>${heading}</p>`}${faultItems(context, of, FAULTS_SHOWN)}`;
  const wrong = some(faults);
  if (!imported?.length) return warnNotice(say.html`${literal(file)} was not imported.`, wrong);
  const lines = imported.map(
    (one) => html`<p>${accountNumber(one.account)}: ${importedText(one, context.say)}.</p>`,
  );
  const warnings = notes.filter((one) => one.warning);
  const others = notes.filter((one) => !one.warning);
  return notice(
    html`<p><strong>${literal(file)}</strong></p>${lines}${wrong}${some(warnings, say`Please check:`)}${some(others, say`Good to know:`)}`,
    doubtsOf({ faults, notes }).length > 0 ? 'warn' : 'status',
  );
}

export async function takeFiles(context: StatementContext): Promise<Outcome> {
  const { database, form, journal, act, clock, request, address } = context;
  const chosen = form instanceof FilesForm ? form.files : [];
  const uploads: Upload[] = await lookedAt(form);
  for (const file of chosen)
    uploads.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()), said: undefined });
  if (uploads.length === 0) return importPage(context, { fault: context.say`Choose at least one file` });
  const size = uploads.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const told = new ToldImport(journal, act);
  const ended = importAll(context, uploads, told);
  const shown = await endedAtOnce(ended, size, request);
  if (shown) return importPage(context, shown);
  ended.catch((error: unknown) => request.log.warn({ err: error }, 'an import ended with an error'));
  const id = await told.tell(clock.now());
  database.refresh();
  return { to: address(`${IMPORT_PATH}/${id}`) };
}

/** Imports the files one after the other. A CSV file that is to be looked at is not imported. */
async function importAll(
  context: StatementContext,
  uploads: readonly Upload[],
  told: ToldImport,
): Promise<{ outcomes: FileOutcome[]; previews: CsvPreview[] }> {
  const { database, offer, form, act, journal } = context;
  const known = await readingOptions(database, offer.settings);
  const outcomes: FileOutcome[] = [];
  const previews: CsvPreview[] = [];
  let before = 0;
  try {
    for (const { name, bytes, said } of uploads) {
      const read = await readBeside(bytes, name, { ...said, ...known });
      const upload = { name, said, bytes: read.bytes()! };
      const seen = read.csv?.find(({ file }) => file === name);
      const isLook = form.get('act') === 'look' || (seen && mustBeLookedAt(seen, said));
      if (seen && isLook) {
        previews.push({ ...upload, read, content: await packed(upload.bytes) });
        continue;
      }
      const how = { csv: known, confirm: said !== undefined, despiteFaults: form.get('despite') === 'yes' };
      const { checked, imported } = await importWhatWasRead(
        { journal, offer },
        read,
        how,
        act,
        (transaction, done, of) => told.onTurn(transaction, before + done, before + of),
      );
      before += read.told.reduce((sum, { overview }) => sum + overview.lines, 0);
      outcomes.push({ file: name, imported, faults: checked.faults, notes: checked.notes });
      if (seen && !imported) previews.push({ ...upload, read, content: await packed(upload.bytes) });
    }
    await tellEnd(told, outcomes, previews);
    return { outcomes, previews };
  } catch (error) {
    await told.failed().catch(() => {}); // the store is away: the status is "stopped" after a while
    throw error;
  }
}

const TOO_LARGE_TO_SHOW =
  'It has to be looked at, and is too large to be shown at once. Import a smaller export of the same account first and confirm how it is read: that is remembered.';

/** Tells what all files came to, for an asker who did not wait. */
function tellEnd(
  told: ToldImport,
  outcomes: readonly FileOutcome[],
  previews: readonly CsvPreview[],
): Promise<void> {
  const imported = outcomes.flatMap((one) => one.imported ?? []);
  const isOne = outcomes.length + previews.length === 1;
  const faults = [
    ...outcomes.flatMap(doubtsOf),
    ...previews.map(({ name }) => ({ file: name, line: 0, text: TOO_LARGE_TO_SHOW })),
  ].map((fault) => (isOne ? fault : { ...fault, text: `${fault.file}: ${fault.text}` }));
  return imported.length > 0 || faults.length === 0 ? told.done(imported, faults) : told.refused(faults);
}

export async function takeUndo(context: StatementContext): Promise<Outcome> {
  const { database, journal, principal, act, form } = context;
  const lines = await journal.commit(async (transaction) => {
    await requireStanding(transaction, principal, 'decide');
    return undoImport(transaction, form.get('statement') ?? '', act);
  });
  database.refresh();
  const done = context.say.count(
    lines,
    'The import is undone: {n} line no longer counts.',
    'The import is undone: {n} lines no longer count.',
  );
  return importPage(context, { done: notice(html`<p>${done}</p>`, 'status') });
}

/** Seconds until the page asks again. */
const AGAIN_S = 3;

/** Throws `not_found` for an import that is none. */
export async function importingPage(context: StatementContext): Promise<Outcome> {
  const { database, params, now, say, address } = context;
  const id = params.import_id!;
  database.refresh();
  const status = isTimeOrderedId(IMPORT_ID_PREFIX, id) ? await importStatus(database, id, now) : undefined;
  if (!status) throw new OperationalError('not_found', 'There is no such import.');
  const isRunning = status.state === 'running';
  return {
    title: say`Import statements`,
    content: html`<p><a class="plain" href="${address(IMPORT_PATH)}">${say`Import statements`}</a></p>
<h1>${isRunning ? say`The import goes on` : say`Import statements`}</h1>
${isRunning ? running(context, status) : ended(context, status)}`,
    place: STATEMENTS_PATH,
    ...(isRunning && { headers: { refresh: String(AGAIN_S) } }),
  };
}

function running({ say, address }: StatementContext, { id, lines, lines_done }: ImportStatus): Html {
  const link = html`<p><a class="secondary" href="${address(`${IMPORT_PATH}/${id}`)}">${say`Look again`}</a></p>`;
  const far =
    lines === null
      ? html`<progress aria-labelledby="far"></progress><p id="far">${say`The file is read.`}</p>`
      : html`<progress aria-labelledby="far" max="${lines}" value="${lines_done}"></progress>
<p id="far">${say`${lines_done.toLocaleString(say.tag)} of ${lines.toLocaleString(say.tag)} lines are in.`}</p>`;
  return html`<section class="block" role="status">${far}</section>
<p class="muted">${say`This page looks again every ${AGAIN_S} seconds. You can leave it: the import goes on, and its lines are shown once all of them are in.`}</p>${link}`;
}

function ended(context: StatementContext, status: ImportStatus): Html {
  const { say } = context;
  const { state, added, booked, known, faults } = status;
  const wrong = faults.length > 0 && faultItems(context, faults, FAULTS_SHOWN);
  if (state === 'done') {
    const told = html`<p>${say`${added} new lines, ${booked} booked by now, ${known} known before.`}</p>${wrong}`;
    return html`${notice(told, wrong ? 'warn' : 'status')}${linkToLines(context)}`;
  }
  const text = {
    refused: say`Nothing was imported.`,
    failed: say`The import failed, and nothing of it is seen. Import the file again: it goes on where it ended.`,
    stopped: say`The import stopped with its server, and nothing of it is seen. Import the file again: it goes on where it ended.`,
    running: '',
  }[state];
  return warnNotice(text, wrong);
}

export const UNDO_PATH = `${STATEMENTS_PATH}/undo`;
/** Imports that are shown, and of each the faults and warnings. */
const [IMPORTS_SHOWN, DOUBTS_SHOWN] = [8, 2];

const doubtsIn = (faults: KeptStatement['faults']): string[] =>
  (JSON.parse(faults ?? '[]') as StatementFault[]).slice(0, DOUBTS_SHOWN).map(({ text }) => text);

/** The newest imports; nothing if there are none. */
async function recentImports({ database, address, token, say }: StatementContext): Promise<Html | false> {
  const found = await listStatements(database, undefined, undefined, IMPORTS_SHOWN);
  if (found.length === 0) return false;
  const decided = await statementsDecided(
    database,
    found.map(({ id }) => id),
  );
  const button = ({ id, file }: KeptStatement) =>
    html`<form method="post" action="${address(UNDO_PATH)}">${token}${hidden({ statement: id })}
<button class="secondary" aria-label="${say`Undo the import of ${file}`}">${say`Undo`}</button></form>`;
  return html`<section class="block" aria-labelledby="recent-heading"><h2 id="recent-heading">${say`Newest imports`}</h2>
<p class="muted">${say`You can undo an import as long as none of its lines was matched or ignored. Its file can be imported again.`}</p>
${records<KeptStatement>(
  [
    [
      say`File`,
      ({ file, faults }) =>
        html`${literal(file)}${doubtsIn(faults).map((text) => html`<div class="muted" lang="en">${text}</div>`)}`,
    ],
    [say`Account`, ({ account }) => accountNumber(account)],
    [say`Days`, ({ first_day, last_day }) => daysInWords(first_day, last_day, say) || '–'],
    [say`Lines`, ({ lines }) => String(lines), 'number'],
    [say`Undo`, (one) => (isUndone(one) ? say`Undone` : decided.has(one.id) ? '–' : button(one))],
  ],
  found,
)}</section>`;
}
