// What a merchant says of itself for receipts and letters: its legal name, address, logo, and the letters it wants.

import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { givenText, setting, wholeNumber, without } from '../lib/setting.ts';
import { languageTag, textFault } from '../lib/text.ts';

const text = (maximum: number, multiline = false) =>
  z
    .string()
    .trim()
    .min(1)
    .superRefine(without((value) => textFault(value, maximum, multiline)));

/** Of one merchant. What is undefined is not known, or as for all. */
export const particularsShape = {
  legal_name: setting(
    text(200).optional(),
    'The name that receipts are issued under, such as `Corner Shop GmbH`.',
    '1 to 200 characters',
  ),
  address: setting(
    text(400, true).optional(),
    'The postal address on receipts; lines as they are to be printed.',
    '1 to 400 characters',
  ),
  tax_id: setting(text(40).optional(), 'The tax number on receipts.', '1 to 40 characters'),
  logo: setting(
    givenText.optional(),
    'File with its logo, for checkout, receipts and letters; relative to this file.',
    'a PNG or JPEG file of at most 16 KB',
  ),
  letters_off: setting(
    z.array(z.string()).max(20).optional(),
    'Letters that are not sent, to its customers or to itself ([which](mail.md)).',
    'names of letters',
  ),
  language: setting(
    z
      .string()
      .refine((text) => languageTag(text) !== undefined, 'must be a language tag')
      .optional(),
    'The language of letters to the merchant, such as `de`: one of the console, else English.',
    'a language tag (BCP 47)',
  ),
  remind_days: setting(
    wholeNumber(1, 30).optional(),
    'How many days before the day to pay by customers are reminded; never when left out.',
  ),
};
const particularsSchema = z.object(particularsShape);
/** `logo` is the picture itself here, as `logoFrom` returns it. */
export type Particulars = z.output<typeof particularsSchema> & {
  /** Whether the operator wrote the email address, rather than a registration. Kept of merchants of the store alone. */
  email_confirmed?: true | undefined;
};

/** Particulars as a row keeps them; null if there are none. */
export function writtenParticulars(particulars: Particulars | undefined): string | null {
  const said = Object.entries(particulars ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return said.length === 0 ? null : JSON.stringify(Object.fromEntries(said));
}

/** Letters carry it, and every node has those of all merchants in memory. */
const BYTES_MAXIMUM = 16 * 1024;
/** A picture of few bytes may take gigabytes once it is unpacked. */
const SIDE_MAXIMUM = 2000;

interface Size {
  width: number;
  height: number;
}

/** What all mail programs show, each with what reads its size in pixels: undefined of bytes that are no such picture. */
const TYPES = { 'image/png': sizeOfPng, 'image/jpeg': sizeOfJpeg } as const;

export interface Picture {
  type: keyof typeof TYPES;
  bytes: Buffer;
}

/** The logo in a file as a data URI. Throws an error whose message says what is wrong with it. */
export function logoFrom(bytes: Buffer): string {
  if (bytes.length > BYTES_MAXIMUM) throw new Error(`must have at most 16 KB, and has ${bytes.length} bytes`);
  for (const [type, sizeOf] of Object.entries(TYPES)) {
    const { width, height } = sizeOf(bytes) ?? { width: 0, height: 0 };
    if (width * height === 0) continue;
    if (Math.max(width, height) > SIDE_MAXIMUM)
      throw new Error(`must have at most ${SIDE_MAXIMUM} pixels a side, and has ${width} × ${height}`);
    return `data:${type};base64,${bytes.toString('base64')}`;
  }
  throw new Error('must be a PNG or JPEG picture');
}

/** Reads the chunks of a PNG file to its end (PNG, 5.3): header first, then pixels, each with a right checksum. */
function sizeOfPng(bytes: Buffer): Size | undefined {
  if (bytes.toString('hex', 0, 8) !== '89504e470d0a1a0a') return undefined;
  const found: string[] = [];
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + (at + 12 <= bytes.length ? bytes.readUInt32BE(at) : bytes.length);
    if (end + 4 > bytes.length || crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end))
      return undefined;
    found.push(bytes.toString('latin1', at + 4, at + 8));
    at = end + 4;
  }
  if (found[0] !== 'IHDR' || !found.includes('IDAT') || found.indexOf('IEND') !== found.length - 1)
    return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Reads the segments of a JPEG file (ITU-T T.81, B.1) as far as the one that begins its frame. */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  if (bytes.toString('hex', 0, 2) !== 'ffd8' || bytes.toString('hex', bytes.length - 2) !== 'ffd9')
    return undefined;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1]!;
    // Among the numbers of frames stand those of three tables.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
  }
  return undefined;
}

/** The picture in what `logoFrom` returned. */
export function pictureOf(logo: string): Picture {
  const [head, data] = logo.split(',') as [string, string];
  return {
    type: head.slice('data:'.length, head.indexOf(';')) as Picture['type'],
    bytes: Buffer.from(data, 'base64'),
  };
}
