/** Names for what the caller gave none, so that a request that is sent twice makes one thing. */
/** Return a random UUID (version 4, RFC 9562). */
export declare function uuid(): string;
