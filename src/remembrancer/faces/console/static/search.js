// Search with its explanation: which arm found what, how scores add up, what was left out and why.

import { ofBank, post } from "./api.js";
import { held, opens } from "./cards.js";
import { h } from "./dom.js";
import { count, fixed, many, moment, percent, short } from "./format.js";
import { badge, empty, field, form, input, into, page, section, select, table, to } from "./ui.js";

const BUDGETS = { low: "10 results", mid: "30 results", high: "100 results" };
const SHARES = {
  text: "words", window: "words with what was said before", vector: "meaning",
  window_vector: "meaning with what was said before", speaker: "speaker", role: "role",
  time: "time", length: "says much", standing: "standing instruction",
};
const WAYS = { semantic: "meaning", bm25: "words", graph: "links", temporal: "time" };

export async function render({ bank, query, signal, go }) {
  const question = input("search", { value: query.get("q") ?? "", required: true });
  const asOf = input("datetime-local", { value: query.get("as_of") ?? "" });
  const budget = select(BUDGETS, query.get("budget") ?? "mid");
  const cut = input("checkbox", { checked: query.get("cut") !== "no" });
  const place = h("div", { class: "results" });

  const load = () => post(ofBank(bank, "memories/recall"), {
    query: question.value, budget: budget.value, trace: true, cut_off: cut.checked,
    as_of: asOf.value ? new Date(asOf.value).toISOString() : null,
  }, { signal });
  const search = form(async () => {
    if (!question.value.trim()) {
      question.focus();
      return;
    }
    const kept = new URLSearchParams({ q: question.value, budget: budget.value });
    if (asOf.value) kept.set("as_of", asOf.value);
    if (!cut.checked) kept.set("cut", "no");
    go(`${to(bank, "search")}?${kept}`);
  },
  h("div", { class: "row" }, field("Question", question),
    h("button", { type: "submit", class: "primary" }, "Search")),
  h("div", { class: "filters" },
    field("As of (empty: now)", asOf),
    field("At most", budget),
    h("label", { class: "check" }, cut, " Leave out what is not relevant")));

  if (question.value.trim()) await into(place, load, (found) => draw(bank, found));
  else {
    place.append(empty("Ask what an agent would ask.",
      "Each answer tells why it is there, and what was left out."));
  }
  return page("Search", {
    about: "The same recall that agents get, with the reasons beside it.",
  }, search, place);
}

function draw(bank, { results, trace, degraded }) {
  const told = new Map(trace.final_results.map((each) => [each.node_id, each]));
  const fused = new Map(trace.reranked.map((each) => [each.node_id, each]));
  const places = new Map(trace.rrf_merged.map((each) => [each.node_id, each.source_ranks]));
  const most = Math.max(...trace.reranked.map((each) => each.rerank_score), 0.001);
  const left = trace.rrf_merged.filter((each) => !told.has(each.node_id));
  return [
    h("p", { class: "quiet", role: "status" }, [
      many(results.length, "answer"),
      trace.known === null || trace.known === undefined
        ? null : `${percent(trace.known)} likely that this bank knows`,
      `${Math.round(1000 * trace.summary.total_duration_seconds)} ms`,
    ].filter(Boolean).join(" · ")),
    degraded ? h("p", { class: "note" }, `Some arms of the search were missing: ${degraded}`) : null,
    results.length === 0
      ? empty("Nothing that is kept answers this.", trace.cut_off
        ?? "Try other words, or a memory that you know is there.")
      : [legend(trace), h("ol", { class: "answers" }, results.map((result) => answer(
        bank, result, told.get(result.id), fused.get(result.id), places.get(result.id), most)))],
    left.length || trace.cut_off ? leftOut(bank, left, trace) : null,
    how(trace),
  ];
}

function answer(bank, result, told, fused, places, most) {
  return h("li", { class: "memory" },
    h("p", { class: "meta" },
      h("time", { datetime: result.mentioned_at }, moment(result.mentioned_at)),
      result.speaker ? h("strong", {}, result.speaker) : null,
      result.holds === false ? badge("no longer holds", "past") : null,
      held(result),
      told?.relevance === null || told?.relevance === undefined
        ? null : badge(`${percent(told.relevance)} likely`, "now")),
    h("p", { class: "said" }, result.text),
    fused ? bar(fused, most) : null,
    told ? h("p", { class: "why" }, told.explanation) : null,
    h("p", { class: "foot" }, opens(bank, result)),
    h("details", {}, h("summary", {}, "Scores"),
      fused ? table("What each arm adds", ["Arm", "Adds"],
        Object.entries(fused.score_components).filter(([, value]) => value)
          .map(([name, value]) => [SHARES[name] ?? name, fixed(value, 3)])) : null,
      h("p", { class: "quiet" }, `Score ${fixed(result.scores.final, 3)}`,
        result.scores.semantic === undefined ? null : ` · cosine ${fixed(result.scores.semantic)}`,
        result.scores.keyword === undefined ? null : ` · BM25 ${fixed(result.scores.keyword)}`,
        places ? ` · place ${Object.entries(places).map(
          ([way, rank]) => `${rank} by ${WAYS[way] ?? way}`).join(", ")}` : null)));
}

/** Return what the colours of the bars stand for. */
function legend(trace) {
  const used = Object.keys(SHARES).filter(
    (name) => trace.reranked.some((each) => each.score_components[name] > 0));
  return h("ul", { class: "legend", "aria-label": "Colours of the bars" }, used.map(
    (name) => h("li", {}, h("i", { class: `arm-${name}`, "aria-hidden": "true" }), SHARES[name])));
}

/** Draw a score as a bar of what each arm adds. */
function bar(fused, most) {
  const parts = Object.entries(fused.score_components).filter(([, value]) => value > 0);
  const spoken = parts.map(([name, value]) => `${SHARES[name] ?? name} ${fixed(value)}`).join(", ");
  return h("div", { class: "bar", role: "img", "aria-label": `Score ${fixed(fused.rerank_score)}: ${spoken}` },
    parts.map(([name, value]) => {
      const piece = h("i", { class: `arm-${name}`, title: `${SHARES[name] ?? name} ${fixed(value)}` });
      piece.style.width = `${(100 * value) / most}%`;
      return piece;
    }));
}

function leftOut(bank, left, trace) {
  return section("Left out",
    h("p", { class: "quiet" }, trace.cut_off ?? `${many(left.length, "candidate")} beyond what was asked for`),
    left.length ? table("Candidates that were left out", ["Memory", "Score", "Found by"],
      left.slice(0, 50).map((each) => [
        h("a", { href: to(bank, "memory", each.node_id) }, short(each.text, 120)),
        fixed(each.rrf_score),
        Object.entries(each.source_ranks).map(([way, rank]) => `${WAYS[way] ?? way} ${rank}`).join(", "),
      ])) : null);
}

function how(trace) {
  const found = {};
  for (const each of trace.retrieval_results) {
    found[each.method_name] = (found[each.method_name] ?? 0) + each.results.length;
  }
  const window = trace.query.temporal_constraint;
  return h("details", { class: "card" }, h("summary", {}, "How it was searched"),
    h("dl", {},
      Object.entries(found).flatMap(([way, number]) => [
        h("dt", {}, `By ${WAYS[way] ?? way}`), h("dd", {}, `${count(number)} found`)]),
      window ? [h("dt", {}, "Time in the question"),
        h("dd", {}, `${moment(window.start) || "…"} – ${moment(window.end) || "…"}`)] : null,
      trace.summary.phase_metrics.flatMap((phase) => [
        h("dt", {}, phase.phase_name.replaceAll("_", " ")),
        h("dd", {}, `${fixed(1000 * phase.duration_seconds, 1)} ms`)])));
}
