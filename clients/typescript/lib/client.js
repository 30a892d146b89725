/** `Remembrancer`: the verbs of a running server. */
import { InvalidInput } from "./errors.js";
import { Sender, sleep } from "./sending.js";
import { uuid } from "./uuid.js";
const BANK = "/v1/default/banks/{bank_id}";
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 2_000;
/**
 * A server's memory: `new Remembrancer({ url, bank: "ann" })`.
 *
 * Requests are sent again when the server is busy or the connection is lost, and make nothing
 * twice: documents and intentions without a name get one here. Errors are `RemembrancerError` and
 * its kinds.
 */
export class Remembrancer {
    #sender;
    #bank;
    constructor(options = {}) {
        this.#sender = new Sender(options);
        this.#bank = options.bank ?? "default";
    }
    /** Keep a text or a chat. `background`: return once it is durably queued; see `wait`. */
    async retain(content, options = {}) {
        const { bank, signal, timeoutMs, background, ...item } = options;
        return this.retainMany([{ ...item, content }], given({ bank, signal, timeoutMs, background }));
    }
    /** Keep several items in one transaction; those that name the same document become one. */
    async retainMany(items, options = {}) {
        const own = uuid();
        const told = items.map((item) => ({ ...item, document_id: item.document_id ?? own }));
        const background = options.background ?? false;
        const body = { items: told, async: background };
        return this.request("post", `${BANK}/memories`, { path: this.#in(options), body: background ? { ...body, operation_id: uuid() } : body }, options);
    }
    /** Find what answers a question, best first. */
    async recall(query, options = {}) {
        const [fields, call] = parted(options);
        const body = { max_tokens: 4096, ...fields, query };
        return this.request("post", `${BANK}/memories/recall`, { path: this.#in(call), body }, call);
    }
    /** Answer a question in words. */
    async reflect(query, options = {}) {
        const [fields, call] = parted(options);
        const body = { ...fields, query };
        return this.request("post", `${BANK}/reflect`, { path: this.#in(call), body }, call);
    }
    /** Return the context that a conversation should start with; its `text` can go into a prompt. */
    async prime(cue, options = {}) {
        const [fields, call] = parted(options);
        const body = { format: "text", ...fields, entity_id: this.#in(call).bank_id };
        const whole = cue === undefined ? body : { ...body, similarity_cue: cue };
        return this.request("post", "/v1/prime", { body: whole }, call);
    }
    /** Erase memories and documents for good. */
    async forget(what, call = {}) {
        const told = Object.values(what);
        if (told.every((each) => (Array.isArray(each) ? each.length === 0 : each == null))) {
            throw new InvalidInput("name memories or documents to forget", { field: "memory_ids" });
        }
        const body = { ...what, entity_id: this.#in(call).bank_id };
        return this.request("post", "/v1/forget", { body }, call);
    }
    /** Return a memory by its id. */
    async get(memoryId, call = {}) {
        const path = { ...this.#in(call), memory_id: memoryId };
        return this.request("get", `${BANK}/memories/{memory_id}`, { path }, call);
    }
    /** Return a page of memories, the newest first. */
    async list(options = {}) {
        const [query, call] = parted(options);
        return this.request("get", `${BANK}/memories/list`, { path: this.#in(call), query }, call);
    }
    /** Register something to do later. */
    async remind(content, options = {}) {
        const [fields, call] = parted(options);
        const body = { items: [{ ...fields, id: fields.id ?? uuid(), content }] };
        const found = await this.request("post", `${BANK}/intentions`, { path: this.#in(call), body }, call);
        return found.items[0];
    }
    /** Return an intention by its id. */
    async intention(id, call = {}) {
        const path = { ...this.#in(call), intention_id: id };
        const found = await this.request("get", `${BANK}/intentions/{intention_id}`, { path }, call);
        return found;
    }
    /** Return a page of intentions. */
    async intentions(options = {}) {
        const [query, call] = parted(options);
        const found = await this.request("get", `${BANK}/intentions`, { path: this.#in(call), query }, call);
        return found;
    }
    /** Take an intention back. */
    async cancel(id, call = {}) {
        const path = { ...this.#in(call), intention_id: id };
        await this.request("delete", `${BANK}/intentions/{intention_id}`, { path }, call);
    }
    /**
     * Return what is to be done now, the most important first; `events` are names of what has just
     * happened. In mode `lease`, the default, each is handed over until its lease runs out.
     */
    async check(events = [], options = {}) {
        const [{ topic, ...fields }, call] = parted(options);
        const body = { ...fields, events: [...events, ...(fields.events ?? [])] };
        const found = await this.request("post", `${BANK}/intentions/check`, { path: this.#in(call), body: topic === undefined ? body : { ...body, queryText: topic } }, call);
        return found.items;
    }
    /** It was done: it is not offered again. Takes what `check` returned, or an occurrence's id. */
    async ack(due, call = {}) {
        const known = typeof due === "string" ? { id: due } : due.occurrence;
        const path = { ...this.#in(call), occurrence_id: known.id };
        const body = "token" in known ? { token: known.token } : {};
        await this.request("post", `${BANK}/occurrences/{occurrence_id}/ack`, { path, body }, call);
    }
    /** Yield what falls due, as it does, until you stop; acknowledge each by its `occurrence_id`. */
    async *due(call = {}) {
        const path = filled(`${BANK}/intentions/stream`, this.#in(call));
        for await (const event of this.#sender.events(path, { signal: call.signal })) {
            yield event.data;
        }
    }
    /** Return how something queued stands. */
    async operation(id, call = {}) {
        const path = { ...this.#in(call), operation_id: id };
        return this.request("get", `${BANK}/operations/{operation_id}`, { path }, call);
    }
    /** Wait until something queued has ended, and return how; `signal` ends the waiting. */
    async wait(id, call = {}) {
        for (let pause = FIRST_POLL_MS;; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
            const found = await this.operation(id, call);
            if (found.status !== "pending" && found.status !== "processing")
                return found;
            await sleep(pause, call.signal);
        }
    }
    /** Return what is there, and which models are in use. */
    async status(call = {}) {
        return this.request("get", "/v1/status", {}, call);
    }
    /**
     * Send any request of the server's OpenAPI document, with the client's key and retries.
     *
     * One that is not idempotent may be carried out twice when a connection is lost.
     */
    async request(method, path, parameters, call = {}) {
        const told = parameters;
        const sent = { query: told.query, body: told.body, ...call };
        const found = await this.#sender.send(method, filled(path, told.path ?? {}), sent);
        return found;
    }
    #in(call) {
        return { bank_id: call.bank ?? this.#bank };
    }
}
/** Split options into the fields of a request and what is about the call. */
function parted(options) {
    const { bank, signal, timeoutMs, ...fields } = options;
    return [fields, given({ bank, signal, timeoutMs })];
}
/** Leave out what is undefined. */
function given(options) {
    const told = Object.entries(options).filter(([, value]) => value !== undefined);
    return Object.fromEntries(told);
}
function filled(path, values) {
    return path.replace(/\{(\w+)\}/g, (_, name) => part(name, values[name] ?? ""));
}
/** Encode a name or an id; dots alone would become another path on the way: a document's, its bank's. */
function part(name, value) {
    if (["", ".", ".."].includes(value)) {
        throw new TypeError(`${name} ${JSON.stringify(value)} is no name or id that a path can hold`);
    }
    return encodeURIComponent(value);
}
