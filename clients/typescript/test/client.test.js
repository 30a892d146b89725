// Against a running server, whose address is in REMEMBRANCER_URL; it asks for no keys.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import {
  Conflict,
  DeadlineExceeded,
  InvalidInput,
  NotFound,
  prospective,
  RateLimited,
  Remembrancer,
  StoreBusy,
  StoreError,
  Unauthenticated,
} from "../lib/index.js";

const url = process.env["REMEMBRANCER_URL"] ?? "";
const apiKey = "rmb_any";

/** A client with a bank of its own. @param {object} more */
const client = (more = {}) =>
  new Remembrancer({ url, apiKey, bank: `bank-${randomUUID()}`, ...more });

/** A `fetch` that gives these answers in turn, and what it was sent. @param {Response[]} answers */
function fixed(...answers) {
  /** @type {RequestInit[]} */
  const sent = [];
  /** @type {typeof fetch} */
  const give = async (_, init = {}) => {
    sent.push(init);
    const answer = answers.shift();
    assert(answer, "one request too many");
    return answer;
  };
  return { sent, fetch: give };
}

/** @param {number} status @param {object} body */
const answer = (status, body) =>
  new Response(JSON.stringify(body), { status, headers: { "retry-after": "0" } });

test("the verbs", async () => {
  const memory = client();
  const timestamp = new Date("2026-05-01T09:00:00Z");
  const tags = ["home"];
  const kept = await memory.retain("Alice moved to Berlin yesterday", { timestamp, tags });
  assert.equal(kept.success, true);
  assert.equal(kept.items_count, 1);
  const { results } = await memory.recall("Where does Alice live?", { tags });
  const [found] = results;
  assert(found);
  assert.equal(found.text, "Alice moved to Berlin yesterday");
  assert.equal(new Date(found.mentioned_at ?? "").getTime(), timestamp.getTime());
  assert.match((await memory.reflect("Where does Alice live?")).text, /Berlin/);
  assert.match((await memory.prime("Alice")).text ?? "", /Alice moved to Berlin/);
  assert.equal((await memory.get(found.id)).text, found.text);
  assert.equal((await memory.list({ q: "Berlin" })).total, 1);
  assert.equal((await memory.list({ q: "Berlin", bank: "another" })).total, 0);
  const erased = await memory.forget({ memory_ids: [found.id] });
  assert(erased.forgotten_count >= 1);
  assert.deepEqual((await memory.recall("Where does Alice live?")).results, []);
  assert.equal(typeof (await memory.status()).version, "string");
});

test("what is queued is waited for", async () => {
  const memory = client();
  const { operation_id: id } = await memory.retain("Bob went hiking", { background: true });
  assert(id);
  assert.equal((await memory.wait(id)).status, "completed");
  assert.equal((await memory.recall("hiking")).results.length, 1);
});

test("reminders", async () => {
  const memory = client();
  const made = await memory.remind("say hello", { triggerEvent: "greeted", importance: 0.9 });
  assert.equal(made.triggerType, "event_based");
  assert.deepEqual(prospective(made), {
    id: made.id,
    content: "say hello",
    triggerType: "event_based",
    triggerEvent: "greeted",
    similarityThreshold: 0.7,
    importance: 0.9,
    triggered: false,
    recurring: false,
    createdAt: made.createdAt,
  });
  const [due] = await memory.check(["greeted"]);
  assert.equal(due?.id, made.id);
  await memory.ack(due);
  assert.deepEqual(await memory.check(["unheard of"]), []);
  assert.equal((await memory.intention(made.id)).triggered, true);

  const other = await memory.remind("pack the tent", { cueText: "camping in the hills" });
  assert.equal((await memory.intentions({ state: ["active"] })).total, 1);
  const [told] = await memory.check([], { topic: "camping in the hills", mode: "peek" });
  assert.equal(told?.id, other.id);
  await memory.cancel(other.id);
  assert.equal((await memory.intentions({ state: ["active"] })).total, 0);
});

test("what falls due is streamed", async () => {
  const memory = client();
  await memory.remind("stand up", { triggerAt: Date.now() });
  for await (const event of memory.due()) {
    assert.equal(event.content, "stand up");
    await memory.ack(event.occurrence_id);
    break;
  }
  const stop = new AbortController();
  const rest = memory.due({ signal: stop.signal }).next();
  stop.abort(new Error("enough"));
  await assert.rejects(rest, /enough/);
});

test("any other route", async () => {
  const memory = client();
  await memory.retain("x", { bank: "a/b c", document_id: "d/1" });
  const path = { bank_id: "a/b c", document_id: "d/1" };
  const route = "/v1/default/banks/{bank_id}/documents/{document_id}";
  assert.equal((await memory.request("get", route, { path })).original_text, "x");
  await memory.request("delete", route, { path });
  await assert.rejects(memory.request("get", route, { path }), NotFound);
});

test("errors are of their kinds", async () => {
  for (const odd of ["..", ".", ""]) {
    await assert.rejects(client().get(odd), TypeError); // on the way it would be another path
  }
  const memory = client();
  await assert.rejects(memory.recall(""), (error) => {
    assert(error instanceof InvalidInput);
    assert.equal(error.status, 422);
    assert.equal(error.field, "query");
    assert.equal(error.name, "InvalidInput");
    return true;
  });
  await assert.rejects(memory.prime("x", { max_memories: -1 }), (error) => {
    assert(error instanceof InvalidInput);
    assert.equal(error.field, "max_memories");
    return true;
  });
  await assert.rejects(memory.get(randomUUID()), NotFound);
  await assert.rejects(memory.forget({}), InvalidInput);
});

test("a lost answer makes nothing twice", async () => {
  /** @type {unknown[]} */
  const bodies = [];
  let losses = 0;
  /** @type {typeof fetch} */
  const lossy = async (input, init) => {
    const answer = await fetch(input, init);
    await answer.clone().text();
    bodies.push(init?.body);
    if (losses-- > 0) throw new TypeError("fetch failed");
    return answer;
  };
  const bank = `bank-${randomUUID()}`;
  const memory = client({ fetch: lossy, bank });
  for (const make of [
    () => memory.retain("Alice moved to Berlin"),
    () => memory.retain("Bob went hiking", { background: true }),
    () => memory.remind("call Bob", { at: "in 1 hour" }),
  ]) {
    losses = 1;
    bodies.length = 0;
    await make();
    assert.equal(bodies.length, 2);
    assert.equal(bodies[0], bodies[1]);
  }
  const path = { bank_id: bank };
  const route = "/v1/default/banks/{bank_id}";
  const { operations } = await memory.request("get", `${route}/operations`, { path });
  assert.equal(operations.length, 1);
  await memory.wait(operations[0]?.id ?? "");
  assert.equal((await memory.request("get", `${route}/documents`, { path })).total, 2);
  assert.equal((await memory.intentions()).total, 1);
});

test("a busy server is asked again, and in the end it is an error", async () => {
  const busy = () => answer(503, { detail: "busy" });
  const there = fixed(busy(), answer(429, {}), answer(200, { results: [] }));
  assert.deepEqual(await client({ fetch: there.fetch }).recall("x"), { results: [] });
  assert.equal(there.sent.length, 3);
  assert.equal(new Set(there.sent.map((init) => init.body)).size, 1);
  const headers = new Headers(there.sent[0]?.headers);
  assert.equal(headers.get("authorization"), `Bearer ${apiKey}`);
  assert.equal(headers.get("x-timeout-ms"), "30000");

  /** @type {[number, Function][]} */
  const kinds = [
    [401, Unauthenticated],
    [503, StoreBusy],
    [504, DeadlineExceeded],
    [500, StoreError],
    [429, RateLimited],
    [409, Conflict],
    [418, InvalidInput],
  ];
  for (const [status, kind] of kinds) {
    const { fetch } = fixed(answer(status, { detail: "no" }));
    await assert.rejects(client({ fetch, retries: 0 }).recall("x"), (error) => {
      assert.equal(/** @type {Error} */ (error).constructor, kind);
      assert.equal(/** @type {Error} */ (error).message, "no");
      return true;
    });
  }
});

test("time limits and aborts", async () => {
  /** @type {typeof fetch} */
  const silent = (_, init) =>
    new Promise((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const memory = client({ fetch: silent, retries: 0, timeoutMs: 5 });
  await assert.rejects(memory.recall("x"), (error) => {
    assert(error instanceof StoreBusy);
    assert.match(error.message, /no answer in 5 ms/);
    return true;
  });
  const stop = new AbortController();
  const asked = memory.recall("x", { signal: stop.signal, timeoutMs: 60_000 });
  stop.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
  const signal = AbortSignal.abort(new Error("before"));
  await assert.rejects(memory.recall("x", { signal }), /before/);
});

test("no server is said so", async () => {
  const nobody = new Remembrancer({ url: "http://127.0.0.1:1", retries: 0 });
  await assert.rejects(nobody.recall("x"), (error) => {
    assert(error instanceof StoreBusy);
    assert.match(error.message, /http:\/\/127\.0\.0\.1:1 cannot be reached/);
    return true;
  });
});
