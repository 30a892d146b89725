/** `Remembrancer`: the verbs of a running server. */

import { InvalidInput } from "./errors.js";
import type { Due, Intention } from "./prospective.js";
import type { Answer, Method, Parameters, Path, Schemas } from "./routes.js";
import { Sender, sleep, type Options } from "./sending.js";
import { uuid } from "./uuid.js";

const BANK = "/v1/default/banks/{bank_id}";
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 2_000;

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

type Timed<T, K extends keyof T> = Omit<T, K> & { [N in K]?: Moment | null };

/** One thing to retain. */
export type Item = Timed<Schemas["MemoryItem"], "timestamp">;

/** What of `remind` says when: `at` with `zone`, `triggerAt`, `triggerEvent`, `cueText`, … */
export type Reminder = Omit<Schemas["IntentionRequest"], "content">;

/** Further fields of a recall. */
export type RecallFields = Timed<
  Omit<Schemas["RecallRequest"], "query">,
  "query_timestamp" | "as_of"
>;

/** Further fields of a reflection. */
export type ReflectFields = Timed<Omit<Schemas["ReflectRequest"], "query">, "query_timestamp">;

/** Further fields of a prime. */
export type PrimeFields = Timed<
  Omit<Schemas["PrimeRequest"], "entity_id" | "similarity_cue">,
  "now"
>;

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
type Query<P extends Path> =
  Parameters<P, "get" & Method<P>> extends { query?: infer Q } ? Exclude<Q, undefined> : object;

type Keep = Call & { background?: boolean };

/**
 * A server's memory: `new Remembrancer({ url, bank: "ann" })`.
 *
 * Requests are sent again when the server is busy or the connection is lost, and make nothing
 * twice: documents and intentions without a name get one here. Errors are `RemembrancerError` and
 * its kinds.
 */
export class Remembrancer {
  readonly #sender: Sender;
  readonly #bank: string;

  constructor(options: Options & { bank?: string } = {}) {
    this.#sender = new Sender(options);
    this.#bank = options.bank ?? "default";
  }

  /** Keep a text or a chat. `background`: return once it is durably queued; see `wait`. */
  async retain(
    content: string,
    options: Omit<Item, "content"> & Keep = {},
  ): Promise<Schemas["RetainResponse"]> {
    const { bank, signal, timeoutMs, background, ...item } = options;
    return this.retainMany([{ ...item, content }], given({ bank, signal, timeoutMs, background }));
  }

  /** Keep several items in one transaction; those that name the same document become one. */
  async retainMany(items: Item[], options: Keep = {}): Promise<Schemas["RetainResponse"]> {
    const own = uuid();
    const told = items.map((item) => ({ ...item, document_id: item.document_id ?? own }));
    const background = options.background ?? false;
    const body = { items: told as Schemas["MemoryItem"][], async: background };
    return this.request(
      "post",
      `${BANK}/memories`,
      { path: this.#in(options), body: background ? { ...body, operation_id: uuid() } : body },
      options,
    );
  }

  /** Find what answers a question, best first. */
  async recall(
    query: string,
    options: RecallFields & Call = {},
  ): Promise<Schemas["RecallResponse"]> {
    const [fields, call] = parted(options);
    const body = { max_tokens: 4096, ...fields, query } as Schemas["RecallRequest"];
    return this.request("post", `${BANK}/memories/recall`, { path: this.#in(call), body }, call);
  }

  /** Answer a question in words. */
  async reflect(
    query: string,
    options: ReflectFields & Call = {},
  ): Promise<Schemas["ReflectResponse"]> {
    const [fields, call] = parted(options);
    const body = { ...fields, query } as Schemas["ReflectRequest"];
    return this.request("post", `${BANK}/reflect`, { path: this.#in(call), body }, call);
  }

  /** Return the context that a conversation should start with; its `text` can go into a prompt. */
  async prime(
    cue?: string,
    options: PrimeFields & Call = {},
  ): Promise<Schemas["PrimeResponse"]> {
    const [fields, call] = parted(options);
    const body = { format: "text", ...fields, entity_id: this.#in(call).bank_id };
    const whole = cue === undefined ? body : { ...body, similarity_cue: cue };
    return this.request("post", "/v1/prime", { body: whole as Schemas["PrimeRequest"] }, call);
  }

  /** Erase memories and documents for good. */
  async forget(what: ForgetFields, call: Call = {}): Promise<Schemas["ForgetResponse"]> {
    const told: unknown[] = Object.values(what);
    if (told.every((each) => (Array.isArray(each) ? each.length === 0 : each == null))) {
      throw new InvalidInput("name memories or documents to forget", { field: "memory_ids" });
    }
    const body = { ...what, entity_id: this.#in(call).bank_id };
    return this.request("post", "/v1/forget", { body }, call);
  }

  /** Return a memory by its id. */
  async get(memoryId: string, call: Call = {}): Promise<Schemas["MemoryResponse"]> {
    const path = { ...this.#in(call), memory_id: memoryId };
    return this.request("get", `${BANK}/memories/{memory_id}`, { path }, call);
  }

  /** Return a page of memories, the newest first. */
  async list(
    options: Query<`${typeof BANK}/memories/list`> & Call = {},
  ): Promise<Schemas["ListMemoryUnitsResponse"]> {
    const [query, call] = parted(options);
    return this.request("get", `${BANK}/memories/list`, { path: this.#in(call), query }, call);
  }

  /** Register something to do later. */
  async remind(content: string, options: Reminder & Call = {}): Promise<Intention> {
    const [fields, call] = parted(options);
    const body = { items: [{ ...fields, id: fields.id ?? uuid(), content }] };
    const found = await this.request(
      "post",
      `${BANK}/intentions`,
      { path: this.#in(call), body },
      call,
    );
    return (found as { items: Intention[] }).items[0]!;
  }

  /** Return an intention by its id. */
  async intention(id: string, call: Call = {}): Promise<Intention> {
    const path = { ...this.#in(call), intention_id: id };
    const found = await this.request("get", `${BANK}/intentions/{intention_id}`, { path }, call);
    return found as Intention;
  }

  /** Return a page of intentions. */
  async intentions(
    options: Query<`${typeof BANK}/intentions`> & Call = {},
  ): Promise<{ items: Intention[]; total: number }> {
    const [query, call] = parted(options);
    const found = await this.request(
      "get",
      `${BANK}/intentions`,
      { path: this.#in(call), query },
      call,
    );
    return found as { items: Intention[]; total: number };
  }

  /** Take an intention back. */
  async cancel(id: string, call: Call = {}): Promise<void> {
    const path = { ...this.#in(call), intention_id: id };
    await this.request("delete", `${BANK}/intentions/{intention_id}`, { path }, call);
  }

  /**
   * Return what is to be done now, the most important first; `events` are names of what has just
   * happened. In mode `lease`, the default, each is handed over until its lease runs out.
   */
  async check(events: string[] = [], options: CheckFields & Call = {}): Promise<Due[]> {
    const [{ topic, ...fields }, call] = parted(options);
    const body = { ...fields, events: [...events, ...(fields.events ?? [])] };
    const found = await this.request(
      "post",
      `${BANK}/intentions/check`,
      { path: this.#in(call), body: topic === undefined ? body : { ...body, queryText: topic } },
      call,
    );
    return found.items as Due[];
  }

  /** It was done: it is not offered again. Takes what `check` returned, or an occurrence's id. */
  async ack(due: Due | string, call: Call = {}): Promise<void> {
    const known = typeof due === "string" ? { id: due } : due.occurrence;
    const path = { ...this.#in(call), occurrence_id: known.id };
    const body = "token" in known ? { token: known.token } : {};
    await this.request("post", `${BANK}/occurrences/{occurrence_id}/ack`, { path, body }, call);
  }

  /** Yield what falls due, as it does, until you stop; acknowledge each by its `occurrence_id`. */
  async *due(call: Pick<Call, "bank" | "signal"> = {}): AsyncGenerator<DueEvent, void, undefined> {
    const path = filled(`${BANK}/intentions/stream`, this.#in(call));
    for await (const event of this.#sender.events(path, { signal: call.signal })) {
      yield (event as { data: DueEvent }).data;
    }
  }

  /** Return how something queued stands. */
  async operation(id: string, call: Call = {}): Promise<Schemas["OperationStatusResponse"]> {
    const path = { ...this.#in(call), operation_id: id };
    return this.request("get", `${BANK}/operations/{operation_id}`, { path }, call);
  }

  /** Wait until something queued has ended, and return how; `signal` ends the waiting. */
  async wait(id: string, call: Call = {}): Promise<Schemas["OperationStatusResponse"]> {
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
      const found = await this.operation(id, call);
      if (found.status !== "pending" && found.status !== "processing") return found;
      await sleep(pause, call.signal);
    }
  }

  /** Return what is there, and which models are in use. */
  async status(call: Omit<Call, "bank"> = {}): Promise<Schemas["StatusResponse"]> {
    return this.request("get", "/v1/status", {}, call);
  }

  /**
   * Send any request of the server's OpenAPI document, with the client's key and retries.
   *
   * One that is not idempotent may be carried out twice when a connection is lost.
   */
  async request<P extends Path, M extends Method<P>>(
    method: M,
    path: P,
    parameters: Parameters<P, M>,
    call: Omit<Call, "bank"> = {},
  ): Promise<Answer<P, M>> {
    const told = parameters as { path?: Record<string, string>; query?: object; body?: unknown };
    const sent = { query: told.query, body: told.body, ...call };
    const found = await this.#sender.send(method, filled(path, told.path ?? {}), sent);
    return found as Answer<P, M>;
  }

  #in(call: Call): { bank_id: string } {
    return { bank_id: call.bank ?? this.#bank };
  }
}

/** Split options into the fields of a request and what is about the call. */
function parted<T extends Call>(options: T): [Omit<T, keyof Call>, Call] {
  const { bank, signal, timeoutMs, ...fields } = options;
  return [fields, given({ bank, signal, timeoutMs })];
}

/** Leave out what is undefined. */
function given<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const told = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function filled(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => part(name, values[name] ?? ""));
}

/** Encode a name or an id; dots alone would become another path on the way: a document's, its bank's. */
function part(name: string, value: string): string {
  if (["", ".", ".."].includes(value)) {
    throw new TypeError(`${name} ${JSON.stringify(value)} is no name or id that a path can hold`);
  }
  return encodeURIComponent(value);
}
