// Measures `counterfoil audit verify` of a store with many payments, one entry each: `node bench/audit-verify.ts 1000000`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seed } from './seed.ts';

/** Of Linux, for each second. */
const TICKS = 100;
/** Fields of /proc/self/stat behind the name: what the children that ended took, as user and as system. */
const CHILDREN = [13, 14];

/**
 * Runs `counterfoil audit verify` on the store in `storage`. Returns the seconds that passed, and the seconds of processor time that it and the
 * process which proves the indexes took: those hardly change when the machine is busy. NaN where there is no /proc.
 */
export function auditVerify(storage: string): { seconds: number; processorS: number } {
  const processorBefore = childrensS();
  const begun = performance.now();
  const { status, stdout } = spawnSync(process.execPath, ['bin/counterfoil.js', 'audit', 'verify'], {
    env: {
      ...process.env,
      COUNTERFOIL_CONFIG: 'counterfoil.yaml',
      COUNTERFOIL_STORAGE: storage,
      DATABASE_URL: '',
    },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stdout);
  return { seconds: (performance.now() - begun) / 1000, processorS: childrensS() - processorBefore };
}

function childrensS(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
    return CHILDREN.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS;
  } catch {
    return Number.NaN;
  }
}

if (import.meta.main) {
  const storage = mkdtempSync(join(tmpdir(), 'counterfoil-audit-verify-'));
  try {
    const count = Number(process.argv[2] ?? 100_000);
    await seed(storage, count);
    for (let run = 1; run <= 2; run++) {
      const { seconds, processorS } = auditVerify(storage);
      console.log(
        `${count.toLocaleString('en')} entries: ${seconds.toFixed(1)} s, ${processorS.toFixed(1)} s of processor time`,
      );
    }
  } finally {
    rmSync(storage, { recursive: true, force: true });
  }
  process.exit(); // a library's exit hook would keep it
}
