// Converts the digits of any script to 0–9: not every keyboard writes those.

/** A text with its decimal digits of any script as 0–9: Unicode lays each script's ten out in a row, zero first, apart from the next. */
export function asciiDigits(text: string): string {
  // NFKC turns the compatibility digits (full-width, mathematical), whose rows do touch, into 0–9.
  return text.normalize('NFKC').replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    let value = 0;
    while (/\p{Nd}/u.test(String.fromCodePoint(digit.codePointAt(0)! - value - 1))) value++;
    return String(value);
  });
}
