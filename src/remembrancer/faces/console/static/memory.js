// One memory: its words with the facts marked, what held when, what was done to it; correct, forget.

import { get, ofBank, part, patch, post } from "./api.js";
import { badges, held, over, slot } from "./cards.js";
import { h } from "./dom.js";
import { many, moment, short, span } from "./format.js";
import { marked } from "./marks.js";
import { ask, badge, button, field, input, page, section, table, to, toast } from "./ui.js";

const LINKED = 12; // whose texts are fetched
const DONE = { edit: "Corrected", invalidate: "Taken out", revive: "Brought back" };

export async function render({ bank, rest, me, signal, go, show }) {
  const path = ofBank(bank, "memories", part(rest[0] ?? ""));
  const [memory, { values }] = await Promise.all([
    get(path, {}, { signal }), get(`${path}/timeline`, {}, { signal }),
  ]);
  const [chunk, named, ends] = await Promise.all([
    around(memory, signal), entitiesOf(bank, memory, signal), endsOf(bank, memory, signal),
  ]);
  const may = me.permissions.includes("write");
  const actions = may ? [
    button("Correct", () => correct(path, memory, show), "primary"),
    memory.state === "valid"
      ? button("Take out", () => takeOut(path, show))
      : button("Bring back", async () => {
        await patch(path, { state: "valid" });
        show();
      }),
    button("Forget", () => forget(bank, memory, go), "danger"),
  ] : [];
  return page(memory.layer === "fact" ? "Fact" : "Memory", {
    about: [memory.speaker, moment(memory.mentioned_at)].filter(Boolean).join(" · "), actions,
  },
  h("p", { class: "meta" }, badges({ ...memory, fact_type: memory.type })),
  memory.state === "invalidated" ? h("p", { class: "note" },
    `Taken out ${moment(memory.invalidated_at)}`,
    memory.invalidation_reason ? `: ${memory.invalidation_reason}` : null,
    ". It is kept, and neither recalled nor primed.") : null,
  words(bank, memory),
  values.length ? heldWhen(bank, memory, values) : null,
  h("div", { class: "columns" },
    about(bank, memory, named),
    h("div", {}, chunk ? inDocument(bank, memory, chunk) : null, linked(bank, memory, ends), past(memory))));
}

/** The words, verbatim, with the facts or the one fact marked. */
function words(bank, memory) {
  if (memory.layer === "fact" && memory.source) {
    return section("Read from",
      h("blockquote", { class: "source" }, marked(memory.source.text,
        [{ start: memory.start, end: memory.end, kind: "current", label: "this fact" }])),
      h("p", {}, h("a", { href: to(bank, "memory", memory.source.id) }, "Open the memory it stands in")),
      memory.edited_at ? h("p", {}, "Now reads: ", h("strong", {}, memory.text)) : null);
  }
  const spans = memory.facts.map((fact) => ({
    start: fact.start, end: fact.end, label: fact.text, kind: over(fact) ? "past" : "",
  }));
  return section("What was said",
    h("blockquote", { class: "source" }, marked(memory.text, spans)),
    memory.facts.length ? h("ul", { class: "facts" }, memory.facts.map((fact) => h("li", {
      class: over(fact) || fact.state === "invalidated" ? "ended" : "",
    }, h("a", { href: to(bank, "memory", fact.id) }, fact.text),
    fact.negated ? badge("denied", "warn") : null,
    fact.modality !== "asserted" ? badge(fact.modality) : null, held(fact)))) : null,
    memory.source_memories.length ? [h("h3", {}, "Derived from"),
      h("ul", { class: "facts" }, memory.source_memories.map((each) => h("li", {},
        h("a", { href: to(bank, "memory", each.id) }, each.text))))] : null);
}

function heldWhen(bank, memory, values) {
  const mine = new Set([memory.id, ...memory.facts.map((fact) => fact.id)]);
  const texts = new Map(values.map((value) => [value.id, value]));
  return section("What held when", table("Values of what this memory is about",
    ["What", "Value", "Held", "Superseded by"], values.map((value) => [
      `${value.subject === "self" ? "" : `${value.subject}: `}${slot(value.slot)}`,
      h("span", { class: value.holds ? "holds" : "ended" }, value.value || value.text,
        mine.has(value.id) || mine.has(value.memory_id) ? badge("this memory", "now") : null),
      [held(value), value.contradicts ? badge("contradicted", "warn") : null],
      value.superseded_by ? h("a", { href: to(bank, "memory", value.superseded_by) },
        texts.get(value.superseded_by)?.text ?? "another memory") : "–",
    ])));
}

function about(bank, memory, named) {
  const row = (name, value) => (value === null || value === "" || value === undefined
    ? null : [h("dt", {}, name), h("dd", {}, value)]);
  const document = memory.document_id;
  return section("About it", h("dl", {},
    row("Happened", span(memory.occurred_start, memory.occurred_end)),
    row("Said", moment(memory.mentioned_at)),
    row("Context", memory.context),
    row("Document", document ? h("a", { href: to(bank, "document", document) }, document) : null),
    row("Turn", document ? memory.turn + 1 : null),
    row("Entities", memory.entities.length ? h("span", { class: "chips" }, memory.entities.map((name) => (
      named.has(name) ? h("a", { class: "chip", href: to(bank, "entities", named.get(name)) }, name)
        : h("span", { class: "chip" }, name)))) : null),
    row("Says the same", memory.same_ids.length ? h("span", { class: "chips" }, memory.same_ids.map(
      (id, at) => h("a", { class: "chip", href: to(bank, "memory", id) }, `memory ${at + 2}`))) : null),
    Object.entries(memory.metadata).map(([name, value]) => row(name, value)),
    row("Id", h("code", {}, memory.id))));
}

function inDocument(bank, memory, chunk) {
  return h("details", { class: "card" }, h("summary", {}, "Where it stands in its document"),
    h("blockquote", { class: "source" }, marked(chunk.chunk_text,
      [{ start: memory.start, end: memory.end, kind: "current", label: "this memory" }])));
}

function linked(bank, memory, ends) {
  if (memory.links.length === 0) return null;
  return section("Links", h("ul", { class: "facts" }, memory.links.map((link) => {
    const other = otherEnd(memory, link);
    return h("li", {}, badge(`${link.type.replaceAll("_", " ")} ${other === link.target ? "→" : "←"}`),
      h("a", { href: to(bank, "memory", other) }, ends.get(other) ?? other));
  })));
}

function otherEnd(memory, link) {
  const mine = link.source === memory.id || memory.facts.some((fact) => fact.id === link.source);
  return mine ? link.target : link.source;
}

/** Return the texts of what a memory is linked to, by id. */
async function endsOf(bank, memory, signal) {
  const ids = [...new Set(memory.links.map((link) => otherEnd(memory, link)))].slice(0, LINKED);
  const found = await Promise.all(ids.map(async (id) => {
    const other = await get(ofBank(bank, "memories", part(id)), {}, { signal });
    return [id, short(other.text, 120)];
  }));
  return new Map(found);
}

function past(memory) {
  if (memory.history.length === 0) return null;
  return section("History", h("ol", { class: "history" }, memory.history.map((entry) => h("li", {},
    h("strong", {}, DONE[entry.action] ?? entry.action), ` ${moment(entry.changed_at)}`,
    entry.reason ? h("span", { class: "quiet" }, ` – ${entry.reason}`) : null,
    entry.previous_text ? h("p", { class: "ended" }, entry.previous_text) : null))));
}

async function around(memory, signal) {
  if (!memory.chunk_id || memory.layer !== "source") return null;
  try {
    return await get(`v1/default/chunks/${part(memory.chunk_id)}`, {}, { signal });
  } catch {
    return null; // the page is whole without it
  }
}

/** Return the ids of the entities that a memory names. */
async function entitiesOf(bank, memory, signal) {
  const found = await Promise.all(memory.entities.slice(0, 12).map(async (name) => {
    const { items } = await get(ofBank(bank, "entities"), { q: name, limit: 20 }, { signal });
    return items.find((each) => each.canonical_name === name);
  }));
  return new Map(found.filter(Boolean).map((each) => [each.canonical_name, each.id]));
}

async function correct(path, memory, show) {
  const text = h("textarea", { rows: 6 });
  text.value = memory.text;
  const reason = input("text", { maxlength: 2000 });
  const done = await ask("Correct this memory", [
    field("Text", text, "It is found by the new words at once. The document keeps its own."),
    field("Reason", reason, "Kept in the history; may be left empty."),
  ], { yes: "Save", check: () => patch(path, { text: text.value, reason: reason.value || null }) });
  if (!done) return;
  toast("Corrected.");
  show();
}

async function takeOut(path, show) {
  const reason = input("text", { maxlength: 2000 });
  const done = await ask("Take this memory out?", [
    h("p", {}, "It is kept, and neither recalled nor primed until you bring it back."),
    field("Reason", reason),
  ], { yes: "Take out",
    check: () => patch(path, { state: "invalidated", reason: reason.value || null }) });
  if (done) show();
}

async function forget(bank, memory, go) {
  let receipt = null;
  const done = await ask("Forget this memory?", [
    h("p", {}, "It is erased from every answer at once and from the disk within a minute, with the "
      + "facts read from it and what was derived from them. This cannot be undone."),
    memory.layer === "fact"
      ? h("p", { class: "note" }, "The turn that says this fact is forgotten with it.") : null,
  ], { yes: "Forget for good", danger: true, check: async () => {
    receipt = await post("v1/forget", { memory_ids: [memory.id], entity_id: bank });
  } });
  if (!done) return;
  toast(`Forgotten: ${many(receipt.tombstone_count, "memory", "memories and facts")}.`);
  go(to(bank, "timeline"));
}
