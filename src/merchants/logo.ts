// A merchant's logo: a small picture, kept as a data URI (RFC 2397) with what else the merchant says of itself.

/** Letters carry it, and every node has those of all merchants in memory. */
const BYTES_MAXIMUM = 16 * 1024;
/** What all mail programs show, by how a file begins. */
const TYPES = { 'image/png': '89504e470d0a1a0a', 'image/jpeg': 'ffd8ff' } as const;

export interface Picture {
  type: keyof typeof TYPES;
  bytes: Buffer;
}

/** The logo in a file as a data URI. Throws an error whose message says what is wrong with it. */
export function logoFrom(bytes: Buffer): string {
  const start = bytes.subarray(0, 8).toString('hex');
  const type = Object.entries(TYPES).find(([, signature]) => start.startsWith(signature))?.[0];
  if (type === undefined) throw new Error('must be a PNG or JPEG picture');
  if (bytes.length > BYTES_MAXIMUM) throw new Error(`must have at most 16 KB, and has ${bytes.length} bytes`);
  return `data:${type};base64,${bytes.toString('base64')}`;
}

/** The picture in what `logoFrom` returned. */
export function pictureOf(logo: string): Picture {
  const [head, data] = logo.split(',') as [string, string];
  return {
    type: head.slice('data:'.length, head.indexOf(';')) as Picture['type'],
    bytes: Buffer.from(data, 'base64'),
  };
}
