// One memory in a list: what was said, by whom, which facts were read from it, what holds.

import { h } from "./dom.js";
import { clock, day, short } from "./format.js";
import { marked } from "./marks.js";
import { badge, to } from "./ui.js";

const LAYERS = { fact: "fact", observation: "observation" };

/** Return what is to be said of a span of time in which something held; null when nothing is. */
export function held({ valid_from: from, valid_until: until }) {
  if (until) return badge(`${from ? day(from) : "earlier"} – ${day(until)}`, "past");
  return from ? badge(`since ${day(from)}`, "now") : null;
}

/** Return whether something ceased to hold. */
export const over = (fact) => Boolean(fact.valid_until) && new Date(fact.valid_until) <= new Date();

/** Return badges of a memory as listed. */
export function badges(memory) {
  return [
    memory.state === "invalidated" ? badge("taken out", "bad") : null,
    LAYERS[memory.layer] ? badge(LAYERS[memory.layer]) : null,
    memory.role === "assistant" ? badge("assistant") : null,
    memory.edited_at ? badge("corrected", "warn") : null,
    memory.proof_count > 1 ? badge(`said ${memory.proof_count} times`) : null,
    memory.tags.map((tag) => badge(`#${tag}`, "tag")),
  ];
}

/** Return the ways from a memory in a list to itself and to its document. */
export function opens(bank, memory) {
  return [
    h("a", { href: to(bank, "memory", memory.id), "aria-label": `Open: ${short(memory.text, 60)}` },
      "Open"),
    memory.document_id
      ? h("a", { href: to(bank, "document", memory.document_id) }, memory.document_id) : null,
  ];
}

/** Return the name of an attribute as people say it. */
export const slot = (name) => name.replaceAll(":", " ").replaceAll("_", " ");

export function card(bank, memory) {
  const spans = memory.facts.map((fact) => ({
    start: fact.start, end: fact.end, kind: over(fact) ? "past" : "",
  }));
  const dated = memory.facts.filter((fact) => fact.valid_from || fact.valid_until);
  return h("article", { class: `memory ${memory.state}` },
    h("p", { class: "meta" },
      h("time", { datetime: memory.mentioned_at }, clock(memory.mentioned_at)),
      memory.speaker ? h("strong", {}, memory.speaker) : null, badges(memory)),
    h("p", { class: "said" }, marked(memory.text, spans)),
    dated.length ? h("ul", { class: "facts" }, dated.map((fact) => h("li", {
      class: over(fact) || fact.state === "invalidated" ? "ended" : "",
    }, h("a", { href: to(bank, "memory", fact.id) }, fact.text), held(fact)))) : null,
    h("p", { class: "foot" },
      opens(bank, memory),
      memory.entities ? h("span", { class: "quiet" }, memory.entities) : null));
}
