// A bank's memories by day, newest first; and what held when, for a question.

import { get, ofBank } from "./api.js";
import { card, held, slot } from "./cards.js";
import { h, replace } from "./dom.js";
import { dayKey, longDay, many } from "./format.js";
import {
  badge, button, debounce, empty, field, form, input, into, page, pager, section, select, table, to,
} from "./ui.js";

const LIMIT = 30;
const LOOK_MS = 5000;
const STATES = { valid: "What counts", invalidated: "Taken out", all: "All" };
const TYPES = {
  "": "Any kind", world: "Told", experience: "Said by the assistant", observation: "Observations",
};

export async function render({ bank, query, signal }) {
  const place = h("div", { class: "days" });
  const fresh = h("div", { "aria-live": "polite" });
  const text = input("search", { value: query.get("q") ?? "" });
  const states = select(STATES, query.get("state") ?? "valid");
  const types = select(TYPES, "");
  const tag = input("text", { value: query.get("tag") ?? "" });
  let offset = 0;

  const load = () => get(ofBank(bank, "memories/list"), {
    q: text.value, state: states.value, type: types.value, tags: tag.value.trim() || null,
    tags_match: tag.value.trim() ? "any_strict" : null, limit: LIMIT, offset,
  }, { signal });
  const refresh = (options) => {
    replace(fresh);
    return into(place, load, draw, options);
  };
  const turn = (next) => {
    offset = next;
    refresh().then(() => place.scrollIntoView({ block: "start" }));
  };
  const again = debounce(() => {
    offset = 0;
    refresh({ quiet: true });
  });
  for (const control of [text, tag]) control.addEventListener("input", again);
  for (const control of [states, types]) control.addEventListener("change", again);

  function draw({ items, total }) {
    if (total === 0) {
      return text.value || tag.value || types.value || states.value !== "valid"
        ? empty("Nothing matches.", "Loosen what you filter by.")
        : empty("Nothing is remembered here yet.",
          "Upload a document, or retain something over the API.",
          h("a", { class: "button primary", href: to(bank, "documents") }, "Upload a document"));
    }
    const days = Map.groupBy
      ? Map.groupBy(items, (item) => dayKey(item.mentioned_at ?? item.updated_at))
      : grouped(items);
    return [
      h("p", { class: "quiet" }, many(total, "memory", "memories")),
      [...days].map(([day, memories]) => h("section", { class: "day", "aria-label": day },
        h("h2", {}, h("time", { datetime: day }, longDay(`${day}T12:00:00`))),
        memories.map((memory) => card(bank, memory)))),
      pager(total, LIMIT, offset, turn),
    ];
  }

  await refresh();
  watch(bank, signal, () => replace(fresh,
    h("p", { class: "note" }, "This bank has changed. ", button("Show what is new", () => {
      offset = 0;
      return refresh({ quiet: true });
    }))));
  return page("Timeline", { about: "What was said, with the facts read from it and when they held." },
    asked(bank, signal),
    h("div", { class: "filters" }, field("Text holds", text), field("Show", states),
      field("Kind", types), field("Tag", tag)),
    fresh, place);
}

function grouped(items) {
  const days = new Map();
  for (const item of items) {
    const day = dayKey(item.mentioned_at ?? item.updated_at);
    days.set(day, [...(days.get(day) ?? []), item]);
  }
  return days;
}

/** The history of one attribute: a question, and the values one after the other. */
function asked(bank, signal) {
  const question = input("search", { placeholder: "Where do I live?" });
  const place = h("div", {});
  const ask = () => into(place, () => get(ofBank(bank, "timeline"), { query: question.value },
    { signal }), ({ values }) => (values.length === 0
    ? empty("No value is known for that.", "Ask about one attribute: a home, an employer, a price.")
    : table("What held when", ["Whose", "What", "Value", "Held", "Said as"], values.map((value) => [
      value.subject === "self" ? "the speaker" : value.subject,
      slot(value.slot),
      h("span", { class: value.holds ? "holds" : "ended" }, value.value || value.text),
      [held(value), value.contradicts ? badge("contradicted", "warn") : null],
      h("a", { href: to(bank, "memory", value.memory_id) }, value.text),
    ]))));
  return section("What held when",
    form(async () => {
      if (question.value.trim()) await ask();
    }, h("div", { class: "row" }, field("Ask about something that changes", question),
      h("button", { type: "submit" }, "Show values"))),
    place);
}

/** Look now and then whether the bank has been written to. */
function watch(bank, signal, changed) {
  let known = null;
  const look = async () => {
    if (document.visibilityState !== "visible") return;
    try {
      const { banks } = await get("v1/default/banks", { q: bank, limit: 100 }, { signal });
      const now = banks.find((each) => each.bank_id === bank)?.updated_at ?? null;
      if (known !== null && now !== known) changed();
      known = now;
    } catch {
      // the next look will tell
    }
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}
