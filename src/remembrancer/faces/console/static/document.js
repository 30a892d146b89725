// One document: its text, the memories made from it; read again, forget.

import { get, ofBank, part, post, remove } from "./api.js";
import { h } from "./dom.js";
import { count, many, moment } from "./format.js";
import { ask, badge, button, page, section, to, toast } from "./ui.js";

const MOST = 100;

export async function render({ bank, rest, me, signal, go }) {
  const name = rest.join("/");
  const path = ofBank(bank, "documents", part(name));
  const [document, memories] = await Promise.all([
    get(path, {}, { signal }),
    get(ofBank(bank, "memories/list"), { document_id: name, state: "all", limit: MOST }, { signal }),
  ]);
  const actions = me.permissions.includes("write") ? [
    button("Read again", async () => {
      await post(`${path}/reprocess`);
      toast("It is being read again.");
      go(to(bank, "operations"));
    }),
    button("Forget", async () => {
      const done = await ask("Forget this document?", h("p", {},
        `${name} and ${many(document.memory_unit_count, "memory", "memories")} made from it are erased. `
        + "This cannot be undone."), { yes: "Forget for good", danger: true, check: () => remove(path) });
      if (!done) return;
      toast("Forgotten.");
      go(to(bank, "documents"));
    }, "danger"),
  ] : [];
  return page(name, {
    about: `${count(document.text_length)} characters · updated ${moment(document.updated_at)}`, actions,
  },
  document.tags.length ? h("p", { class: "meta" }, document.tags.map((tag) => badge(`#${tag}`, "tag"))) : null,
  h("div", { class: "columns" },
    section("Text", h("pre", { class: "exact wrap", tabindex: "0", "aria-label": "The document's text" },
      document.original_text ?? "Its text is not kept.")),
    section(`Memories (${memories.total})`, h("ul", { class: "facts" }, memories.items.toReversed().map(
      (memory) => h("li", { class: memory.state === "valid" ? "" : "ended" },
        h("a", { href: to(bank, "memory", memory.id) }, memory.text)))),
    memories.total > MOST ? h("p", { class: "quiet" }, `The latest ${MOST} are shown.`) : null)));
}
