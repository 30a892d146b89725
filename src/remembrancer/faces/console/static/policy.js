// What a tenant forgets by itself: decay, age, number; the last run.

import { get, post, put } from "./api.js";
import { h } from "./dom.js";
import { count, moment } from "./format.js";
import { badge, button, empty, field, form, input, into, page, section, table, toast } from "./ui.js";

const PATH = "v1/policy";
const FIELDS = {
  auto_forget_threshold: ["Forget what has decayed below", "0 to 2; 0: nothing. It acts from when it is set.", 0.01],
  decay_half_life_days: ["Half-life in days", "In this time an unused memory loses half its worth.", 1],
  max_age_days: ["Forget what is older than, in days", "0: no bound.", 1],
  max_memories: ["Memories of a bank at most", "What has decayed most goes first; 0: no bound.", 1],
};

export async function render({ signal }) {
  const place = h("div", {});
  const refresh = (options = { quiet: true }) => into(place, () => get(PATH, {}, { signal }), draw,
    options);

  function draw(policy) {
    const controls = Object.fromEntries(Object.entries(FIELDS).map(([name, [, , step]]) => [
      name, input("number", { min: 0, step: step === 0.01 ? "any" : step, value: policy[name] })]));
    return [
      h("p", { class: "note" }, policy.auto_forget
        ? "Memories are forgotten by this policy, once an hour."
        : "Nothing is forgotten by itself: no policy has been set."),
      section("Policy", form(async () => {
        await put(PATH, Object.fromEntries(Object.entries(controls).map(
          ([name, control]) => [name, Number(control.value)])));
        toast("Saved.");
        await refresh();
      }, Object.entries(FIELDS).map(([name, [label, hint]]) => field(label, controls[name], hint)),
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Save"),
        button("Run now", async () => {
          await post(`${PATH}/run`);
          toast("A run is queued.");
          await refresh();
        })))),
      lastRun(policy), receipts(signal),
    ];
  }

  await refresh({});
  return page("Forgetting policy", {
    about: "Pinned memories, and those that an open intention was read from, are spared.",
  }, place);
}

function lastRun({ running, last_run: run }) {
  if (!run) return running ? section("Last run", badge("running", "now")) : null;
  const at = (us) => moment(new Date(us / 1000));
  return section("Last run", running ? badge("another one is running", "now") : null, h("dl", {},
    h("dt", {}, "Ended"), h("dd", {}, at(run.ended_at)),
    h("dt", {}, "Looked at"), h("dd", {}, count(run.examined_count)),
    h("dt", {}, "Forgotten"), h("dd", {}, `${count(run.forgotten_count)}: `
      + `${count(run.below_threshold_count)} decayed, ${count(run.over_age_count)} too old, `
      + `${count(run.over_count_count)} too many`)));
}

function receipts(signal) {
  const bank = input("search", {});
  const place = h("div", {});
  return section("Receipts", form(async () => {
    if (!bank.value.trim()) return;
    await into(place, () => get(`${PATH}/receipts`, { entity_id: bank.value.trim() }, { signal }),
      ({ receipts: found }) => (found.length === 0
        ? empty("The policy has forgotten nothing there.", "Receipts tell ids and reasons, no texts.")
        : table("What was forgotten", ["When", "Reason", "Memory"], found.flatMap((each) => (
          each.memories.map((memory) => [moment(new Date(each.forgotten_at / 1000)),
            memory.reason.replaceAll("_", " "), h("code", {}, memory.memory_id)]))))));
  }, h("div", { class: "row" }, field("Bank", bank), h("button", { type: "submit" }, "Show receipts"))),
  place);
}
