// PNG files (ISO/IEC 15948) of rows of pixels that are written already.
import { crc32, deflateSync, type ZlibOptions } from 'node:zlib';

interface PngPixels {
  width: number;
  height: number;
  /** Bits of a sample, and the colour type: 0 is grey, 3 a place in `palette`. */
  depth: number;
  type: number;
  /** Each row opens with a 0, which says that it is not filtered. */
  rows: Uint8Array;
  /** Red, green and blue of each colour, a byte each. */
  palette?: Uint8Array;
}

export function pngFile(
  { width, height, depth, type, rows, palette }: PngPixels,
  packing?: ZlibOptions,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, type], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...(palette ? [chunk('PLTE', palette)] : []),
    chunk('IDAT', deflateSync(rows, packing)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
