/** Errors by kind, with the names that they have in the Python library. */

/** Base of all errors of this client. */
export class RemembrancerError extends Error {
  /** A stable name for programs. */
  readonly code: string = "error";
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** The field at fault, as it is spelled in the request. */
  readonly field: string | undefined;
  /** The limit that was broken. */
  readonly limit: number | undefined;

  constructor(message: string, known: { status?: number; field?: string; limit?: number } = {}) {
    super(message);
    this.name = new.target.name;
    this.status = known.status;
    this.field = known.field;
    this.limit = known.limit;
  }
}

/** The request cannot be taken; nothing was stored. */
export class InvalidInput extends RemembrancerError {
  override readonly code: string = "invalid_input";
}

/** The request breaks a size limit; nothing was stored. */
export class TooLarge extends InvalidInput {
  override readonly code = "too_large";
}

/** What was named does not exist. */
export class NotFound extends RemembrancerError {
  override readonly code = "not_found";
}

/** The write met another state than expected. */
export class Conflict extends RemembrancerError {
  override readonly code = "conflict";
}

/** No API key came with the request, or one that is not valid. */
export class Unauthenticated extends RemembrancerError {
  override readonly code = "unauthenticated";
}

/** The key does not permit it. */
export class Forbidden extends RemembrancerError {
  override readonly code = "permission_denied";
}

/** The key has used up its calls for now. */
export class RateLimited extends RemembrancerError {
  override readonly code = "rate_limited";
  /** Milliseconds until one more is taken. */
  readonly retryAfterMs: number;

  constructor(message: string, known: { status?: number }, retryAfterMs: number) {
    super(message, known);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The time that was given to the request is over. */
export class DeadlineExceeded extends RemembrancerError {
  override readonly code = "deadline_exceeded";
}

/** The server failed. */
export class StoreError extends RemembrancerError {
  override readonly code: string = "store_error";
}

/** The server is busy, cannot be reached, or did not answer in time; try again later. */
export class StoreBusy extends StoreError {
  override readonly code = "store_busy";
}

const KINDS = {
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  413: TooLarge,
  503: StoreBusy,
  504: DeadlineExceeded,
} as const;

/** Return the error that an answer means; `seconds` is its `Retry-After`. */
export function errorOf(status: number, body: unknown, seconds: string | null): RemembrancerError {
  const told = said(body);
  const message = told.message ?? `the server answered ${status}`;
  const known = { ...told.known, status };
  if (status === 429) {
    return new RateLimited(message, known, (wholeSeconds(seconds) ?? 1) * 1000);
  }
  const other = status < 500 ? InvalidInput : StoreError;
  return new (KINDS[status as keyof typeof KINDS] ?? other)(message, known);
}

/** Return a `Retry-After` in seconds; undefined where it is none, or a date. */
export function wholeSeconds(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

interface Said {
  message?: string;
  known: { field?: string; limit?: number };
}

/** Read an error's body, in either of the server's two dialects. */
function said(body: unknown): Said {
  if (typeof body === "string" && body) return { message: body, known: {} };
  if (!isObject(body)) return { known: {} };
  const { detail } = body;
  if (Array.isArray(detail)) {
    const faults = detail.filter(isObject);
    const message = faults.map((fault) => `${place(fault)}${text(fault["msg"])}`).join("; ");
    return { message, known: known(faults[0]) };
  }
  const message = text(detail ?? body["message"]);
  const details = Array.isArray(body["details"]) ? body["details"].filter(isObject) : [];
  return { ...(message && { message }), known: known(details[0]) };
}

function place(fault: Record<string, unknown>): string {
  const where = Array.isArray(fault["loc"]) ? fault["loc"].slice(1).join(".") : "";
  return where && `${where}: `;
}

function known(fault: Record<string, unknown> | undefined): Said["known"] {
  const field = fault?.["field"];
  const limit = fault?.["limit"];
  return {
    ...(typeof field === "string" && { field }),
    ...(typeof limit === "number" && { limit }),
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
