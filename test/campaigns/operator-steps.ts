// What an operator types, in the order of a life of an installation: each block and line of docs/operating, with what must be there before it.

/** Runs a block of the documents (`FILE HEADING NUMBER`), or lines out of their text. */
export interface Step {
  block?: string;
  lines?: readonly string[];
  /** A script that makes what the document takes for granted. Its variables go on into the lines. */
  arrange?: string;
  /** Ids and names of the documents, by what stands for them here. */
  replace?: Readonly<Record<string, string>>;
  /** What the terminal asks, and what is typed. */
  typed?: readonly (readonly [RegExp, string])[];
  /** Lines that end with another code than 0: there is nothing to do, or the machine lacks what they look at. */
  exits?: Readonly<Record<string, number>>;
  says?: RegExp;
  fromCron?: boolean;
}

/** What is not run here, and why. */
export const LEFT: readonly { lines: RegExp; why: string }[] = [
  { lines: /^(npm|npx|apt-get|dnf) /, why: 'asks a registry; test/campaigns/installation.test.ts installs' },
  {
    lines: /\bdocker |^digest\(\)|_IMAGE=/,
    why: 'no Docker daemon; test/campaigns/containers.test.ts runs the image, test/containers.test.ts reads compose.yaml',
  },
  { lines: /^certbot /, why: 'asks a certificate authority' },
  { lines: /^systemctl edit /, why: 'an editor' },
  {
    lines: /^curl .*https:\/\/pay\.example|-connect pay\.example/,
    why: 'no proxy stands in front; test/campaigns/nginx.test.ts and caddy.test.ts run them',
  },
  {
    lines: /(counterfoil|counterfoil |show pay_)…$|\b(ID|FOLDER|EMAIL|FILE|HOST)\b/,
    why: 'stands for many lines',
  },
  {
    lines: /^(sudo --user postgres psql|psql)( counterfoil| "\$DATABASE_URL"| --expanded)?$/,
    why: 'asks for SQL',
  },
  { lines: /^pg_basebackup --write-recovery-conf$/, why: 'test/campaigns/failover.test.ts makes standbys' },
  {
    lines: /^(install -d -m 0700 -o 10001|openssl rand|sed "s.PASSWORD|echo COUNTERFOIL_HOST)/,
    why: 'for containers',
  },
];

/** sudo keeps nothing of the caller's environment; mail keeps what it was given. */
export const PROGRAMS = {
  sudo: `#!/bin/sh
account=root
case "$1" in -u | --user) account="$2"; shift 2 ;; esac
exec runuser -u "$account" -- env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
`,
  mail: '#!/bin/sh\n{ echo "$@"; cat; } >> /var/log/mailed\n',
};

const READY =
  'curl --fail --silent --retry 30 --retry-delay 1 --retry-connrefused http://127.0.0.1:8080/health/ready';
const urlOf = (database: string) => `DATABASE_URL=postgres://counterfoil:word@127.0.0.1/${database}`;
const nameDatabase = (name: string) =>
  `sed -i 's,^\\(database_url:.*/\\).*,\\1${name},' /etc/counterfoil/counterfoil.yaml`;
/** No proxy answers at https://pay.example. */
const NO_PROXY = { 'counterfoil doctor': 1 };
/** systemctl's code of a unit that has ended. */
const EXITED = {
  'systemctl start counterfoil-backup; systemctl status counterfoil-backup': 3,
};
const PASSPHRASE = 'nine words that nobody else would put together';
const NEW_PASSPHRASE = [
  [/New passphrase: /, PASSPHRASE],
  [/The same again: /, PASSPHRASE],
] as const;
/** The newest backup, under the name that it has in the documents. */
const NAMED_BACKUP = `
cd /var/backups/counterfoil; rm -rf 2026-11-21T041700Z
counterfoil backup /var/backups/counterfoil
cp -a "$(ls -d 2*Z | tail -n 1)" 2026-11-21T041700Z; cd /`;
/** A key of the configuration file is taken out there; keys of the store are rotated by test/operate/commands/keys-store.test.ts. */
const IN_THE_FILE = /stands in line \d+ of /;
const KEY_ID = { key_4be2f08a51c7d936: '$key' };
const NEW_KEY = `counterfoil keys create --merchant "Corner Shop" --live > /tmp/key 2>&1; systemctl reload counterfoil
key=$(grep -o 'key_[0-9a-f]*' /tmp/key)`;
const PAYMENT = `until [ -n "$payment" ]; do payment=$(curl --silent http://127.0.0.1:8080/v1/payments \
  --header "Authorization: Bearer $(cat /root/key)" --header 'Content-Type: application/json' --data '{"amount":49.90}' \
  | grep -o 'pay_[0-9a-z]*' | head -n 1); done`;

export const STEPS: readonly Step[] = [
  // install.md
  { block: 'install.md With systemd 1' },
  { block: 'install.md First steps 1', replace: { '"Corner Shop"': '"Corner Shop" > /root/key' } },
  {
    block: 'install.md With systemd 2',
    arrange:
      'printf "backups: /var/backups/counterfoil\\ntime_zone: Europe/Zurich\\nsecurity:\\n  contact: security@shop.example\\n" >> /etc/counterfoil/counterfoil.yaml',
  },
  { block: 'install.md First steps 2' },
  { block: 'install.md First steps 3' },
  {
    block: 'install.md First steps 4',
    typed: NEW_PASSPHRASE,
  },
  {
    lines: ['sudo NODE_EXTRA_CA_CERTS=/etc/ssl/our-authority.pem counterfoil doctor'],
    exits: { 'sudo NODE_EXTRA_CA_CERTS=/etc/ssl/our-authority.pem counterfoil doctor': 1 },
    says: /our-authority\.pem/,
  },
  // backup-and-move.md
  { block: 'backup-and-move.md Back up and restore 1' },
  {
    lines: ['/usr/local/bin/counterfoil backup /var/backups/counterfoil --keep 30 >/dev/null'],
    fromCron: true,
  },
  { block: 'backup-and-move.md Back up and restore 2' },
  {
    lines: [
      'systemctl start counterfoil-backup; systemctl status counterfoil-backup',
      'journalctl --unit counterfoil-backup --lines 20',
    ],
    exits: EXITED,
    says: /Backed up \d+ entries/,
  },
  { block: 'backup-and-move.md Back up and restore 3', arrange: NAMED_BACKUP, exits: NO_PROXY },
  { block: 'backup-and-move.md Back up and restore 4' },
  { block: 'backup-and-move.md The keys 1', arrange: 'rm -r /mnt/kept', typed: NEW_PASSPHRASE },
  { block: 'backup-and-move.md The keys 2', typed: [[/Passphrase: /, PASSPHRASE]] },
  // runbook.md
  {
    block: 'runbook.md Observe 1',
    arrange: `${READY}
request=$(curl --silent --include --header "Authorization: Bearer $(cat /root/key)" http://127.0.0.1:8080/v1/payments | grep -o 'req_[0-9a-z]*' | head -n 1)
until journalctl --unit counterfoil --output cat | grep "$request"; do sleep 0.2; done`,
    replace: { req_7hm2k4q9x0w3v5b8: '$request' },
  },
  { block: 'runbook.md One node hangs 1', says: /"failing":\[\]/ },
  {
    lines: [
      'curl http://127.0.0.1:8080/health/ready',
      'df --human-readable /var/lib/counterfoil',
      'du --all --one-file-system --human-readable /var/lib/counterfoil | sort --human-numeric-sort | tail',
      'du --human-readable --max-depth=1 /var',
      'journalctl --vacuum-size=500M',
      'journalctl --unit counterfoil --lines 20',
      'journalctl --unit counterfoil --output cat',
      "systemctl list-units 'counterfoil*'",
      'counterfoil audit verify --json',
      'counterfoil administrators create --email ben@example.org --name "Ben Example" --role reviewer',
    ],
    replace: {
      'ben@example.org --name "Ben Example" --role': 'cleo@example.org --name "Cleo Example" --role',
    },
  },
  {
    block: 'runbook.md Statement files are not imported 2',
    arrange: `echo 'statements: {folder: /var/lib/counterfoil-statements}' >> /etc/counterfoil/counterfoil.yaml`,
  },
  {
    block: 'runbook.md Statement files are not imported 1',
    arrange: `cd /var/lib/counterfoil-statements; echo hello > statement.txt
timeout 60 sh -c 'until ls failed/*-statement.txt.txt; do sleep 0.2; done' || exit 9`,
  },
  // Mail is off here; test/mail/ has servers.
  {
    lines: [
      'counterfoil mail test you@example.com',
      'counterfoil mail list --failed',
      'counterfoil mail resend --failed',
    ],
    exits: { 'counterfoil mail test you@example.com': 1 },
    says: /mail is off/,
  },
  {
    lines: ["ss -ltnp 'sport = :8080'", 'counterfoil serve; echo $?'],
    says: /^1$[\s\S]*port 8080 of 127\.0\.0\.1 is taken/m,
  },
  {
    block: 'runbook.md The database file is lost or broken 2',
    arrange: `mv /var/lib/counterfoil/counterfoil.sqlite /root/
until curl --silent http://127.0.0.1:8080/health/ready | grep store_writable; do sleep 0.2; done`,
    says: /Saved \d+ payments? in /,
  },
  {
    block: 'runbook.md The database file is lost or broken 1',
    arrange: 'rm -r /var/lib/counterfoil/rescued-*',
  },
  {
    block: 'runbook.md The certificate has expired 1',
    arrange: `${READY}\ncd /tmp; openssl req -x509 -newkey rsa:2048 -nodes -keyout privkey.pem -out fullchain.pem -subj /CN=pay.example 2>/dev/null`,
  },
  { block: 'runbook.md Somebody lost their second factor 1' },
  {
    block: 'runbook.md A key leaked 1',
    arrange: NEW_KEY,
    replace: KEY_ID,
    exits: { 'counterfoil keys rotate key_4be2f08a51c7d936 --overlap 0': 1 },
    says: IN_THE_FILE,
  },
  {
    lines: ['counterfoil keys revoke key_4be2f08a51c7d936 --yes'],
    arrange: NEW_KEY,
    replace: KEY_ID,
    exits: { 'counterfoil keys revoke key_4be2f08a51c7d936 --yes': 1 },
    says: IN_THE_FILE,
  },
  {
    block: 'runbook.md A key leaked 2',
    arrange: NEW_KEY,
    replace: KEY_ID,
    exits: { 'counterfoil keys revoke key_4be2f08a51c7d936 --with-those-it-made --yes': 1 },
    says: IN_THE_FILE,
  },
  { block: 'runbook.md A merchant must be stopped 1' },
  {
    lines: [
      'counterfoil payments show pay_01m836th5m7q88h0mfyx4mg5zke10paczdx2',
      "find / \\( -path /proc -o -path /sys \\) -prune -o -name '*.sqlite*' -size +50k -printf '%TF %TT %s %p\\n' 2>/dev/null | sort",
      'sudo install -m 600 -o counterfoil -g counterfoil /var/backups/counterfoil/2026-11-21T041700Z/counterfoil.sqlite /var/tmp/old.sqlite',
      'sudo -u counterfoil sqlite3 /var/lib/counterfoil/counterfoil.sqlite',
    ],
    arrange: PAYMENT,
    replace: { pay_01m836th5m7q88h0mfyx4mg5zke10paczdx2: '$payment' },
  },
  {
    block: 'runbook.md audit verify is red 3',
    arrange: `${PAYMENT}
sqlite3 /var/lib/counterfoil/counterfoil.sqlite "update payments set amount_minor = 1 where id = '$payment'"
counterfoil audit verify --json > /tmp/red && exit 9
counterfoil backup /var/backups/counterfoil --keep 30 && exit 9`,
    replace: { 'pay_…': '$payment' },
    says: /with 1 acknowledged fault/,
  },
  {
    lines: [
      'counterfoil backup /var/backups/counterfoil --unverified',
      'counterfoil audit verify --checkpoints /mnt/kept/checkpoints.jsonl',
    ],
    arrange: `${READY}\nsystemctl restart counterfoil\ncp /var/lib/counterfoil/checkpoints.jsonl /var/lib/counterfoil/checkpoint-key.pub.pem /mnt/kept/
counterfoil audit verify --checkpoints /mnt/kept/checkpoints.jsonl 2>&1 | grep 'may not read' || exit 9 # root's own files
chown counterfoil /mnt/kept/*`,
  },
  {
    block: 'runbook.md Restored to yesterday 1',
    exits: { 'counterfoil audit restored': 1 },
    says: /there is nothing to record/,
  },
  {
    block: 'runbook.md The clock was stepped 1',
    exits: { 'counterfoil accept-clock': 1 },
    says: /there is nothing to accept/,
  },
  // upgrade.md
  {
    block: 'upgrade.md Upgrade 1',
    arrange: `cd /opt/counterfoil
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.email GIT_CONFIG_VALUE_0=ana@example.org GIT_AUTHOR_NAME=Ana GIT_COMMITTER_NAME=Ana
git init --quiet; echo node_modules > .git/info/exclude; git add . && git commit --quiet --message Sources && git tag v0.2.0
git clone --quiet --bare . /root/counterfoil.git && git remote add origin /root/counterfoil.git && cd /`,
    exits: NO_PROXY,
  },
  { block: 'runbook.md Which version is this 1', says: /^v0\.2\.0/m },
  {
    block: 'upgrade.md Rotate 1',
    arrange: NEW_KEY,
    replace: KEY_ID,
    exits: { 'counterfoil keys rotate key_4be2f08a51c7d936 --overlap 7d': 1 },
    says: IN_THE_FILE,
  },
  {
    block: 'upgrade.md Rotate 2',
    replace: {
      '--name "Nightly export"': '--name "Nightly export" --json | tee /tmp/token',
      tok_01m7xy90z59x4m4bthzeq11xez7gvadtw35y: "$(grep -o 'tok_[0-9a-z]*' /tmp/token)",
    },
  },
  { lines: ['tail -n 1 checkpoints.jsonl'], arrange: 'cd /var/lib/counterfoil' },
  { block: 'upgrade.md Rotate 4', says: /copied checkpoints? signed with another key/ },
  {
    block: 'upgrade.md Rotate 5',
    arrange: `${READY}\nold=$(counterfoil secrets list | sed -n 's/^\\([0-9a-f]*\\) .* current .*/\\1/p')`,
    replace: { '0123456789abcdef': '$old' },
    typed: NEW_PASSPHRASE,
  },
  // PostgreSQL
  {
    block: 'backup-and-move.md Move up to PostgreSQL, and back 1',
    typed: [
      [/Enter password/, 'word'],
      [/Enter it again/, 'word'],
    ],
  },
  { block: 'backup-and-move.md Move up to PostgreSQL, and back 2' },
  {
    block: 'backup-and-move.md Move up to PostgreSQL, and back 3',
    arrange:
      'echo "database_url: postgres://counterfoil:word@127.0.0.1/counterfoil" >> /etc/counterfoil/counterfoil.yaml',
    says: /every one read back/,
  },
  { block: 'backup-and-move.md Move up to PostgreSQL, and back 4', exits: NO_PROXY },
  {
    block: 'backup-and-move.md Back up and restore 5',
    arrange: NAMED_BACKUP,
    replace: { 'read -rs DATABASE_URL': urlOf('counterfoil_rehearsal') },
  },
  { block: 'backup-and-move.md PostgreSQL 1' },
  {
    block: 'backup-and-move.md PostgreSQL 2',
    arrange: `systemctl stop counterfoil; ${nameDatabase('counterfoil_restored')}`,
    exits: NO_PROXY,
  },
  {
    block: 'backup-and-move.md PostgreSQL 3',
    replace: { '/usr/lib/postgresql/18/': '/usr/lib/postgresql/*/' },
  },
  {
    block: 'runbook.md audit verify is red 1',
    arrange: `cd /tmp; ${READY}; ${PAYMENT}; ${NAMED_BACKUP}; cd /tmp`,
    replace: { 'read -rs DATABASE_URL': urlOf('counterfoil_old'), 'pay_…': '$payment' },
  },
  {
    block: 'runbook.md audit verify is red 2',
    arrange: `cd /tmp; payment=$(cut -f 1 row.txt)`,
    replace: { 'read -rs DATABASE_URL': urlOf('counterfoil_restored'), 'pay_…': '$payment' },
    says: /DELETE 1\s+COPY 1/,
  },
  {
    block: 'upgrade.md Rotate 6',
    typed: [
      [/Enter new password/, 'word'],
      [/Enter it again/, 'word'],
    ],
  },
  // Two nodes
  {
    block: 'install.md Two nodes on one machine 1',
    arrange: 'printf "nodes: 2\\nmetrics: {}\\n" >> /etc/counterfoil/counterfoil.yaml',
  },
  { block: 'install.md Two nodes on one machine 2' },
  {
    lines: [
      'install -m 0600 -o counterfoil -g counterfoil /var/lib/counterfoil/secrets.key /etc/counterfoil/',
    ],
    arrange: `echo "secrets_key_file: /etc/counterfoil/secrets.key" >> /etc/counterfoil/counterfoil.yaml
mkdir -p /etc/systemd/system/counterfoil-b.service.d
sed -n '/^### Two nodes/,/^### nginx/{/^\`\`\`ini/,/^\`\`\`/{/^\`/!p}}' /opt/counterfoil/docs/operating/install.md > /etc/systemd/system/counterfoil-b.service.d/override.conf`,
  },
  { block: 'install.md Two nodes on one machine 3', says: /"failing":\[\]/ },
  {
    lines: [
      'curl http://127.0.0.1:8080/health/ready',
      'curl http://127.0.0.1:9464/metrics | grep counterfoil_',
    ],
    arrange: `curl --fail --silent http://127.0.0.1:9465/metrics | grep --quiet counterfoil_ || exit 9`,
  },
  {
    block: 'backup-and-move.md Move up to PostgreSQL, and back 5',
    arrange: `systemctl stop counterfoil-b; sed -i '/^nodes:/d; /^secrets_key_file:/d' /etc/counterfoil/counterfoil.yaml
install -m 0600 -o counterfoil -g counterfoil /dev/null /var/lib/counterfoil/counterfoil.sqlite`,
    says: /every one read back/,
  },
  {
    block: 'install.md Without a proxy 1',
    arrange: `section() { sed -n '/^### Without a proxy/,/^## /{/^\`\`\`'$1'/,/^\`\`\`/{/^\`/!p}}' /opt/counterfoil/docs/operating/install.md; }
cd /etc/counterfoil; install -d -m 0700 -o counterfoil -g counterfoil tls
sed -i '/^base_url:/d; /^trust_proxy:/d' counterfoil.yaml; section yaml >> counterfoil.yaml
openssl req -x509 -newkey rsa:2048 -nodes -keyout /tmp/privkey.pem -out /tmp/fullchain.pem -subj /CN=pay.example -days 90 2>/dev/null
install -m 0600 -o counterfoil -g counterfoil -t tls /tmp/fullchain.pem /tmp/privkey.pem
mkdir -p /etc/systemd/system/counterfoil.service.d; section ini > /etc/systemd/system/counterfoil.service.d/override.conf
systemctl daemon-reload`,
    says: /"failing":\[\]/,
  },
];
