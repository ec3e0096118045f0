// What the console's pages of merchants are given.
import type { Context } from '../../administrators/pages/route.ts';
import type { Directory } from '../directory.ts';
import type { KeyUses } from '../key-uses.ts';

export interface MerchantParts {
  directory: Directory;
  keyUses: KeyUses;
  /** Where merchants register. */
  registerUrl: string;
  /** How many payments a merchant has made since a moment (milliseconds since 1970), counted up to `maximum`. */
  countPayments(merchantId: string, since: number, maximum: number): Promise<number>;
}

export type MerchantContext = Context & MerchantParts;
