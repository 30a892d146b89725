// The documents of a bank; upload of files, with progress until they are read.

import { get, ofBank, part, upload } from "./api.js";
import { h, replace } from "./dom.js";
import { ago, count, many, moment, percent } from "./format.js";
import { badge, debounce, empty, field, input, into, page, pager, section, table, to }
  from "./ui.js";

const LIMIT = 50;
const LOOK_MS = 700;
const MOST_FILES = 10;

export async function render({ bank, me, signal }) {
  const place = h("div", {});
  const search = input("search", {});
  let offset = 0;
  const load = () => get(ofBank(bank, "documents"), { q: search.value, limit: LIMIT, offset }, { signal });
  const refresh = (options = { quiet: true }) => into(place, load, draw, options);
  search.addEventListener("input", debounce(() => {
    offset = 0;
    refresh();
  }));

  function draw({ items, total }) {
    if (total === 0) {
      return search.value ? empty("No document has that name.", "Try a part of it.")
        : empty("No documents yet.", "Upload a text, Markdown, HTML, JSON or CSV file.");
    }
    return [
      table("Documents", ["Name", "Characters", "Memories", "Tags", "Updated"], items.map((each) => [
        h("a", { href: to(bank, "document", each.id) }, each.id),
        count(each.text_length), count(each.memory_unit_count),
        each.tags.map((tag) => badge(`#${tag}`, "tag")),
        h("span", { title: moment(each.updated_at) }, ago(each.updated_at)),
      ])),
      pager(total, LIMIT, offset, (next) => {
        offset = next;
        refresh();
      }),
    ];
  }

  await refresh({});
  return page("Documents", { about: "What was handed in, verbatim." },
    me.permissions.includes("write") ? uploader(bank, signal, refresh) : null,
    h("div", { class: "filters" }, field("Name holds", search)), place);
}

function uploader(bank, signal, refresh) {
  const files = input("file", { multiple: true });
  const list = h("ul", { class: "uploads", "aria-live": "polite" });
  const start = async () => {
    const chosen = [...files.files].slice(0, MOST_FILES);
    if (chosen.length === 0) return;
    files.value = "";
    await send(bank, chosen, list, signal);
    await refresh();
  };
  files.addEventListener("change", start);
  const zone = h("div", { class: "drop" },
    field("Choose files, or drop them here", files,
      `Text, Markdown, HTML, JSON, CSV; up to ${MOST_FILES} at once. A document of the same name is replaced.`));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    files.files = event.dataTransfer.files;
    start();
  });
  return section("Upload", zone, list);
}

async function send(bank, files, list, signal) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Upload" });
  const say = h("span", { class: "quiet" }, "sending");
  const row = h("li", {}, h("strong", {}, files.map((file) => file.name).join(", ")), " ", bar, " ", say);
  list.prepend(row);
  try {
    const { operation_ids: ids } = await upload(ofBank(bank, "files/retain"), files, (share) => {
      bar.value = share;
      say.textContent = share < 1 ? `sending, ${percent(share)}` : "being read";
    });
    bar.removeAttribute("value");
    say.textContent = "being read";
    const ends = await Promise.all(ids.map((id) => ended(bank, id, signal, say)));
    bar.remove();
    const failed = ends.filter((each) => each.status !== "completed");
    const made = ends.reduce((sum, each) => sum + (each.result_metadata?.unit_ids_count ?? 0), 0);
    replace(say, failed.length
      ? badge(failed[0].error_message ?? failed[0].status, "bad")
      : badge(made ? `read: ${many(made, "memory", "memories")}` : "read", "good"));
  } catch (error) {
    if (error.name === "AbortError") return;
    bar.remove();
    replace(say, badge(error.message, "bad"));
  }
}

/** Wait until an operation has ended. */
async function ended(bank, id, signal, say) {
  while (true) {
    const found = await get(ofBank(bank, "operations", part(id)), {}, { signal });
    if (found.status !== "pending" && found.status !== "processing") return found;
    const told = found.progress;
    if (told?.total) say.textContent = `${told.stage ?? "being read"}: ${told.processed} of ${told.total}`;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
