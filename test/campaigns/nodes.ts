// One store served by one or two nodes of the real service, on one clock that tests move.
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/lib/log.ts';
import { readConfiguration } from '../../src/operate/config.ts';
import type { Service } from '../../src/operate/main.ts';
import {
  type Harness,
  PATIENT,
  secretsOf,
  startHarness,
  startPatiently,
  writeConfiguration,
} from '../support/harness.ts';
import type { Engine } from '../support/stores.ts';

export interface Nodes {
  harness: Harness;
  services: Service[];
  /** Where each node listens. */
  origins: string[];
  close(): Promise<void>;
}

/**
 * Starts one node on SQLite, two on PostgreSQL, where they share the database and nothing else. `configuration`: further lines
 * of the configuration file.
 */
export async function startNodes(engine: Engine, configuration = ''): Promise<Nodes> {
  const harness = await startHarness(engine, { configuration });
  const services = [harness.service];
  const origins = [harness.origin];
  const storage = mkdtempSync(join(tmpdir(), 'counterfoil-second-'));
  if (engine === 'postgres') {
    const file = writeConfiguration({ ...harness.store, storage }, 'development', configuration);
    const environment = {
      PORT: '0',
      COUNTERFOIL_STORAGE: storage,
      DATABASE_URL: harness.store.database_url!,
      ...secretsOf(harness.store),
    };
    const second = await startPatiently(readConfiguration(file, environment), {
      pace: PATIENT,
      log: createLogger('info', { write: (line: string) => void harness.logged.push(line) }),
      clock: harness.clock,
      onBroken: (error) => {
        throw error;
      },
    });
    services.push(second);
    origins.push(`http://127.0.0.1:${(second.app.server.address() as AddressInfo).port}`);
  }
  return {
    harness,
    services,
    origins,
    async close() {
      await services[1]?.stop();
      rmSync(storage, { recursive: true, force: true });
      await harness.close();
    },
  };
}
