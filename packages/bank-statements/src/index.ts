// Reads files of bank statements: CAMT, MT940, MT942, OFX, CSV, and ZIP archives of them. Bytes in; statements, lines and faults out.
export { signedAmount } from './balance.ts';
export type { CsvSeen, ReadOptions } from './csv.ts';
export {
  CSV_CHOICES,
  CSV_ROLES,
  CSV_STATUSES,
  type CsvChoice,
  type CsvColumns,
  type CsvLayout,
  type CsvRole,
  type CsvStatus,
  type DateOrder,
  type DecimalWord,
  mergedLayout,
  type PartialLayout,
  parseChoices,
  type RememberedLayout,
} from './csv-layout.ts';
export { ownOf } from './csv-line.ts';
export {
  csvAmount,
  csvAmountOfAny,
  csvDay,
  dayOrdersOf,
  decimalsOf,
  markOf,
  thousandsMark,
} from './csv-values.ts';
export { type ByteSource, bytesInMemory } from './decoding.ts';
export { ENCODINGS, type Encoding } from './encodings.ts';
export { LineNumbering, type LineRead, numbered } from './fingerprint.ts';
export { type Overview, OverviewSums, overviewOf } from './overview.ts';
export {
  FILE_BYTES_MAXIMUM,
  type ReadInStream,
  type ReadStatements,
  readInStream,
  readStatements,
} from './read.ts';
export type {
  Balance,
  Counterparty,
  LineReferences,
  Statement,
  StatementAccount,
  StatementFault,
  StatementFormat,
  StatementLine,
  TakeLine,
} from './statement.ts';
export { currencyCode, hasThousandths, ibanOf, present } from './values.ts';
