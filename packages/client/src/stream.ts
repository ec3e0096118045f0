// Server-sent events (WHATWG HTML, section 9.2), as far as GET /v1/events/stream writes them.

/** The service writes something every 15 seconds: after twice as long the connection is dead. */
const SILENCE_MS = 30_000;

/** A block of a stream: its data, and the id behind which the stream goes on. */
interface Block {
  id: string;
  data: string;
}

/** Reads the blocks of a stream that have data. It ends with the body, and when `dead` was called after 30 seconds of silence. */
export async function* blocksOf(body: ReadableStream<Uint8Array>, dead: () => void): AsyncGenerator<Block> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
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
      if (fields.data !== undefined) yield { id: fields.id ?? '', data: fields.data };
    }
  }
}
