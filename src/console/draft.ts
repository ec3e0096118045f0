// What somebody had typed when they had to sign in first: carried in the pages themselves, never in an address or a store.

/** Longer ones are let go; the longest that a form of ours takes is about half of it. */
const DRAFT_MAXIMUM = 24 * 1024;

/** Fields that are not typed into another page: what proves who somebody is, and what makes a form ours. */
const SECRET = /password|code|credential|secret|token|ticket|link/;

const TARGET_MAXIMUM = 2048;
/** A path and a query as they are written; no `//`, no backslash, nothing that leads upwards. */
const TARGET = /^\/(?:[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*)?(?:\?[\w.~%&=+:@!*'(),;/-]*)?$/;
/** Where nobody is led back to: they lead in and out. */
const DOORS = /^\/(?:sign-in|sign-out|set-up)\b/;

/** `text` if it is the path of a page of the console (below its address, perhaps with a query), to go to after signing in. */
export function targetOf(text: string | null | undefined): string | undefined {
  if (!text || text.length > TARGET_MAXIMUM || !TARGET.test(text) || DOORS.test(text)) return undefined;
  return text;
}

/** The value of the hidden field that carries a form; nothing where it is too long. */
export function packDraft(form: URLSearchParams): string | undefined {
  const fields = [...form].filter(([name]) => !SECRET.test(name));
  const packed = Buffer.from(JSON.stringify(fields)).toString('base64url');
  return packed.length <= DRAFT_MAXIMUM ? packed : undefined;
}

/** The form in a hidden field's value; nothing where none is in it. */
export function unpackDraft(packed: string | null | undefined): URLSearchParams | undefined {
  if (!packed || packed.length > DRAFT_MAXIMUM) return undefined;
  try {
    const fields: unknown = JSON.parse(Buffer.from(packed, 'base64url').toString());
    const isField = (one: unknown) =>
      Array.isArray(one) && one.length === 2 && one.every((text) => typeof text === 'string');
    return Array.isArray(fields) && fields.every(isField)
      ? new URLSearchParams(fields as [string, string][])
      : undefined;
  } catch {
    return undefined;
  }
}
