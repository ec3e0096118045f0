// What a merchant says of itself for receipts and letters: its legal name, address and tax number, and the letters it wants.
import { z } from 'zod';
import { textFault } from '../lib/text.ts';

const text = (maximum: number, multiline = false) =>
  z
    .string()
    .trim()
    .min(1)
    .superRefine((value, context) => {
      const fault = textFault(value, maximum, multiline);
      if (fault) context.addIssue(fault);
    });

/** Of one merchant. What is undefined is not known, or as for all. */
export const particularsShape = {
  legal_name: text(200)
    .optional()
    .describe('The name that receipts are issued under, such as `Corner Shop GmbH`.')
    .meta({ check: '1 to 200 characters' }),
  address: text(400, true)
    .optional()
    .describe('The postal address on receipts; lines as they are to be printed.')
    .meta({ check: '1 to 400 characters' }),
  tax_id: text(40).optional().describe('The tax number on receipts.').meta({ check: '1 to 40 characters' }),
  logo: z
    .string()
    .min(1)
    .optional()
    .describe('File with its logo, for checkout, receipts and letters; relative to this file.')
    .meta({ check: 'a PNG or JPEG file of at most 16 KB' }),
  letters_off: z
    .array(z.string())
    .max(20)
    .optional()
    .describe('Letters that are not sent, to its customers or to itself ([which](mail.md)).')
    .meta({ check: 'names of letters' }),
  remind_days: z
    .int()
    .min(1)
    .max(30)
    .optional()
    .describe('How many days before the day to pay by customers are reminded; never when left out.'),
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
