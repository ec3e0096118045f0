// Importing bank statements by a form: several files at once, and what came of each.

import { type Faults, hasFaults, literal, notice } from '../../administrators/pages/parts.ts';
import type { Outcome } from '../../administrators/pages/route.ts';
import { requireStanding } from '../../administrators/standing.ts';
import { attributes, type Html, html } from '../../lib/html.ts';
import { accountNumber } from '../../review/pages/panel.ts';
import { prefersAsync } from '../../web/headers.ts';
import { FilesForm } from '../../web/pages/form.ts';
import { type Imported, importedText } from '../import.ts';
import { doubtsOf, type FileFault } from '../import-file.ts';
import { endedAtOnce, importWhatWasRead, ToldImport } from '../import-status.ts';
import { readBeside } from '../read-beside.ts';
import { readingOptions } from '../remembered.ts';
import { undoImport } from '../undo.ts';
import type { StatementContext } from './context.ts';
import { lookedAt, mustBeLookedAt, packed, type Upload } from './csv-form.ts';
import { type CsvPreview, previewFaults, previewFields } from './csv-preview.ts';
import { STATEMENTS_PATH } from './statement-lists.ts';
import { recentImports } from './statements-undo.ts';

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
  const content = html`<p><a class="plain" href="${address(STATEMENTS_PATH)}">${say`Statements`}</a></p>
<h1>${say`Import statements`}</h1>
${done}${outcomes.map((one) => outcomeShown(context, one))}
${isImported && html`<p><a class="primary" href="${address(STATEMENTS_PATH)}" autofocus>${say`See the lines`}</a></p>`}
<form${attributes({
    class: previews.length === 0 && 'narrow',
    method: 'post',
    action: `${address(`${STATEMENTS_PATH}/import`)}#errors`,
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
  return {
    title: say`Import statements`,
    content,
    place: STATEMENTS_PATH,
    ...(hasFaults(faults) && { faults }),
  };
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
  const shown = faults.slice(0, FAULTS_SHOWN);
  const wrong =
    faults.length > 0 &&
    html`${faultItems(context, shown)}
${faults.length > shown.length && html`<p>${say`${faults.length - shown.length} more.`}</p>`}`;
  if (!imported?.length)
    return notice(
      html`<p><strong>${say.html`${literal(file)} was not imported.`}</strong></p>${wrong}`,
      'warn',
    );
  const lines = imported.map(
    (one) => html`<p>${accountNumber(one.account)}: ${importedText(one, context.say)}.</p>`,
  );
  const [warnings, others] = [true, undefined].map((one) => notes.filter(({ warning }) => warning === one));
  const told = html`${notesShown(context, say`Please check:`, warnings!)}${notesShown(context, say`Good to know:`, others!)}`;
  return notice(
    html`<p><strong>${literal(file)}</strong></p>${lines}${wrong}${told}`,
    doubtsOf({ faults, notes }).length > 0 ? 'warn' : 'status',
  );
}

const faultItems = ({ say }: StatementContext, faults: readonly FileFault[]): Html =>
  html`<ul>${faults.map(
    ({ line, text }) =>
      html`<li>${line > 0 && `${say`Line ${line}:`} `}<span lang="en">${text}</span></li>\n`,
  )}</ul>`;

function notesShown(context: StatementContext, heading: string, notes: readonly FileFault[]): Html | false {
  const { say } = context;
  if (notes.length === 0) return false;
  const shown = notes.slice(0, FAULTS_SHOWN);
  const more = notes.length - shown.length;
  return html`<p>${heading}</p>${faultItems(context, shown)}
${more > 0 && html`<p>${say`${more} more.`}</p>`}`;
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
  const shown = prefersAsync(request.headers) ? undefined : await endedAtOnce(ended, size);
  if (shown) return importPage(context, shown);
  ended.catch((error: unknown) => request.log.warn({ err: error }, 'an import ended with an error'));
  const id = await told.tell(clock.now());
  database.refresh();
  return { to: address(`${STATEMENTS_PATH}/import/${id}`) };
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
