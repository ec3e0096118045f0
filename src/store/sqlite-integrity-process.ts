// A process that proves one SQLite file by `integrity_check` and prints what is wrong as a JSON array; sqlite.ts starts it.
import { DatabaseSync } from 'node:sqlite';

const FAULTS_MAXIMUM = 10;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

function faultsOf(file: string): string[] {
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    database.exec('pragma trusted_schema = off; pragma cell_size_check = on');
    const rows = database.prepare(`pragma integrity_check(${FAULTS_MAXIMUM})`).all();
    const faults = rows
      .flatMap((row) => Object.values(row))
      .map((fault) => String(fault).replaceAll('\n', ' '));
    if (faults.length === 1 && faults[0] === 'ok') return [];
    const isNamed = (fault: string) => / index /.test(fault);
    return [...faults.filter(isNamed), ...faults.filter((fault) => !isNamed(fault))]; // what says most comes first
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string };
    if (((errcode ?? 0) & 0xff) === CORRUPT || errcode === NOT_A_DATABASE) return [message];
    throw error;
  }
}

console.log(JSON.stringify(faultsOf(process.argv[2]!)));
