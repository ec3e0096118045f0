// A bookkeeper who works by the pages of the console, customers who read theirs, and a merchant who asks the API.
import assert from 'node:assert/strict';
import type { Imported } from '../../src/statements/import.ts';
import { addPerson, type Person, post } from './admin.ts';
import { Bank } from './bank.ts';
import { camt, type Entry } from './camt.ts';
import { type Account, type Client, type ConsolePage, signIn, signInAs } from './console.ts';
import { FROM_OUR_PAGE, open, send } from './customer.ts';
import type { Answer, Harness } from './harness.ts';

export class Bookkeeper {
  readonly harness: Harness;
  readonly client: Client & { account: Account };
  readonly ana: Person;
  readonly #bank: Bank;
  #files = 0;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely and say what they expect there
  #lines = new Map<string, any>();

  static async at(harness: Harness): Promise<Bookkeeper> {
    return new Bookkeeper(harness, await signIn(harness), await addPerson(harness, 'administrator', 'Ben'));
  }

  private constructor(harness: Harness, client: Client & { account: Account }, ana: Person) {
    this.harness = harness;
    this.#bank = new Bank(harness);
    this.client = client;
    this.ana = ana;
  }

  /** Imports a statement with these entries. */
  bring(entries: readonly Entry[], options: Parameters<typeof camt>[1] = {}) {
    return this.file(camt(entries, { number: String(++this.#files), ...options }));
  }

  /** Imports a file and remembers its lines by the bank's reference; undefined where its faults keep it out. */
  async file(bytes: Uint8Array): Promise<Imported[] | undefined> {
    const imported = await this.#bank.take(bytes);
    for (const { id } of imported ?? [])
      for (const line of id === null ? [] : await this.lines(`statement_id=${id}`))
        this.#lines.set(line.references.booking ?? line.references.bank ?? line.text, line);
    return imported;
  }

  /** The lines as a program reads them, with their proposals. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async lines(query = ''): Promise<any[]> {
    const all = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path = `/admin/statement_lines?limit=100&${query}${cursor && `&cursor=${cursor}`}`;
      const { json } = await this.harness.request(path, { key: this.ana.token });
      all.push(...json.data);
      cursor = json.next_cursor;
    }
    return all;
  }

  /** A line by the bank's reference, as it was right after its import. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  line(bank: string): any {
    const line = this.#lines.get(bank);
    assert.ok(line, `no line ${bank}`);
    return line;
  }

  /** A page of the console. Whoever was away for a day signs in again. */
  async get(path: string): Promise<ConsolePage> {
    const page = await this.client.get(path);
    if (page.h1 !== 'Sign in') return page;
    await signInAs(this.harness, this.client.account, this.client);
    return this.client.get(path);
  }

  /** The page of a line. */
  page(bank: string): Promise<ConsolePage> {
    return this.get(`/statements/lines/${this.line(bank).id}`);
  }

  /** Presses a button on the page of a line, with what is typed. */
  async press(
    bank: string,
    button: string | RegExp,
    typed: Record<string, string> = {},
  ): Promise<ConsolePage> {
    return this.client.send(await this.page(bank), typed, button);
  }

  /** A payment as /admin shows it. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async payment(id: string): Promise<any> {
    return (await this.harness.request(`/admin/payments/${id}`, { key: this.ana.token })).json.data;
  }

  act(id: string, act: 'approve' | 'reject' | 'record', body: object = {}): Promise<Answer> {
    return post(this.harness, this.ana, `/admin/payments/${id}/${act}`, body);
  }

  /** The customer's page. */
  reads(id: string): Promise<ConsolePage> {
    return open(this.harness, id);
  }

  /** The customer presses “I have sent the transfer”. */
  async announce(id: string, typed: Record<string, string> = { 'payer-email': 'ada@example.org' }) {
    return send(await this.reads(id), typed, { headers: FROM_OUR_PAGE });
  }
}

/** The transfer reference as the customer's page shows it. */
export function referenceOn({ text }: Pick<ConsolePage, 'text'>): string {
  const [found] = /RF\d\d[0-9A-Z]{15}\b/.exec(text) ?? [];
  assert.ok(found, 'the page shows a transfer reference');
  return found;
}
