// Work in the background: how far it is, what failed; cancel, retry, drop.

import { get, ofBank, part, post, remove } from "./api.js";
import { h } from "./dom.js";
import { ago, moment } from "./format.js";
import { badge, button, empty, field, into, page, pager, select, table, to } from "./ui.js";

const LIMIT = 20;
const LOOK_MS = 2000;
const STATES = {
  "": "All", pending: "Waiting", processing: "Running", completed: "Done", failed: "Failed",
  cancelled: "Cancelled",
};
const KINDS = { pending: "", processing: "now", completed: "good", failed: "bad", cancelled: "past" };
const running = (each) => each.status === "pending" || each.status === "processing";

export async function render({ bank, me, signal }) {
  const place = h("div", {});
  const states = select(STATES, "");
  const may = me.permissions.includes("write");
  let offset = 0;
  let timer = null;
  const load = () => get(ofBank(bank, "operations"), { status: states.value, limit: LIMIT, offset },
    { signal });
  const refresh = async (options = { quiet: true }) => {
    clearTimeout(timer);
    await into(place, load, draw, options);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  states.addEventListener("change", () => {
    offset = 0;
    refresh();
  });

  function draw({ operations, total }) {
    if (!signal.aborted && operations.some(running)) timer = setTimeout(refresh, LOOK_MS);
    if (total === 0) {
      return empty("No operations.", "What is retained in the background, uploaded, exported or read "
        + "again is listed here.");
    }
    return [
      table("Operations", ["What", "State", "Queued", ""], operations.map((each) => [
        [h("strong", {}, each.task_type.replaceAll("_", " ")), " ",
          each.filename ?? (each.document_id
            ? h("a", { href: to(bank, "document", each.document_id) }, each.document_id) : null)],
        [badge(STATES[each.status] ?? each.status, KINDS[each.status]), progress(each),
          each.error_message ? h("p", { class: "wrong" }, each.error_message) : null,
          each.next_retry_at ? h("p", { class: "quiet" }, `tried again ${ago(each.next_retry_at)}`) : null],
        h("span", { title: moment(each.created_at) }, ago(each.created_at)),
        may ? h("span", { class: "actions" }, actions(each)) : null,
      ])),
      pager(total, LIMIT, offset, (next) => {
        offset = next;
        refresh();
      }),
    ];
  }

  function actions(each) {
    const path = ofBank(bank, "operations", part(each.id));
    const of = { "aria-describedby": null };
    const act = (name, work) => button(name, async () => {
      await work();
      await refresh();
    }, "small", of);
    if (running(each)) return [act("Cancel", () => remove(path))];
    return [
      each.status === "completed" ? null : act("Retry", () => post(`${path}/retry`)),
      act("Drop", () => remove(`${path}/delete`)),
    ];
  }

  await refresh({});
  return page("Operations", { about: "Work that goes on in the background." },
    h("div", { class: "filters" }, field("Show", states)), place);
}

/** Return how far an operation is. */
export function progress({ progress: told, status }) {
  if (status !== "processing" || !told) return null;
  const known = told.total > 0;
  return h("p", { class: "quiet" },
    h("progress", { max: known ? told.total : null, value: known ? told.processed : null,
      "aria-label": "Progress" }),
    ` ${told.stage ?? ""} ${known ? `${told.processed} of ${told.total}` : ""}`);
}
