// The faults that are injected: what one is, and all of them, in groups that do not know of one another.

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

export const FAULTS: Record<string, readonly Fault[]> = { store: STORE_FAULTS, machine: MACHINE_FAULTS };
