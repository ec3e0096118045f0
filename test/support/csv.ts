// Reads CSV as RFC 4180 has it, and nothing more generously: a spreadsheet that is strict reads the same.

/** The records of `text`, each ended by CR LF. Throws where a quote, a comma or a line end stands where none may. */
export function readCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const found = cell.exec(text);
    if (!found) throw new Error(`no CSV at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`);
    record.push(found[1]?.replaceAll('""', '"') ?? found[2]!);
    if (found[3] !== ',') {
      records.push(record);
      record = [];
    }
  }
  if (record.length > 0) throw new Error('the last record has no end');
  return records;
}

/** The same as objects by the names of the first record. */
export function readCsvRows(text: string): Record<string, string>[] {
  const [names, ...records] = readCsv(text);
  return records.map((record) => {
    if (record.length !== names!.length) throw new Error(`${record.length} cells, not ${names!.length}`);
    return Object.fromEntries(names!.map((name, i) => [name, record[i]!]));
  });
}
