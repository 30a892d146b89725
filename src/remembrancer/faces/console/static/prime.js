// The prime of a bank: the exact text that a model would get, with controls for how it is chosen.

import { post } from "./api.js";
import { h } from "./dom.js";
import { count, fixed, many, moment, percent, short, tokens } from "./format.js";
import { badge, button, debounce, empty, field, input, into, page, section, table, to, toast, unique }
  from "./ui.js";

const DAY_US = 86_400_000_000;
const NARROW = "(max-width: 62rem)";
const WEIGHTS = {
  w_relevance: ["Relevance", 0.5], w_recency: ["Recency", 0.2],
  w_importance: ["Importance", 0.2], w_reinforcement: ["Use", 0.1],
};

export async function render({ bank, query, signal }) {
  const cue = h("textarea", { rows: 2, placeholder: "What the conversation is about" });
  cue.value = query.get("cue") ?? "";
  const most = slider("Memories", 1, 100, 1, 20);
  const share = slider("Recent share", 0, 1, 0.05, 0.5, percent);
  const days = slider("Recent means", 1, 90, 1, 7, (value) => many(Number(value), "day"));
  const weights = Object.fromEntries(Object.entries(WEIGHTS).map(
    ([name, [label, value]]) => [name, slider(label, 0, 1, 0.05, value, (each) => fixed(each))]));
  const budget = input("number", { min: 50, step: 50, value: query.get("max_tokens") ?? "" });
  const all = [most, share, days, ...Object.values(weights)];
  const place = h("div", { class: "primed", "aria-live": "off" });

  const load = () => post("v1/prime", {
    entity_id: bank, format: "text", reinforce: false, similarity_cue: cue.value || null,
    max_memories: Number(most.control.value), temporal_ratio: Number(share.control.value),
    recency_window_us: Number(days.control.value) * DAY_US,
    scoring_weights: Object.fromEntries(Object.entries(weights).map(
      ([name, each]) => [name, Number(each.control.value)])),
    max_tokens: Number(budget.value) || null,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }, { signal });
  const refresh = () => into(place, load, (found) => draw(bank, found), { quiet: true });
  const again = debounce(refresh, 250);
  for (const control of [cue, budget, ...all.map((each) => each.control)]) {
    control.addEventListener("input", again);
  }
  await refresh();
  return page("Prime", {
    about: "What a conversation starts with. Looking counts as no use of a memory.",
    actions: [button("Reset", () => {
      for (const each of all) each.reset();
      cue.value = budget.value = "";
      return refresh();
    })],
  },
  h("div", { class: "split" },
    h("div", { class: "card aside" },
      field("Cue", cue),
      h("details", { open: !matchMedia(NARROW).matches }, h("summary", {}, "How they are chosen"),
        h("div", { class: "controls" }, most.node, share.node, days.node,
          h("fieldset", {}, h("legend", {}, "Weights of the score"),
            Object.values(weights).map((each) => each.node)),
          field("Tokens at most", budget, "Empty: no bound.")))),
    place));
}

function draw(bank, { text, results, due, temporal_count: recent, similarity_count: similar, degraded }) {
  if (results.length === 0 && due.length === 0) {
    return empty("There is nothing to prime with.", "Retain something into this bank first.");
  }
  return [
    section("What the model gets",
      h("div", { class: "row between" },
        h("p", { class: "quiet", role: "status" }, `${count(tokens(text))} tokens (estimated) · `
          + `${many(results.length, "memory", "memories")}: ${recent} recent, ${similar} similar`
          + (due.length ? ` · ${due.length} due` : "")),
        button("Copy", async () => {
          await navigator.clipboard.writeText(text);
          toast("Copied.");
        })),
      degraded ? h("p", { class: "note" }, degraded) : null,
      h("pre", { class: "exact", tabindex: "0", "aria-label": "The exact text" }, text)),
    section("Why these", table("Memories that were chosen", ["Memory", "Score", "Relevance", "Because"],
      results.map((each) => [
        h("a", { href: to(bank, "memory", each.memory_id) }, short(each.content, 110)),
        fixed(each.score), fixed(each.relevance),
        [each.memory.pinned ? badge("pinned", "now") : null,
          each.strategy_details[0].strategy === "temporal"
            ? badge(`recent, place ${each.strategy_details[0].rank + 1}`) : badge("similar"),
          h("span", { class: "quiet" }, ` ${moment(new Date(each.memory.said_at_us / 1000))}`)],
      ]))),
  ];
}

function slider(label, min, max, step, value, spell = String) {
  const id = unique("slider");
  const control = input("range", { id, min, max, step, value });
  const output = h("output", { for: id }, spell(value));
  control.addEventListener("input", () => { output.textContent = spell(control.value); });
  return {
    control,
    reset: () => {
      control.value = value;
      output.textContent = spell(value);
    },
    node: h("div", { class: "slider" }, h("label", { for: id }, label), output, control),
  };
}
