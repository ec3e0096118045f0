// Importing bank statements by a form: several files at once, and what came of each.
import { type Html, html } from '../lib/html.ts';
import { FilesForm } from '../pages/files-form.ts';
import { type Imported, importedText } from '../statements/import.ts';
import { checkFile, type FileFault, importFile } from '../statements/import-file.ts';
import { readBeside } from '../statements/read-beside.ts';
import { literal, notice } from './parts.ts';
import type { Context, Outcome } from './route.ts';
import { STATEMENTS_PATH } from './statements.ts';

/** What came of one file. `imported` is undefined if nothing was imported because of its faults. */
interface FileOutcome {
  file: string;
  imported: Imported[] | undefined;
  faults: FileFault[];
}

/** Faults of one file that are shown. */
const FAULTS_SHOWN = 20;

export function importPage(context: Context, outcomes: readonly FileOutcome[] = [], fault?: string): Outcome {
  const { address, token } = context;
  const described = fault && html` aria-invalid="true" aria-describedby="files-error"`;
  const isImported = outcomes.some(({ imported }) => imported);
  const content = html`<p><a class="plain" href="${address(STATEMENTS_PATH)}">Statements</a></p>
<h1>Import statements</h1>
${outcomes.map((one) => outcomeShown(one))}
${isImported && html`<p><a class="primary" href="${address(STATEMENTS_PATH)}" autofocus>See the lines</a></p>`}
<form class="narrow" method="post" action="${address(`${STATEMENTS_PATH}/import`)}#errors" enctype="multipart/form-data" novalidate>${token}
<div class="field${fault && ' wrong'}"><label for="files">Files of your bank</label>
<p class="hint" id="files-hint">CAMT.052, 053 or 054, MT940, MT942, OFX or CSV, also in a ZIP archive. At most 64 MB together.</p>
${fault && html`<p class="error" id="files-error">${fault}</p>\n`}<input id="files" name="files" type="file"
multiple${described}${outcomes.length === 0 && html` autofocus`}></div>
<div class="radio"><input type="checkbox" id="despite" name="despite" value="yes">
<label for="despite">Import what is right of a file although something in it is wrong</label></div>
<p class="actions"><button class="primary">Import</button></p></form>
<p class="muted">A file again, or one that overlaps, adds nothing twice.</p>`;
  return {
    title: 'Import statements',
    content,
    place: STATEMENTS_PATH,
    ...(fault && { faults: { files: fault } }),
  };
}

function outcomeShown({ file, imported, faults }: FileOutcome): Html {
  const shown = faults.slice(0, FAULTS_SHOWN);
  const wrong =
    faults.length > 0 &&
    html`<ul>${shown.map(({ line, text }) => html`<li>${line > 0 && `Line ${line}: `}${text}</li>\n`)}</ul>
${faults.length > shown.length && html`<p>${faults.length - shown.length} more.</p>`}`;
  if (!imported?.length)
    return notice(html`<p><strong>${literal(file)} was not imported.</strong></p>${wrong}`, 'warn');
  const lines = imported.map((one) => html`<p>${literal(one.account)}: ${importedText(one)}.</p>`);
  return notice(
    html`<p><strong>${literal(file)}</strong></p>${lines}${wrong}`,
    faults.length > 0 ? 'warn' : 'status',
  );
}

export async function takeFiles(context: Context): Promise<Outcome> {
  const { form, journal, principal, request, offer } = context;
  const files = form instanceof FilesForm ? form.files : [];
  if (files.length === 0) return importPage(context, [], 'Choose at least one file');
  const act = { actor: principal.actor, request_id: request.id };
  const options = { despiteFaults: form.get('despite') === 'yes', dryRun: false };
  const outcomes: FileOutcome[] = [];
  for (const file of files) {
    const read = await readBeside(new Uint8Array(await file.arrayBuffer()), file.name);
    const checked = checkFile(read, offer.settings);
    const imported = await importFile(journal, checked, act, options);
    outcomes.push({ file: file.name, imported, faults: checked.faults });
  }
  return importPage(context, outcomes);
}
