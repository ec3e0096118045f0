// The faults that are injected: all of them, and what one is.

import { MACHINE_FAULTS } from './told-faults-of-machine.ts';
import { STORE_FAULTS } from './told-faults-of-store.ts';
import type { Site } from './told-site.ts';
import type { Told } from './told-watch.ts';

export interface Fault {
  what: string;
  /** Why it cannot be injected here. */
  skip?: string | false | undefined;
  site(): Promise<Site>;
  inject(site: Site): Promise<unknown>;
  told: Told;
}

export const FAULTS: readonly Fault[] = [...STORE_FAULTS, ...MACHINE_FAULTS];
