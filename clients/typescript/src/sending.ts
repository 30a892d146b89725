/** Sends requests to a server: the key, the time limit, and what is sent again. */

import { errorOf, RemembrancerError, StoreBusy, wholeSeconds } from "./errors.js";

/** Of this client; that of package.json. */
export const VERSION = "0.1.0";

const RETRIED = new Set([408, 429, 502, 503, 504]);
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

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
export class Sender {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: Options) {
    this.#url = (options.url ?? "http://localhost:6381").replace(/\/+$/, "");
    this.#headers = { "User-Agent": `remembrancer-typescript/${VERSION}` };
    if (options.apiKey) this.#headers["Authorization"] = `Bearer ${options.apiKey}`;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#retries = options.retries ?? 4;
    this.#fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
  }

  /**
   * Send a request and return the answer's JSON.
   *
   * Whatever it makes should have an id from here: it may be sent, and carried out, twice.
   *
   * @throws RemembrancerError of the status's kind, or the signal's reason.
   */
  async send(method: string, path: string, sent: Sent = {}): Promise<unknown> {
    const limit = sent.timeoutMs ?? this.#timeoutMs;
    const init: RequestInit = {
      method: method.toUpperCase(),
      // No work should outlive who waits for it.
      headers: { ...this.#headers, "X-Timeout-Ms": String(Math.max(1, Math.floor(limit))) },
    };
    if (sent.body !== undefined) {
      init.headers = { ...init.headers, "Content-Type": "application/json" };
      init.body = JSON.stringify(sent.body);
    }
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= this.#retries;
      let told: string | null = null;
      try {
        const answer = await this.#try(this.#where(path, sent.query), init, limit, sent.signal);
        if (answer.status < 400) return parsed(answer.text);
        if (last || !RETRIED.has(answer.status)) {
          throw errorOf(answer.status, parsed(answer.text), answer.wait);
        }
        told = answer.wait;
      } catch (error) {
        if (last || !(error instanceof Lost)) throw this.#outward(error);
      }
      await pause(attempt, told, sent.signal);
    }
  }

  /**
   * Yield the data of server-sent events until the caller stops; a stream that breaks goes on where
   * it ended.
   */
  async *events(path: string, sent: Sent = {}): AsyncGenerator<unknown, void, undefined> {
    let place: Record<string, string> = {};
    for (let tries = 0; ; tries++) {
      const stop = new AbortController();
      const ended = forward(sent.signal, stop);
      try {
        const headers = { ...this.#headers, ...place, Accept: "text/event-stream" };
        const init = { headers, signal: stop.signal };
        const answer = await this.#fetch(this.#where(path, sent.query), init).catch(lost);
        if (!answer.ok) {
          const error = errorOf(
            answer.status,
            parsed(await answer.text().catch(lost)),
            answer.headers.get("retry-after"),
          );
          throw RETRIED.has(answer.status) ? new Lost(error) : error;
        }
        for await (const line of lines(answer.body)) {
          tries = 0;
          if (line.startsWith("id: ")) place = { "Last-Event-ID": line.slice(4) };
          else if (line.startsWith("data: ")) yield JSON.parse(line.slice(6)) as unknown;
        }
      } catch (error) {
        sent.signal?.throwIfAborted();
        if (tries >= this.#retries || !(error instanceof Lost)) throw this.#outward(error);
      } finally {
        ended();
        stop.abort();
      }
      await pause(tries, null, sent.signal);
    }
  }

  async #try(
    url: string,
    init: RequestInit,
    limitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<{ status: number; text: string; wait: string | null }> {
    signal?.throwIfAborted();
    const stop = new AbortController();
    const ended = forward(signal, stop);
    const timer = setTimeout(() => stop.abort(new Error(`no answer in ${limitMs} ms`)), limitMs);
    try {
      const answer = await this.#fetch(url, { ...init, signal: stop.signal });
      const text = await answer.text();
      return { status: answer.status, text, wait: answer.headers.get("retry-after") };
    } catch (error) {
      signal?.throwIfAborted();
      return lost(error);
    } finally {
      clearTimeout(timer);
      ended();
    }
  }

  #where(path: string, query: object = {}): string {
    const told = new URLSearchParams();
    for (const [name, value] of Object.entries(query) as [string, unknown][]) {
      for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (each !== undefined && each !== null) told.append(name, String(each));
      }
    }
    const text = told.toString();
    return `${this.#url}${path}${text && `?${text}`}`;
  }

  #outward(error: unknown): unknown {
    if (!(error instanceof Lost)) return error;
    if (error.reason instanceof RemembrancerError) return error.reason;
    const { message, cause } = error.reason as Error;
    const why = cause instanceof Error && cause.message ? cause.message : message;
    return new StoreBusy(
      `the server at ${this.#url} cannot be reached (${why}); ` +
        "is `remembrancer serve` running there?",
    );
  }
}

/** No whole answer came; the request may be sent again. */
class Lost extends Error {
  constructor(readonly reason: unknown) {
    super();
  }
}

function lost(reason: unknown): never {
  throw new Lost(reason);
}

/** Abort one thing when another is; return what ends that. */
function forward(signal: AbortSignal | undefined, to: AbortController): () => void {
  const abort = (): void => to.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  return () => signal?.removeEventListener("abort", abort);
}

function parsed(text: string): unknown {
  try {
    return text ? (JSON.parse(text) as unknown) : undefined;
  } catch {
    return text;
  }
}

async function* lines(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch(lost);
    if (done) return;
    const found = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = found.pop() ?? "";
    yield* found;
  }
}

/** Wait as long as the server said, else longer each time. */
async function pause(
  attempt: number,
  told: string | null,
  signal: AbortSignal | undefined,
): Promise<void> {
  const seconds = wholeSeconds(told);
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
  const own = longest * (0.5 + Math.random() / 2);
  await sleep(seconds === undefined ? own : Math.min(seconds * 1000, LONGEST_PAUSE_MS), signal);
}

/** Wait; throws the signal's reason when it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
