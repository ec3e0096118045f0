// Finds payment card data, so that it can be refused before anything keeps it.
import cardValidator from 'card-validator';
import { asciiDigits } from './text.ts';

const FIELD_NAMES = new Set(
  `card cardnumber cardno cardnum ccnumber ccnum pan primaryaccountnumber creditcard creditcardnumber debitcard
   cvv cvv2 cvc cvc2 csc cardcvv cardcvc cardcsc securitycode cardsecuritycode cardverificationvalue cardverificationcode
   expiry expirydate expirymonth expiryyear cardexpiry expirationdate expirationmonth expirationyear cardexpiration
   expmonth expyear cardexp ccexp trackdata track1 track2`.split(/\s+/),
);

const SEPARATOR = /[-_\s]/;
const SEPARATORS = /[-_\s]/g;

const FEWEST_DIGITS = 13;
const MOST_DIGITS = 19;
/**
 * Thirteen digits or more, with white space or dashes between any of them; or with dots, slashes and the like, white space
 * around them or not. Not both at once: prices in a row and spans of dates would read as one number.
 */
const LONG_RUNS = [
  /\p{Nd}(?:[\s\p{Pd}]*\p{Nd}){12,}/gu,
  /\p{Nd}(?:(?:\s*[./·•∙⋅．／][\s./·•∙⋅．／]*)?\p{Nd}){12,}/gu,
];
const INVISIBLE = /\p{Cf}+/gu;

/** Whether a field's name says that it holds card data; letter case, `-`, `_` and spaces do not count. */
export function isCardFieldName(name: string): boolean {
  const letters = SEPARATOR.test(name) ? name.replace(SEPARATORS, '') : name;
  return FIELD_NAMES.has(letters.toLowerCase());
}

interface Brand {
  /** Ranges of leading digits, both ends as long as each other and included. */
  prefixes: [low: string, high: string][];
  lengths: readonly number[];
  hasCheckDigit: boolean;
}

const { types, getTypeInfo } = cardValidator.creditCardType;

/** The brands as card-validator knows them; asked here, since its own answer takes too long for every stretch of a text. */
const BRANDS: readonly Brand[] = Object.values(types).map((type) => {
  const { patterns, lengths } = getTypeInfo(type);
  const prefixes = patterns.map((one): [string, string] => {
    const [low, high] = Array.isArray(one) ? one : [one, one];
    return [String(low), String(high)];
  });
  return { prefixes, lengths, hasCheckDigit: type !== types.UNIONPAY };
});

function brandsOf(digits: string): Brand[] {
  return BRANDS.filter(({ prefixes }) =>
    prefixes.some(([low, high]) => {
      const prefix = digits.slice(0, low.length);
      return low <= prefix && prefix <= high;
    }),
  );
}

/** The check digit of ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = digits.length - 1, doubled = false; i >= 0; i--, doubled = !doubled) {
    const digit = Number(digits[i]);
    sum += !doubled ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0;
}

/**
 * Whether text holds what reads as a payment card number: a known brand's prefix and length, and a right Luhn digit where
 * the brand has one. What `LONG_RUNS` lets stand between digits is ignored, as are invisible characters; digits of any
 * script count. With `checked`, the Luhn digit must be right for every brand.
 */
export function holdsCardNumber(text: string, { checked = false }: { checked?: boolean } = {}): boolean {
  if (text.length < FEWEST_DIGITS) return false;
  const visible = text.replace(INVISIBLE, '');
  return LONG_RUNS.some((runs) => visible.matchAll(runs).some(([run]) => holdsNumber(run, checked)));
}

function holdsNumber(run: string, checked: boolean): boolean {
  const groups = run.split(/\P{Nd}+/u).map(asciiDigits);
  // A number may stand beside others ("2 × 4242 4242 …"): every stretch of whole groups is judged.
  for (let from = 0; from < groups.length; from++) {
    let digits = '';
    let brands: Brand[] | undefined;
    for (let to = from; to < groups.length && digits.length < MOST_DIGITS; to++) {
      digits += groups[to];
      if (digits.length < FEWEST_DIGITS || digits.length > MOST_DIGITS) continue;
      brands ??= brandsOf(digits);
      const fitting = brands.filter(({ lengths }) => lengths.includes(digits.length));
      if (
        fitting.length > 0 &&
        ((!checked && fitting.some((brand) => !brand.hasCheckDigit)) || passesLuhn(digits))
      )
        return true;
    }
  }
  return false;
}
