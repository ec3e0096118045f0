// Lists without elements, as they are left in the file when their last line is removed.

/** Settings without the lists that nothing is left of: YAML reads `merchants:` with no line below it as null. */
export function withoutEmpty(values: unknown): unknown {
  if (typeof values !== 'object' || values === null) return values;
  const { merchants, methods, ...others } = values as Record<string, unknown>;
  const list = Array.isArray(merchants) ? merchants.map(withoutEmptyKeys) : merchants;
  return { ...others, ...(list != null && { merchants: list }), ...(methods != null && { methods }) };
}

function withoutEmptyKeys(merchant: unknown): unknown {
  const { keys, webhooks, ...others } = (merchant ?? {}) as Record<string, unknown>;
  if (keys !== null && webhooks !== null) return merchant;
  return { ...others, ...(keys != null && { keys }), ...(webhooks != null && { webhooks }) };
}
