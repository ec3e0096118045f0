// A production installation in a folder of its own that may be started, for tests that make it unsafe in one way.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyDigest } from '../../src/merchants/merchant.ts';
import { LIVE_KEY } from './harness.ts';
import { ON_DISK } from './stores.ts';

/** A safe configuration; nothing listens at its address. Tests may run as root, which production allows only when told. */
export const SAFE = `environment: production
base_url: https://127.0.0.1:1
trust_proxy: [127.0.0.1]
allow_root: true
merchants:
  - id: mer_shop
    name: Corner Shop
    keys:
      - key_sha256: ${keyDigest(LIVE_KEY)}
        mode: live
`;

export interface Installation {
  folder: string;
  config: string;
  storage: string;
  /** Writes the configuration anew, with its mode. */
  write(text: string, mode?: number): void;
  remove(): void;
}

/** A folder with a safe configuration in it; storage is made by whoever opens it first. */
export function installation(text = SAFE): Installation {
  const folder = mkdtempSync(join(ON_DISK, 'counterfoil-production-'));
  const made: Installation = {
    folder,
    config: join(folder, 'counterfoil.yaml'),
    storage: join(folder, 'storage'),
    write(written, mode = 0o600) {
      rmSync(made.config, { force: true });
      writeFileSync(made.config, written, { mode });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  made.write(text);
  return made;
}
