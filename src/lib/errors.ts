// Errors a caller can act on: one type, and one table from their codes to HTTP statuses.
import type { Sentence, Spoken } from './phrases.ts';

export const STATUS_OF_CODE = {
  bad_request: 400,
  invalid_json: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  request_timeout: 408,
  idempotency_in_progress: 409,
  invalid_status: 409,
  conflict: 409,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  validation_failed: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF_CODE;

/** The limits that are answered with 429, as the log names them. */
export type Limit =
  | 'reads'
  | 'writes'
  | 'streams'
  | 'refused_keys'
  | 'registrations'
  | 'letters'
  | 'checkout_forms'
  | 'sign_in_forms'
  | 'sign_in_failures';

/** Field name, dotted for nested fields, to the sentence that says what is wrong with it. */
export type ErrorDetails = Record<string, string>;

/**
 * A failure that is part of the contract. Anything else that is thrown is a defect and answered as `internal_error`.
 * `details` goes with `validation_failed` alone; `retryAfterS` (whole seconds) becomes the `Retry-After` header; `limit` names the limit
 * that was met, for the log. A page shows `said`, the message in its reader's language.
 */
export class OperationalError extends Error {
  override readonly name = 'OperationalError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  readonly retryAfterS: number | undefined;
  readonly limit: Limit | undefined;
  readonly said: Sentence;

  constructor(
    code: ErrorCode,
    message: string | Spoken,
    extra: { details?: ErrorDetails; retryAfterS?: number; limit?: Limit } = {},
  ) {
    super(typeof message === 'string' ? message : message.english);
    this.said = typeof message === 'string' ? (say) => say.of(message) : message;
    this.code = code;
    this.details = extra.details;
    this.retryAfterS = extra.retryAfterS;
    this.limit = extra.limit;
  }

  get status(): number {
    return STATUS_OF_CODE[this.code];
  }
}

/** All faults of a request at once, 422 `validation_failed`. */
export function validationFailed(details: ErrorDetails): OperationalError {
  return new OperationalError('validation_failed', 'One or more fields are invalid.', { details });
}

/** What cannot be served at the moment, 503 `unavailable`; safe to try again with the same idempotency key. */
export function unavailable(): OperationalError {
  const message = 'The service cannot take this request now. Try again shortly.';
  return new OperationalError('unavailable', message, { retryAfterS: 1 });
}
