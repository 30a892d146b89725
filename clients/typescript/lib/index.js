/** A typed client for a running Remembrancer server. */
export { Remembrancer, } from "./client.js";
export { Conflict, DeadlineExceeded, Forbidden, InvalidInput, NotFound, RateLimited, RemembrancerError, StoreBusy, StoreError, TooLarge, Unauthenticated, } from "./errors.js";
export { prospective, } from "./prospective.js";
export { VERSION } from "./sending.js";
