// Server-sent events (WHATWG HTML, section 9.2), as far as GET /v1/events/stream writes them.

/** The service writes something every 15 seconds: after twice as long the connection is dead. */
const SILENCE_MS = 30_000;

/** A block of a stream: its data, undefined where it has none, and the id behind which the stream goes on, also of an earlier block. */
interface Block {
  id: string | undefined;
  data: string | undefined;
}

/** Reads the blocks of a stream. It ends with the body, and when `dead` was called after 30 seconds of silence. */
export async function* blocksOf(body: ReadableStream<Uint8Array>, dead: () => void): AsyncGenerator<Block> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let id: string | undefined;
  for (;;) {
    const silent = setTimeout(dead, SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silent));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split(/\r?\n\r?\n/);
    text = blocks.pop()!; // not whole yet
    for (const block of blocks) {
      const fields = Object.fromEntries(
        [...block.matchAll(/^(id|data): ?(.*)$/gm)].map(([, name, value]) => [name, value]),
      );
      id = fields.id ?? id;
      yield { id, data: fields.data };
    }
  }
}
