// What calls throw: the service refused, no answer came that can be trusted, or a webhook is not signed.
import type { ErrorCode } from './schemas.ts';

/** The class of every error that this package throws on purpose, but for a `TypeError` about an argument. */
export class CounterfoilError extends Error {
  override name = 'CounterfoilError';
  /** The `Idempotency-Key` of the request, if it had one. The same call with it tells what became of the first, and does nothing twice. */
  idempotencyKey: string | undefined;
}

/** The service refused the request. */
export class ApiError extends CounterfoilError {
  override name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** What is wrong: branch on this. New codes may come. */
  readonly code: ErrorCode | (string & {});
  /** For `validation_failed`, each field with a sentence about it; otherwise empty. */
  readonly details: Readonly<Record<string, string>>;
  /** Names the request in the logs of the service. */
  readonly requestId: string | undefined;
  /** How many seconds to wait before the next try, where the service says so. */
  readonly retryAfterS: number | undefined;

  constructor(
    message: string,
    about: Pick<ApiError, 'status' | 'code' | 'details' | 'requestId' | 'retryAfterS'>,
  ) {
    const faults = Object.entries(about.details).map(([field, text]) => ` ${field}: ${text}`);
    super(`${about.status} ${about.code}: ${message}${faults.join('')}`);
    this.status = about.status;
    this.code = about.code;
    this.details = about.details;
    this.requestId = about.requestId;
    this.retryAfterS = about.retryAfterS;
  }
}

/** No answer came that can be trusted, and the deadline is over: the request may have been done, or not. */
export class ConnectionError extends CounterfoilError {
  override name = 'ConnectionError';
}

/** A request is no webhook of the service: answer it with 400, and do nothing. */
export class WebhookVerificationError extends CounterfoilError {
  override name = 'WebhookVerificationError';
}
