// Counts what a statement file holds by its raw text alone, for holding what a reader gives against it.

/** Days as banks write them, and amounts with two decimals. */
const DAY = /\b(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2}))\b/;
const AMOUNT = /(?<![\d.,])\d[\d.,']*[.,]\d\d(?![\d.,])/;

/** How many entries a text holds: elements, fields, or rows with a day and an amount and as many delimiters as most of these have. */
export function heldIn(bytes: Uint8Array): number {
  const text = Buffer.from(bytes).toString('latin1').replaceAll('\0', '');
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const head = text.slice(0, 4096);
  if (/<\?OFX|<OFX>|OFXHEADER/i.test(head)) return count(/<STMTTRNP?>/gi);
  if (/^[^\w:]*</.test(head)) return count(/<(?:\w+:)?Ntry[\s>]/g);
  if (/:(?:20|25|60F):/.test(head)) return count(/:61:\s*\d/g);
  const rows = text.split(/\r\n?|\n/).filter((row) => DAY.test(row) && AMOUNT.test(row));
  const widths = rows.map((row) => row.split(/[;,\t|]/).length).sort((a, b) => a - b);
  const usual = widths[Math.floor(widths.length / 2)] ?? 0;
  return rows.filter((row) => row.split(/[;,\t|]/).length >= usual).length;
}
