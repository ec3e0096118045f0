// The text of a production configuration that `counterfoil init` writes: what was answered, with a comment on each setting.
import { stringify } from 'yaml';

/** What was answered. What may be left out is null. */
export interface Answers {
  base_url: string;
  /** Addresses of the proxies that speak https; or null, with a certificate of its own. */
  proxies: readonly string[] | null;
  certificate: { certificate: string; key: string } | null;
  /** PostgreSQL; null for SQLite in storage. */
  database_url: string | null;
  storage: string;
  registration: 'open' | 'invite' | 'closed';
  /** The first merchant, with the SHA-256 of its key. */
  merchant: { id: string; name: string; key_sha256: string } | null;
  /** Where the merchant's customers get help. */
  support: string | null;
  account: { iban: string; holder: string; currency: string } | null;
  allow_root: boolean;
}

/** A value as YAML writes it in one line, quoted where it must be. */
const value = (one: string) => stringify(one, { lineWidth: 0, defaultStringType: 'PLAIN' }).trim();

/** The text of the file. */
export function configurationText(answers: Answers): string {
  const parts = [
    `# Counterfoil's configuration. Every setting: docs/configuration.md. Whether all is well: counterfoil doctor.
environment: production`,
    `# Where merchants reach the API, customers checkout, and reviewers the console.
base_url: ${value(answers.base_url)}`,
    httpsText(answers),
    storeText(answers),
    `# Who may register as a merchant at /register: everyone (open), those with an invitation (invite), or no one (closed).
registration:
  mode: ${answers.registration}`,
    methodsText(answers),
    merchantsText(answers),
    ...(answers.allow_root
      ? [
          '# It needs root for nothing: an account of its own is better wherever there can be one.\nallow_root: true',
        ]
      : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function httpsText({ base_url, proxies, certificate }: Answers): string {
  if (certificate === null)
    return `# The proxies in front, which speak https: they alone are believed when they say who calls.
trust_proxy: [${(proxies ?? []).map((one) => JSON.stringify(one)).join(', ')}]`;
  // A value that is no address is reported by its own check.
  const port = URL.canParse(base_url) ? new URL(base_url).port : '';
  return `# The certificate and key to speak https with, PEM. Read again on SIGHUP.
tls:
  certificate: ${value(certificate.certificate)}
  key: ${value(certificate.key)}

# Listens on every address of this machine. Ports below 1024 need a permission: docs/operating/install.md.
host: 0.0.0.0
port: ${port || 443}`;
}

function storeText({ storage, database_url }: Answers): string {
  const folder = `# Private: ${database_url === null ? 'the database, and ' : ''}the key that signs the history. No web server may hand it out.
storage: ${value(storage)}`;
  if (database_url === null) return folder;
  return `${folder}

# The database. DATABASE_URL in the environment goes over it, where its password shall not stand here.
database_url: ${value(database_url)}`;
}

function methodsText({ account }: Answers): string {
  const head =
    '# How customers can pay, in this order. Other ways: docs/configuration.md, "methods".\nmethods:\n';
  if (account === null)
    return `${head}  # Contact details alone: you arrange the rest with each customer.\n  - type: details`;
  return `${head}  - type: bank_transfer
    accounts:
      - currency: ${value(account.currency)}
        holder: ${value(account.holder)}
        iban: ${value(account.iban)}`;
}

function merchantsText({ merchant, support }: Answers): string {
  if (merchant === null)
    return `# Who may create payments. The first: counterfoil keys create --merchant "Corner Shop" --live
merchants: []`;
  return `# Who may create payments. Further keys: counterfoil keys create --merchant ${merchant.id} --live
merchants:
  - id: ${merchant.id}
    name: ${value(merchant.name)}${support === null ? '' : `\n    support: ${value(support)}`}
    keys:
      - key_sha256: ${value(merchant.key_sha256)}
        mode: live`;
}
