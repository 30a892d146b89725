// Lists the banks that the key reaches; makes new ones.

import { get, ofBank, put } from "./api.js";
import { h } from "./dom.js";
import { ago, count, moment } from "./format.js";
import { ask, button, debounce, empty, field, input, into, page, pager, to } from "./ui.js";

const LIMIT = 50;

export async function render({ me, signal, go }) {
  const place = h("div", {});
  const search = input("search", { placeholder: "Find a bank", "aria-label": "Find a bank" });
  let offset = 0;
  const load = () => get("v1/default/banks", { q: search.value, limit: LIMIT, offset }, { signal });
  const refresh = () => into(place, load, draw);
  const turn = (next) => {
    offset = next;
    refresh();
  };
  search.addEventListener("input", debounce(() => turn(0)));

  function draw({ banks, total }) {
    if (total === 0) {
      return search.value
        ? empty("No bank has that name.", "Try a part of it.")
        : empty("No banks yet.", "A bank comes into being when something is retained into it, or "
          + "when you make one here.");
    }
    return [h("ul", { class: "cards" }, banks.map(card)), pager(total, LIMIT, offset, turn)];
  }

  async function make() {
    const name = input("text", { maxlength: 256 });
    const mission = h("textarea", { rows: 3 });
    const made = await ask("New bank", [
      field("Name", name, "An agent or a user, such as customer-42."),
      field("Mission", mission, "What it is for. May be left empty."),
    ], { yes: "Make bank", check: async () => {
      if (!name.value.trim()) throw new Error("Give it a name.");
      await put(ofBank(name.value.trim()), { mission: mission.value || null });
    } });
    if (made) go(to(name.value.trim(), "documents"));
  }

  await refresh();
  const actions = me.permissions.includes("write") ? [button("New bank", make, "primary")] : [];
  return page("Banks", { about: "A bank is one mind: the memories of one agent or user.", actions },
    h("div", { class: "filters" }, search), place);
}

function card(bank) {
  const seen = bank.last_write_at ?? bank.updated_at;
  return h("li", { class: "card" },
    h("h2", {}, h("a", { href: to(bank.bank_id, "timeline") }, bank.name || bank.bank_id)),
    bank.name && bank.name !== bank.bank_id ? h("p", { class: "quiet" }, bank.bank_id) : null,
    bank.mission ? h("p", { class: "clamp" }, bank.mission) : null,
    h("p", { class: "quiet" }, `${count(bank.fact_count)} stored · `,
      h("span", { title: moment(seen) }, `last written ${ago(seen)}`)));
}
