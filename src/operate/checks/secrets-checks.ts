// Checks of the keys for secrets: this node has all that the store counts, no other account can read them, and all secrets are sealed.
import { statSync } from 'node:fs';
import { keyPlaceName, SecretKeysUnfit } from '../../journal/keys/key-file.ts';
import { lackOf, MISSING_KEY_FIX, missingKeys } from '../../journal/keys/open-ring.ts';
import { storedSecretKeys } from '../../journal/keys/queries.ts';
import { counted } from '../../lib/counted.ts';
import { type Check, failed, intoTables, ok, skipped, type Verdict, warning } from './check.ts';
import { sealedSecrets } from './sealed-secrets.ts';

const secrets_keys: Check = {
  id: 'secrets_keys',
  about: 'Keys for secrets',
  stage: 'later',
  look: intoTables(async (database, { settings }): Promise<Verdict> => {
    const stored = await storedSecretKeys(database);
    if (stored.length === 0) return skipped('The first start makes the key for secrets');
    const place = keyPlaceName(settings);
    try {
      const [missing] = missingKeys(stored, settings);
      if (missing) return failed(lackOf(missing, settings), MISSING_KEY_FIX);
    } catch (error) {
      if (!(error instanceof SecretKeysUnfit)) throw error;
      const [, what, fix] = /^(.*?: [^:]*): (.*)$/s.exec(error.message) ?? [];
      return failed(what ?? error.message, fix ?? MISSING_KEY_FIX);
    }
    if (settings.secrets_keys === null && (statSync(place).mode & 0o077) !== 0)
      return failed(
        `Others may read ${place}`,
        `chmod 600 ${place}, and replace the keys: counterfoil secrets rotate`,
      );
    const plain = (await sealedSecrets(database)).filter(({ key }) => key === null).length;
    if (plain > 0)
      return warning(
        `${counted(plain, 'secret')} in the store not sealed`,
        'restart a server, which seals them',
      );
    return ok('This node has every key for secrets that the store counts');
  }),
};

export const SECRETS_CHECKS: readonly Check[] = [secrets_keys];
