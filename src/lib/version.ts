// Which version of Counterfoil this is.
import packageJson from '../../package.json' with { type: 'json' };

/** As `package.json` has it: `0.2.0`. */
export const VERSION = packageJson.version;
