// The edit distance of two words. It finds the name that a mistyped one was meant to be.

/**
 * How many letters must be put in, taken out, changed or swapped with their neighbour to turn one word into the other (optimal string
 * alignment).
 */
export function editDistance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, i) => [i, ...Array(other.length).fill(0)]);
  for (let j = 0; j <= other.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= one.length; i++) {
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j] + 1, rows[i]![j - 1] + 1, rows[i - 1]![j - 1] + same);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2] + 1);
      rows[i]![j] = least;
    }
  }
  return rows[one.length]![other.length];
}
