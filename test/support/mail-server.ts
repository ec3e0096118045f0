// A real SMTP server on loopback that takes letters, refuses them, stalls, or drops the connection, as a test says.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Harness } from './harness.ts';
import { eventually } from './waiting.ts';

export interface Taken {
  /** Of the envelope. */
  from: string;
  to: string[];
  raw: string;
  letter: ParsedMail;
  /** Milliseconds since 1970, by this machine. */
  at: number;
}

/** A letter as the store has it. */
export interface StoredLetter {
  id: string;
  kind: string;
  /** What it tells of: a payment, most often. */
  about: string;
  status: string;
  /** When it is tried next, in milliseconds since 1970; null when it is done with. */
  due_at: number | null;
  attempts: number;
  /** What the server said last, or why it did not leave. */
  answer: string | null;
}

/** All letters, the newest first. */
export async function lettersOf({ service }: Pick<Harness, 'service'>): Promise<StoredLetter[]> {
  const columns = 'id, kind, about, status, due_at, attempts, answer';
  const sql = `select ${columns} from letters order by id desc`;
  return service.database.query<Record<keyof StoredLetter, never>>(sql);
}

/** What the server does with a letter: takes it, or answers so at a step. */
export type Behaviour =
  | 'take'
  | 'drop'
  | 'stall'
  | { silentMs: number }
  | { silentUntil: Promise<void> }
  | { code: number; at: 'greeting' | 'sender' | 'recipient' | 'text'; words?: string };

export interface MailServer {
  port: number;
  /** In the order in which they came. */
  taken: Taken[];
  /** Connections that came. */
  connections: number;
  /** How many are open. */
  open(): number;
  behave(behaviour: Behaviour): void;
  /** The next letters, once so many came. */
  next(count?: number): Promise<Taken[]>;
  /** Lines of a configuration that sends letters here. */
  configuration: string;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts it. `auth`: who must sign in, as `user:password`. */
export async function startMailServer({ auth }: { auth?: string | undefined } = {}): Promise<MailServer> {
  let behaviour: Behaviour = 'take';
  const taken: Taken[] = [];
  let seen = 0;
  const refused = (at: string) => {
    if (typeof behaviour === 'string' || !('at' in behaviour) || behaviour.at !== at) return null;
    return Object.assign(new Error(behaviour.words ?? `no ${at} today`), { responseCode: behaviour.code });
  };
  const server = new SMTPServer({
    disabledCommands: auth ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    authOptional: !auth,
    allowInsecureAuth: true,
    hideSize: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      if (`${username}:${password}` === auth) done(null, { user: username });
      else done(Object.assign(new Error('wrong name or password'), { responseCode: 535 }));
    },
    onConnect(_session, done) {
      mail.connections += 1;
      done(refused('greeting'));
    },
    onMailFrom: (_address, _session, done) => done(refused('sender')),
    onRcptTo: (_address, _session, done) => done(refused('recipient')),
    onData(stream: SMTPServerDataStream, session: SMTPServerSession, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', async () => {
        if (behaviour === 'stall') return;
        if (behaviour === 'drop') {
          for (const one of connections) one._socket.destroy();
          return;
        }
        const error = refused('text');
        if (error) return done(error);
        if (typeof behaviour === 'object' && 'silentMs' in behaviour) await setTimeout(behaviour.silentMs);
        if (typeof behaviour === 'object' && 'silentUntil' in behaviour) await behaviour.silentUntil;
        const raw = Buffer.concat(chunks).toString('latin1');
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        taken.push({
          from,
          to: rcptTo.map(({ address }) => address),
          raw,
          at: Date.now(),
          letter: await simpleParser(Buffer.concat(chunks)),
        });
        done(null, 'taken, thank you');
      });
    },
  });
  const { connections } = server as unknown as { connections: Set<{ _socket: { destroy(): void } }> };
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const mail: MailServer = {
    port,
    taken,
    connections: 0,
    open: () => connections.size,
    behave: (one) => {
      behaviour = one;
    },
    async next(count = 1) {
      await eventually(() => taken.length >= seen + count);
      seen += count;
      return taken.slice(seen - count, seen);
    },
    configuration: `mail:\n  host: 127.0.0.1\n  port: ${port}\n  tls: none\n  from: pay@shop.example\n`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
    [Symbol.asyncDispose]: () => mail.close(),
  };
  return mail;
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: '\u00a0',
};
/** Words alone: the text part has marks of its own for quotes, terms and lines of an address. */
const wordsIn = (text: string) => text.split(/[\s:,>]+/u).filter(Boolean);

/** Fails unless both parts of a letter have the same words in the same order. */
export function assertSameWords({ html, text, subject }: ParsedMail): void {
  const body = /<body.*<\/body>/s.exec(html as string)![0];
  const said = body
    .replace(/<[^>]+>/g, (tag) => (/^<\/?(bdi|time|span|a)\b/.test(tag) ? '' : ' '))
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name]!);
  assert.deepEqual(wordsIn(said), wordsIn(text!), `both parts of “${subject}”`);
}
