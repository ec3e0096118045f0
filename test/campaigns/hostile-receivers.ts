// Receivers of webhooks that hold what they can of a sender, in a process of their own: run by test/campaigns/noisy.test.ts.
import { createServer, type Socket } from 'node:net';

const EACH_MS = 5;
const PIECE = Buffer.alloc(16 * 1024, 'x');

/** What is done to a sender, by the first word of the path that it asks for. */
const DEEDS: Readonly<Record<string, (socket: Socket) => void>> = {
  /** Interim answers without end, as fast as they are taken. */
  interim: (socket) => pour(socket, Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(600))),
  hints: (socket) => pour(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(300))),
  /** A body without end, as fast as it is taken. */
  body(socket) {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n');
    pour(socket, PIECE);
  },
  /** A head without end, a byte at a time. */
  drip(socket) {
    socket.write('HTTP/1.1 200 OK\r\nx: ');
    const timer = setInterval(() => socket.write('y'), EACH_MS);
    socket.on('close', () => clearInterval(timer));
  },
  silent() {},
};

function pour(socket: Socket, piece: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', (head) => DEEDS[/^POST \/(\w+)/.exec(String(head))?.[1] ?? 'silent']?.(socket));
}).listen(0, '127.0.0.1', function (this: { address(): unknown }) {
  console.log((this.address() as { port: number }).port);
});
