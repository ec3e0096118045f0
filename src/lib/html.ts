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
