/** Sends requests to a server: the key, the time limit, and what is sent again. */
/** Of this client; that of package.json. */
export declare const VERSION = "0.1.0";
/** Where the server is and how to speak to it. */
export interface Options {
    /** Where the server listens; `http://localhost:6381` by default. */
    url?: string;
    /** Needed where the server asks for keys. */
    apiKey?: string;
    /** Of one try, in milliseconds; 30,000 by default. */
    timeoutMs?: number;
    /** How often a request is sent again at most, when the server is busy or cannot be reached; 4. */
    retries?: number;
    /** Used in place of the global `fetch`: for tests and proxies. */
    fetch?: typeof globalThis.fetch;
}
/** One request. */
export interface Sent {
    query?: object | undefined;
    body?: unknown;
    signal?: AbortSignal | undefined;
    timeoutMs?: number | undefined;
}
/** Speaks to one server. */
export declare class Sender {
    #private;
    constructor(options: Options);
    /**
     * Send a request and return the answer's JSON.
     *
     * Whatever it makes should have an id from here: it may be sent, and carried out, twice.
     *
     * @throws RemembrancerError of the status's kind, or the signal's reason.
     */
    send(method: string, path: string, sent?: Sent): Promise<unknown>;
    /**
     * Yield the data of server-sent events until the caller stops; a stream that breaks goes on where
     * it ended.
     */
    events(path: string, sent?: Sent): AsyncGenerator<unknown, void, undefined>;
}
/** Wait; throws the signal's reason when it is aborted. */
export declare function sleep(ms: number, signal?: AbortSignal): Promise<void>;
