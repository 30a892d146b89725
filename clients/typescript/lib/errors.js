/** Errors by kind, with the names that they have in the Python library. */
/** Base of all errors of this client. */
export class RemembrancerError extends Error {
    /** A stable name for programs. */
    code = "error";
    /** The HTTP status; undefined when there was no answer. */
    status;
    /** The field at fault, as it is spelled in the request. */
    field;
    /** The limit that was broken. */
    limit;
    constructor(message, known = {}) {
        super(message);
        this.name = new.target.name;
        this.status = known.status;
        this.field = known.field;
        this.limit = known.limit;
    }
}
/** The request cannot be taken; nothing was stored. */
export class InvalidInput extends RemembrancerError {
    code = "invalid_input";
}
/** The request breaks a size limit; nothing was stored. */
export class TooLarge extends InvalidInput {
    code = "too_large";
}
/** What was named does not exist. */
export class NotFound extends RemembrancerError {
    code = "not_found";
}
/** The write met another state than expected. */
export class Conflict extends RemembrancerError {
    code = "conflict";
}
/** No API key came with the request, or one that is not valid. */
export class Unauthenticated extends RemembrancerError {
    code = "unauthenticated";
}
/** The key does not permit it. */
export class Forbidden extends RemembrancerError {
    code = "permission_denied";
}
/** The key has used up its calls for now. */
export class RateLimited extends RemembrancerError {
    code = "rate_limited";
    /** Milliseconds until one more is taken. */
    retryAfterMs;
    constructor(message, known, retryAfterMs) {
        super(message, known);
        this.retryAfterMs = retryAfterMs;
    }
}
/** The time that was given to the request is over. */
export class DeadlineExceeded extends RemembrancerError {
    code = "deadline_exceeded";
}
/** The server failed. */
export class StoreError extends RemembrancerError {
    code = "store_error";
}
/** The server is busy, cannot be reached, or did not answer in time; try again later. */
export class StoreBusy extends StoreError {
    code = "store_busy";
}
const KINDS = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    503: StoreBusy,
    504: DeadlineExceeded,
};
/** Return the error that an answer means; `seconds` is its `Retry-After`. */
export function errorOf(status, body, seconds) {
    const told = said(body);
    const message = told.message ?? `the server answered ${status}`;
    const known = { ...told.known, status };
    if (status === 429) {
        return new RateLimited(message, known, (wholeSeconds(seconds) ?? 1) * 1000);
    }
    const other = status < 500 ? InvalidInput : StoreError;
    return new (KINDS[status] ?? other)(message, known);
}
/** Return a `Retry-After` in seconds; undefined where it is none, or a date. */
export function wholeSeconds(text) {
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}
/** Read an error's body, in either of the server's two dialects. */
function said(body) {
    if (typeof body === "string" && body)
        return { message: body, known: {} };
    if (!isObject(body))
        return { known: {} };
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
function place(fault) {
    const where = Array.isArray(fault["loc"]) ? fault["loc"].slice(1).join(".") : "";
    return where && `${where}: `;
}
function known(fault) {
    const field = fault?.["field"];
    const limit = fault?.["limit"];
    return {
        ...(typeof field === "string" && { field }),
        ...(typeof limit === "number" && { limit }),
    };
}
function text(value) {
    return typeof value === "string" ? value : "";
}
function isObject(value) {
    return typeof value === "object" && value !== null;
}
