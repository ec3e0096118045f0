// The forms in which names and references are stored and compared in searches, however a bank or a person writes them.

/**
 * A person's name for searching: its words in upper case without accents, sorted. A bank may write `MUSTERMANN, ERIKA`, and `MUELLER`
 * for Müller.
 */
export function searchedName(name: string): string {
  return foldedWords(name).sort().join(' ');
}

/** The words of a text in upper case, without accents, and with Ä, Ö, Ü and AE, OE, UE as A, O, U. */
export function foldedWords(text: string): string[] {
  const letters = text.toUpperCase().normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return letters
    .replaceAll(/([AOU])E/g, '$1')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** A bank's reference or an account number for searching: upper case, without spaces. */
export function searchedReference(text: string): string {
  return text.replaceAll(/\s/g, '').toUpperCase();
}
