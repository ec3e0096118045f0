// What reading a field comes to: what is kept of it, or what is wrong with it.

/** What is kept of a field: text, or for a card its brand and last four digits. */
export type Kept = string | { brand: string; last4: string };

/** What a field's text comes to. A fault is named as checkout's messages name it: `error.<field>.<fault>`. */
export type Reading = { kept: Kept | null } | { fault: FieldFault };
export type FieldFault =
  | 'empty'
  | 'long'
  | 'form'
  | 'text'
  | 'card'
  | 'unknown'
  | 'refused'
  | 'expired'
  | 'month'
  | 'past';
