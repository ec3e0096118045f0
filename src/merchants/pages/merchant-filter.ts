// The filter of a list by merchant: a choice among few, a name or an id to type where there are many.

import { filterChoice } from '../../administrators/pages/filters.ts';
import { field } from '../../administrators/pages/parts.ts';
import type { Html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import type { Directory } from '../directory.ts';
import { MERCHANT_ID_PREFIX } from '../merchant.ts';

/** With more than these, a list of choices is too long to find anything in, and slow. */
const CHOICES_MAXIMUM = 100;

/**
 * The merchant that a filter asks for, by an id or by a business name in either case: the id, which may be of one that left the
 * configuration, or what is wrong.
 */
export function merchantAsked(
  say: Say,
  directory: Directory,
  asked: string | undefined,
): { id?: string; fault?: string } {
  if (asked === undefined || asked.startsWith(MERCHANT_ID_PREFIX))
    return asked === undefined ? {} : { id: asked };
  const name = asked.toLowerCase();
  const found = directory.merchants.filter((one) => one.name.toLowerCase() === name);
  if (found.length === 1) return { id: found[0]!.id };
  return {
    fault:
      found.length === 0
        ? say`Merchant must be a business name, whole, or an id`
        : say`Merchant must be an id: ${found.length} merchants have this name`,
  };
}

/** The field that asks for a merchant. */
export function merchantFilter(
  say: Say,
  directory: Directory,
  asked: string | undefined,
  fault: string | undefined,
  id = 'merchant',
): Html {
  if (directory.count > CHOICES_MAXIMUM) {
    const attributes = { dir: 'auto', spellcheck: 'false', placeholder: say`Name or id` };
    return field({ name: 'merchant', id, label: say`Merchant`, value: asked, fault, attributes });
  }
  const choices = directory.merchants.map((one) => [one.id, `${one.name} (${one.id})`] as const);
  return filterChoice(say, 'merchant', say`Merchant`, choices, asked, fault, id);
}
