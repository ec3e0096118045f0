// Lists that nothing is left of, as whoever removes the last line of one leaves them in the file.

/** Settings without the lists that nothing is left of: YAML reads `merchants:` with no line below it as null. */
export function withoutEmpty(values: unknown): unknown {
  if (typeof values !== 'object' || values === null) return values;
  const { merchants, methods, ...others } = values as Record<string, unknown>;
  const list = Array.isArray(merchants) ? merchants.map(withoutEmptyKeys) : merchants;
  return { ...others, ...(list != null && { merchants: list }), ...(methods != null && { methods }) };
}

function withoutEmptyKeys(merchant: unknown): unknown {
  const { keys, ...others } = (merchant ?? {}) as Record<string, unknown>;
  return keys === null ? others : merchant;
}
