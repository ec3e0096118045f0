// A form's fields and what is wrong with them, in the same words above the form and beside the field.
import { attributes, type Html, html } from '../../lib/html.ts';

/** What is wrong with one field, in the reader's language. */
export interface FormFault<Name extends string = string> {
  /** The field's name, which is its id too. */
  field: Name;
  message: Html | string;
}

/** The summary of a form's faults, each with a link to its field; null if there are none. */
export function summaryOfFaults(heading: Html | string, faults: readonly FormFault[]): Html | null {
  if (faults.length === 0) return null;
  return html`<div class="errors" id="errors" role="alert" tabindex="-1" aria-labelledby="errors-heading">
<h2 id="errors-heading">${heading}</h2>
<ul>${faults.map(({ field, message }) => html`<li><a href="#${field}">${message}</a></li>`)}</ul>
</div>`;
}

export interface FieldMarkup {
  label: Html | string;
  hint?: Html | string | null | undefined;
  /** What is wrong with it, in the summary's words. */
  fault?: Html | string | undefined;
  /** What was typed or chosen. */
  value?: string | undefined;
  /** Lines of a field that has several. */
  lines?: number | undefined;
  /** What it chooses from: values, and what each is called. */
  choices?: readonly (readonly [value: string, label: string])[] | undefined;
  /** Its name if undefined: for pages with several fields of one name. */
  id?: string | undefined;
  attributes?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/** A form's field: its label, its hint and its fault, if any. */
export function fieldMarkup(name: string, parts: FieldMarkup): Html {
  const { label, hint, fault, value = '', lines, choices, id = name } = parts;
  const described = [hint && `${id}-hint`, fault && `${id}-error`].filter(Boolean).join(' ');
  const common = {
    id,
    name,
    dir: choices ? undefined : 'auto',
    ...parts.attributes,
    'aria-invalid': fault && 'true',
    'aria-describedby': described || undefined,
  };
  const option = ([one, text]: readonly [string, string]) =>
    html`<option${attributes({ value: one, selected: one === value })}>${text}</option>`;
  const control = choices
    ? html`<select${attributes(common)}>${choices.map(option)}</select>`
    : lines
      ? html`<textarea${attributes({ ...common, rows: lines })}>\n${value}</textarea>`
      : html`<input${attributes({ type: 'text', ...common, value: value || undefined })}>`;
  return html`<div class="field${fault && ' wrong'}">
<label for="${id}">${label}</label>
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>\n`}${
  fault && html`<p class="error" id="${id}-error">${fault}</p>\n`
}${control}
</div>
`;
}
