// Drafts: what was typed before a sign-in was needed. They are carried in the pages, never in an address or a store.
import { z } from 'zod';

/** A form that is to be shown on its page again. */
export interface Draft {
  /** The page's path in the route list: `/payments/:payment_id`. */
  page: string;
  params: Readonly<Record<string, string>>;
  form: URLSearchParams;
}

const packedDraft = z.object({
  page: z.string(),
  params: z.record(z.string(), z.string()),
  fields: z.array(z.tuple([z.string(), z.string()])),
});

/** Longer ones are let go; the longest that a form of ours takes is about half of it. */
const DRAFT_MAXIMUM = 24 * 1024;

/** Fields that are not part of a draft: credentials and form tokens. */
const SECRET = /password|code|credential|secret|token|ticket|link/;

const TARGET_MAXIMUM = 2048;
/** A path and a query as they are written; no `//`, no backslash, nothing that leads upwards. */
const TARGET = /^\/(?:[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*)?(?:\?[\w.~%&=+:@!*'(),;/-]*)?$/;
/** Pages that a sign-in does not lead back to: those of signing in and out. */
const DOORS = /^\/(?:sign-in|sign-out|set-up)\b/;

/** `text` if it is the path of a page of the console (below its address, perhaps with a query), to go to after signing in. */
export function targetOf(text: string | null | undefined): string | undefined {
  if (!text || text.length > TARGET_MAXIMUM || !TARGET.test(text) || DOORS.test(text)) return undefined;
  return text;
}

/** The value of the hidden field that carries a draft; undefined if it is too long. */
export function packDraft({ page, params, form }: Draft): string | undefined {
  const fields = [...form].filter(([name]) => !SECRET.test(name));
  const packed = Buffer.from(JSON.stringify({ page, params, fields })).toString('base64url');
  return packed.length <= DRAFT_MAXIMUM ? packed : undefined;
}

/** The draft in a hidden field's value; undefined if there is none in it. */
export function unpackDraft(packed: string): Draft | undefined {
  if (packed.length > DRAFT_MAXIMUM) return undefined;
  try {
    const { fields, ...draft } = packedDraft.parse(JSON.parse(Buffer.from(packed, 'base64url').toString()));
    return { ...draft, form: new URLSearchParams(fields) };
  } catch {
    return undefined;
  }
}

/** The path in an address of the route `path`; undefined if a parameter is missing. */
export function filledPath(path: string, params: Draft['params']): string | undefined {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  if (!names.every((name) => params[name])) return undefined;
  return path.replaceAll(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(params[name]!));
}
