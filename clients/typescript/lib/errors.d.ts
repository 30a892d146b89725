/** Errors by kind, with the names that they have in the Python library. */
/** Base of all errors of this client. */
export declare class RemembrancerError extends Error {
    /** A stable name for programs. */
    readonly code: string;
    /** The HTTP status; undefined when there was no answer. */
    readonly status: number | undefined;
    /** The field at fault, as it is spelled in the request. */
    readonly field: string | undefined;
    /** The limit that was broken. */
    readonly limit: number | undefined;
    constructor(message: string, known?: {
        status?: number;
        field?: string;
        limit?: number;
    });
}
/** The request cannot be taken; nothing was stored. */
export declare class InvalidInput extends RemembrancerError {
    readonly code: string;
}
/** The request breaks a size limit; nothing was stored. */
export declare class TooLarge extends InvalidInput {
    readonly code = "too_large";
}
/** What was named does not exist. */
export declare class NotFound extends RemembrancerError {
    readonly code = "not_found";
}
/** The write met another state than expected. */
export declare class Conflict extends RemembrancerError {
    readonly code = "conflict";
}
/** No API key came with the request, or one that is not valid. */
export declare class Unauthenticated extends RemembrancerError {
    readonly code = "unauthenticated";
}
/** The key does not permit it. */
export declare class Forbidden extends RemembrancerError {
    readonly code = "permission_denied";
}
/** The key has used up its calls for now. */
export declare class RateLimited extends RemembrancerError {
    readonly code = "rate_limited";
    /** Milliseconds until one more is taken. */
    readonly retryAfterMs: number;
    constructor(message: string, known: {
        status?: number;
    }, retryAfterMs: number);
}
/** The time that was given to the request is over. */
export declare class DeadlineExceeded extends RemembrancerError {
    readonly code = "deadline_exceeded";
}
/** The server failed. */
export declare class StoreError extends RemembrancerError {
    readonly code: string;
}
/** The server is busy, cannot be reached, or did not answer in time; try again later. */
export declare class StoreBusy extends StoreError {
    readonly code = "store_busy";
}
/** Return the error that an answer means; `seconds` is its `Retry-After`. */
export declare function errorOf(status: number, body: unknown, seconds: string | null): RemembrancerError;
/** Return a `Retry-After` in seconds; undefined where it is none, or a date. */
export declare function wholeSeconds(text: string | null): number | undefined;
