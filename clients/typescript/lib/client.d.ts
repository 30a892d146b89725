/** `Remembrancer`: the verbs of a running server. */
import type { Due, Intention } from "./prospective.js";
import type { Answer, Method, Parameters, Path, Schemas } from "./routes.js";
import { type Options } from "./sending.js";
declare const BANK = "/v1/default/banks/{bank_id}";
/** What every method takes. */
export interface Call {
    /** One mind, such as a user or an agent; the client's by default. */
    bank?: string;
    /** Aborts the request, and what is tried again. */
    signal?: AbortSignal;
    /** Of one try; the client's by default. */
    timeoutMs?: number;
}
/** A time: ISO 8601 with an offset, or a `Date`. */
export type Moment = Date | string;
type Timed<T, K extends keyof T> = Omit<T, K> & {
    [N in K]?: Moment | null;
};
/** One thing to retain. */
export type Item = Timed<Schemas["MemoryItem"], "timestamp">;
/** What of `remind` says when: `at` with `zone`, `triggerAt`, `triggerEvent`, `cueText`, … */
export type Reminder = Omit<Schemas["IntentionRequest"], "content">;
/** Further fields of a recall. */
export type RecallFields = Timed<Omit<Schemas["RecallRequest"], "query">, "query_timestamp" | "as_of">;
/** Further fields of a reflection. */
export type ReflectFields = Timed<Omit<Schemas["ReflectRequest"], "query">, "query_timestamp">;
/** Further fields of a prime. */
export type PrimeFields = Timed<Omit<Schemas["PrimeRequest"], "entity_id" | "similarity_cue">, "now">;
/** What to forget: memories by id, documents by name, or by age and use. */
export type ForgetFields = Omit<Schemas["ForgetRequest"], "entity_id">;
/** What a check asks besides events and topic. */
export type CheckFields = Omit<Schemas["CheckRequest"], "queryText"> & {
    /** What is talked about; intentions with a like cue are due. */
    topic?: string;
};
/** What is told of an occurrence that falls due. */
export interface DueEvent {
    bank_id: string;
    occurrence_id: string;
    intention_id: string;
    content: string;
    trigger_type: string;
    trigger_event: string | null;
    importance: number;
    /** ISO 8601. */
    due_at: string;
    late: boolean;
    missed_count: number;
    source_id: string | null;
    payload: Record<string, unknown>;
}
/** The query parameters of a `GET`. */
type Query<P extends Path> = Parameters<P, "get" & Method<P>> extends {
    query?: infer Q;
} ? Exclude<Q, undefined> : object;
type Keep = Call & {
    background?: boolean;
};
/**
 * A server's memory: `new Remembrancer({ url, bank: "ann" })`.
 *
 * Requests are sent again when the server is busy or the connection is lost, and make nothing
 * twice: documents and intentions without a name get one here. Errors are `RemembrancerError` and
 * its kinds.
 */
export declare class Remembrancer {
    #private;
    constructor(options?: Options & {
        bank?: string;
    });
    /** Keep a text or a chat. `background`: return once it is durably queued; see `wait`. */
    retain(content: string, options?: Omit<Item, "content"> & Keep): Promise<Schemas["RetainResponse"]>;
    /** Keep several items in one transaction; those that name the same document become one. */
    retainMany(items: Item[], options?: Keep): Promise<Schemas["RetainResponse"]>;
    /** Find what answers a question, best first. */
    recall(query: string, options?: RecallFields & Call): Promise<Schemas["RecallResponse"]>;
    /** Answer a question in words. */
    reflect(query: string, options?: ReflectFields & Call): Promise<Schemas["ReflectResponse"]>;
    /** Return the context that a conversation should start with; its `text` can go into a prompt. */
    prime(cue?: string, options?: PrimeFields & Call): Promise<Schemas["PrimeResponse"]>;
    /** Erase memories and documents for good. */
    forget(what: ForgetFields, call?: Call): Promise<Schemas["ForgetResponse"]>;
    /** Return a memory by its id. */
    get(memoryId: string, call?: Call): Promise<Schemas["MemoryResponse"]>;
    /** Return a page of memories, the newest first. */
    list(options?: Query<`${typeof BANK}/memories/list`> & Call): Promise<Schemas["ListMemoryUnitsResponse"]>;
    /** Register something to do later. */
    remind(content: string, options?: Reminder & Call): Promise<Intention>;
    /** Return an intention by its id. */
    intention(id: string, call?: Call): Promise<Intention>;
    /** Return a page of intentions. */
    intentions(options?: Query<`${typeof BANK}/intentions`> & Call): Promise<{
        items: Intention[];
        total: number;
    }>;
    /** Take an intention back. */
    cancel(id: string, call?: Call): Promise<void>;
    /**
     * Return what is to be done now, the most important first; `events` are names of what has just
     * happened. In mode `lease`, the default, each is handed over until its lease runs out.
     */
    check(events?: string[], options?: CheckFields & Call): Promise<Due[]>;
    /** It was done: it is not offered again. Takes what `check` returned, or an occurrence's id. */
    ack(due: Due | string, call?: Call): Promise<void>;
    /** Yield what falls due, as it does, until you stop; acknowledge each by its `occurrence_id`. */
    due(call?: Pick<Call, "bank" | "signal">): AsyncGenerator<DueEvent, void, undefined>;
    /** Return how something queued stands. */
    operation(id: string, call?: Call): Promise<Schemas["OperationStatusResponse"]>;
    /** Wait until something queued has ended, and return how; `signal` ends the waiting. */
    wait(id: string, call?: Call): Promise<Schemas["OperationStatusResponse"]>;
    /** Return what is there, and which models are in use. */
    status(call?: Omit<Call, "bank">): Promise<Schemas["StatusResponse"]>;
    /**
     * Send any request of the server's OpenAPI document, with the client's key and retries.
     *
     * One that is not idempotent may be carried out twice when a connection is lost.
     */
    request<P extends Path, M extends Method<P>>(method: M, path: P, parameters: Parameters<P, M>, call?: Omit<Call, "bank">): Promise<Answer<P, M>>;
}
export {};
