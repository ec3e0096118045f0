// The markup of a letter, as HTML and as text with the same words: mail programs know few styles, and drop those of html and body.
import { type Html, html, safeUrl } from '../../lib/html.ts';
import type { Language } from '../../lib/locale.ts';
import { lines } from '../../web/markup/parts.ts';

/** What a letter says, from top to bottom. */
export interface LetterContent {
  language: Pick<Language, 'tag' | 'direction'>;
  /** Who writes: above all else. */
  brand: string;
  /** The logo above that, as a data URI. The letter holds the picture, so that it is seen at once and nothing is fetched. */
  logo?: string | undefined;
  subject: string;
  heading: Html;
  /** Set large. */
  amount?: string | undefined;
  /** That no money moves. */
  test?: Html | undefined;
  paragraphs: readonly Html[];
  /** Words of another person, under who they are from. */
  quotes?: readonly { from: Html; text: string }[];
  facts?: readonly [term: Html | string, value: Html | string][];
  button?: { label: Html; url: string; hint: Html } | undefined;
  /** Small, at the end. */
  notes: readonly Html[];
}

const FONT = `font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif`;
/** The Content-ID of the logo (RFC 2392). */
export const LOGO_ID = 'logo';
/** The styles of parts, in each of them: many programs read none elsewhere. */
const CSS = {
  body: `margin:0;padding:0;background:#f4f3ef;color:#1b1d24;${FONT}`,
  paper: `padding:28px 24px 12px;background:#ffffff;border:1px solid #e4e2dc;border-radius:14px;font-size:16px;line-height:24px;color:#1b1d24;overflow-wrap:anywhere;${FONT}`,
  heading: 'margin:0 0 12px;font-size:22px;line-height:28px;font-weight:650',
  amount: 'font-size:36px;line-height:42px;font-weight:650;letter-spacing:-.02em',
  logo: 'height:40px;width:auto;max-width:160px;padding:3px;border-radius:8px;background:#ffffff',
  muted: 'font-size:14px;line-height:20px;color:#5c606b',
  quote: 'margin:0 0 16px;padding:2px 12px;border:0 solid #e4e2dc',
  button:
    'display:inline-block;padding:13px 22px;border-radius:8px;background:#2a47b0;color:#ffffff;font-weight:600;text-decoration:none',
  link: 'color:#2a47b0;word-break:break-all',
  facts: 'margin:0 0 16px;border-collapse:collapse;font-size:16px;line-height:24px',
  cell: 'padding:8px 0;border-bottom:1px solid #e4e2dc;vertical-align:top',
  term: 'width:38%;overflow-wrap:normal;font-weight:400;color:#5c606b',
} as const;
/** Attributes of a table that lays out. */
const LAYOUT = html` role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"`;
const STYLE = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.canvas{background:#121317!important;color:#eeece6!important}
.paper{background:#1b1d23!important;border-color:#363942!important}
.ink{color:#eeece6!important}
.muted{color:#b4b3ae!important}
.line{border-color:#363942!important}
.link{color:#a9bcff!important}
.button{background:#a9bcff!important;color:#121317!important}
}`;

/**
 * Dots and the like that make an address of a text for mail programs are parted from what follows by a space of no width. Dots before
 * figures make none: amounts and order numbers stay as they are, so that a copy of them finds what it should.
 */
export const unlinked = (text: string): string =>
  text.replace(/(?:\.(?=\p{L})|(?:@|:\/\/)(?=\S))/gu, '$&\u200b');

/** The HTML part. Every cell says its language and direction itself, since some programs keep nothing around them. */
export function letterHtml(content: LetterContent): string {
  const { language, subject } = content;
  const { tag, direction } = language;
  const cell = html` dir="${direction}" lang="${tag}"`;
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${subject}</title>
<style>${STYLE}</style>
</head>
<body class="canvas" style="${CSS.body}">
<table${LAYOUT} class="canvas" style="background:#f4f3ef"><tr>
<td align="center"${cell} style="padding:24px 12px">
<!--[if mso]><table role="presentation" width="560"><tr><td${cell}><![endif]-->
<table${LAYOUT} style="max-width:560px"><tr>
<td class="paper"${cell} style="${CSS.paper};${alignment(direction)}">
<main>
${parts(content)}</main>
</td></tr></table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</body>
</html>
`.toString();
}

/** The side on which a line begins. Outlook knows sides and line breaks, and neither starts of lines nor `white-space`. */
const sideOf = (direction: string) => (direction === 'rtl' ? 'right' : 'left');
const alignment = (direction: string) => `text-align:${sideOf(direction)}`;

function parts(content: LetterContent): Html {
  const {
    language,
    brand,
    logo,
    heading,
    amount,
    test,
    paragraphs,
    quotes = [],
    facts = [],
    button,
    notes,
  } = content;
  const { direction } = language;
  const line = (text: Html | string, style = '', name = 'ink') =>
    html`<p class="${name}" dir="${direction}" style="margin:0 0 16px;${alignment(direction)};${style}">${text}</p>\n`;
  const bar = `border-${sideOf(direction)}-width:3px`;
  const quote = html` dir="${direction}" style="${CSS.quote};${bar};${alignment(direction)}"`;
  const small = (text: Html | string, style = '') => line(text, `${CSS.muted};${style}`, 'muted');
  const url = button && safeUrl(button.url);
  const picture =
    logo !== undefined && html`<img src="cid:${LOGO_ID}" alt="" height="40" style="${CSS.logo}">`;
  return html`${picture && line(picture, 'margin-bottom:12px')}${line(html`<bdi>${unlinked(brand)}</bdi>`, 'font-weight:600')}${
    test && line(test, 'font-weight:600')
  }
<h1 class="ink" dir="${direction}" style="${CSS.heading};${alignment(direction)}">${heading}</h1>
${amount !== undefined && line(html`<bdi>${amount}</bdi>`, CSS.amount)}${paragraphs.map((one) => line(one))}${quotes.map(
  ({ from, text }) =>
    html`${small(from, 'margin-bottom:4px')}<blockquote class="line ink"${quote}><bdi>${lines(unlinked(text))}</bdi></blockquote>\n`,
)}${facts.length > 0 && factTable(facts, direction)}${
  url !== undefined &&
  html`${line(html`<a class="button" href="${url}" style="${CSS.button}">${button!.label}</a>`, 'margin-top:8px')}${small(
    html`${button!.hint}<br><a class="link" dir="ltr" href="${url}" style="${CSS.link}">${url}</a>`,
  )}`
}${notes.map((one) => small(one))}`;
}

function factTable(facts: NonNullable<LetterContent['facts']>, direction: string): Html {
  const cell = `${CSS.cell};${alignment(direction)}`;
  const gap = `padding-${direction === 'rtl' ? 'left' : 'right'}:16px`;
  return html`<table width="100%" cellpadding="0" cellspacing="0" border="0" dir="${direction}" style="${CSS.facts}">
${facts.map(
  ([
    term,
    value,
  ]) => html`<tr><th scope="row" class="line muted" dir="${direction}" style="${cell};${CSS.term};${gap}">${term}</th>
<td class="line ink" dir="${direction}" style="${cell}"><bdi>${lines(value)}</bdi></td></tr>\n`,
)}</table>\n`;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
/** Markup as a reader without it has it. */
const plain = (markup: Html | string): string =>
  typeof markup === 'string'
    ? markup
    : markup
        .toString()
        .replace(/<[^>]*>/g, '')
        .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!);

/** The text part. */
export function letterText(content: LetterContent): string {
  const { brand, heading, amount, test, paragraphs, quotes = [], facts = [], button, notes } = content;
  const blocks = [
    unlinked(brand),
    test,
    heading,
    amount,
    ...paragraphs,
    ...quotes.map(({ from, text }) => `${plain(from)}\n${unlinked(text).replace(/^/gm, '> ')}`),
    facts.map(([term, value]) => `${plain(term)}: ${plain(value).replaceAll('\n', ', ')}`).join('\n'),
    button && `${plain(button.label)}\n${plain(button.hint)} ${button.url}`,
    ...notes,
  ];
  return `${blocks
    .filter((block) => block !== undefined && block !== '')
    .map((block) => plain(block!))
    .join('\n\n')}\n`;
}
