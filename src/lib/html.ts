// HTML that escapes by default: a template tag whose result is a type of its own, so a bare string cannot slip in.

declare const brand: unique symbol;

/** Markup that is safe to send. Made by `html` alone. */
export type Html = { readonly [brand]: true; toString(): string };

type Insertable = Html | string | number | null | undefined | false | readonly Insertable[];

class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** Whether a value is markup that `html` made. */
export function isHtml(value: unknown): value is Html {
  return value instanceof Markup;
}

const SPECIAL = /[&<>"']/;

/** A value as it is inserted: markup unchanged, lists joined, anything else escaped. Undefined for nothing. */
function escaped(value: Insertable): string {
  if (value instanceof Markup) return value.text;
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) {
    let text = '';
    for (const one of value) text += escaped(one);
    return text;
  }
  const text = String(value);
  if (!SPECIAL.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Escapes every inserted value for element content and quoted attributes; nested `html` pieces and lists stay markup. */
export function html(strings: TemplateStringsArray, ...values: Insertable[]): Html {
  let text = strings[0]!;
  for (let i = 0; i < values.length; i++) text += escaped(values[i]) + strings[i + 1];
  return new Markup(text) as unknown as Html;
}

/** The same markup in one piece of memory, for what is inserted again and again. */
export function settled(markup: Html): Html {
  return new Markup(Buffer.from(markup.toString()).toString()) as unknown as Html;
}

/** Attributes as a tag holds them, each with a space in front; those that are `undefined` or `false` are left out. */
export function attributes(
  values: Readonly<Record<string, string | number | true | false | undefined>>,
): Html {
  let text = '';
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === false) continue;
    text += value === true ? ` ${name}` : ` ${name}="${escaped(value)}"`;
  }
  return new Markup(text) as unknown as Html;
}

/** Hidden fields of a form. Those that are `null` are left out. */
export function hidden(fields: Readonly<Record<string, string | null>>): Html {
  const field = (name: string, value: string) => html`<input type="hidden" name="${name}" value="${value}">`;
  return html`${Object.entries(fields).map(([name, value]) => value !== null && field(name, value))}`;
}

/** Schemes of which following an address runs nothing: the web, mail, telephone, and a payment app's own. */
const SAFE_SCHEME = /^(?:https?|mailto|tel|upi):/i;

/** The address, if its scheme is written first of all and following it runs nothing; else nothing. */
export function safeUrl(text: string): string | undefined {
  return SAFE_SCHEME.test(text) ? text : undefined;
}
