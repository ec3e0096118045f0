// HTML that escapes by default: a template tag whose result is a type of its own, so a bare string cannot slip in.

declare const brand: unique symbol;

/** Markup that is safe to send. Made by `html` alone. */
export type Html = { readonly [brand]: true; toString(): string };

type Insertable = Html | string | number | null | undefined | false | readonly Insertable[];

class Markup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** Whether a value is markup that `html` made. */
export function isHtml(value: unknown): value is Html {
  return value instanceof Markup;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(value: Insertable): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.toString();
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Escapes every inserted value for element content and quoted attributes; nested `html` pieces and lists stay markup. */
export function html(strings: TemplateStringsArray, ...values: Insertable[]): Html {
  let text = strings[0]!;
  for (let i = 0; i < values.length; i++) text += render(values[i]) + strings[i + 1];
  return new Markup(text) as unknown as Html;
}

/** Attributes as a tag holds them, each with a space in front; those that are `undefined` or `false` are left out. */
export function attributes(
  values: Readonly<Record<string, string | number | true | false | undefined>>,
): Html {
  let text = '';
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === false) continue;
    text += value === true ? ` ${name}` : ` ${name}="${render(value)}"`;
  }
  return new Markup(text) as unknown as Html;
}

/** The address, if following it runs nothing: http, https, mailto, tel, or a payment app's own; else nothing. */
export function safeUrl(text: string): string | undefined {
  return URL.canParse(text) && /^(?:https?|mailto|tel|upi):$/.test(new URL(text).protocol) ? text : undefined;
}
