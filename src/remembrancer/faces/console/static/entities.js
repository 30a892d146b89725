// Walks from entity to entity: who is mentioned together, drawn and as a list.

import { get, ofBank, part } from "./api.js";
import { h, svg } from "./dom.js";
import { day, many, short } from "./format.js";
import { placed } from "./layout.js";
import { badge, button, debounce, empty, input, page, section, to } from "./ui.js";

const MOST = 40;
const WALKED = 400;
const EDGE = 60;
const NARROW = "(max-width: 46rem)";

export async function render({ bank, rest, signal, go }) {
  const centre = rest[0] ?? null;
  const [graph, entity] = await Promise.all([
    get(ofBank(bank, "entities/graph"), { limit: centre ? WALKED : MOST }, { signal }),
    centre ? get(ofBank(bank, "entities", part(centre)), {}, { signal }) : null,
  ]);
  if (graph.nodes.length === 0) {
    return page("Entities", {}, empty("No entities yet.",
      "People, places and things are found while texts are read."));
  }
  const shown = around(graph, entity);
  const title = entity ? entity.canonical_name : "Entities";
  return page(title, {
    about: entity ? [entity.kind === "thing" ? null : entity.kind?.toLowerCase(),
      many(entity.mention_count, "mention")].filter(Boolean).join(" · ")
      : `Who and what is mentioned together; the ${shown.nodes.length} most mentioned.`,
    actions: entity ? [button("Show all", () => go(to(bank, "entities")))] : [],
  },
  h("div", { class: "walk" },
    h("div", { class: "card drawing" }, drawing(bank, shown, centre, go)),
    listing(bank, shown, entity, signal)),
  entity ? told(bank, entity) : null);
}

/** Keep the entity with those that are mentioned with it, or all where none is named. */
function around(graph, entity) {
  let nodes = graph.nodes.map((node) => node.data);
  let edges = graph.edges.map((edge) => edge.data);
  if (entity) {
    const near = edges.filter((edge) => edge.source === entity.id || edge.target === entity.id)
      .sort((a, b) => b.weight - a.weight).slice(0, MOST - 1);
    const ids = new Set([entity.id, ...near.flatMap((edge) => [edge.source, edge.target])]);
    if (!nodes.some((node) => node.id === entity.id)) {
      nodes.push({ id: entity.id, label: entity.canonical_name, mention_count: entity.mention_count });
    }
    nodes = nodes.filter((node) => ids.has(node.id));
    const weight = new Map(near.map((edge) => [
      edge.source === entity.id ? edge.target : edge.source, edge.weight]));
    nodes = nodes.map((node) => ({ ...node, together: weight.get(node.id) ?? 0 }));
    edges = edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target));
  }
  return { nodes, edges };
}

// The drawing is for the eye and the pointer; the list beside it does the same for everybody.
function drawing(bank, { nodes, edges }, centre, go) {
  const [width, height] = matchMedia(NARROW).matches ? [390, 420] : [760, 520];
  const index = new Map(nodes.map((node, at) => [node.id, at]));
  const lines = edges.map((edge) => ({
    from: index.get(edge.source), to: index.get(edge.target), weight: edge.weight,
  })).filter((line) => line.from !== undefined && line.to !== undefined);
  const middle = centre === null ? null : index.get(centre) ?? null;
  const places = placed(nodes.length, lines, middle).map(({ x, y }) => ({
    x: EDGE + x * (width - 2 * EDGE), y: EDGE / 2 + y * (height - EDGE),
  }));
  const most = Math.max(...nodes.map((node) => node.mention_count), 1);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `A drawing of ${many(nodes.length, "entity", "entities")}; the list beside it says the same` },
  svg("g", { class: "edges" }, lines.map((line) => svg("line", {
    x1: places[line.from].x, y1: places[line.from].y, x2: places[line.to].x, y2: places[line.to].y,
    "stroke-width": Math.min(1 + Math.log2(line.weight + 1), 5),
    class: middle !== null && (line.from === middle || line.to === middle) ? "near" : "",
  }))),
  svg("g", { class: "nodes" }, nodes.map((node, at) => svg("g", {
    onclick: () => go(to(bank, "entities", node.id)), class: at === middle ? "node centre" : "node",
  }, svg("circle", { cx: places[at].x, cy: places[at].y,
    r: 6 + 12 * Math.sqrt(node.mention_count / most) }),
  svg("text", { x: places[at].x, y: places[at].y - 10 - 12 * Math.sqrt(node.mention_count / most),
    "text-anchor": "middle" }, short(node.label, 22))))));
}

function listing(bank, { nodes }, entity, signal) {
  const others = nodes.filter((node) => node.id !== entity?.id)
    .sort((a, b) => (b.together ?? 0) - (a.together ?? 0) || b.mention_count - a.mention_count);
  const item = (id, name, number) => h("li", {}, h("a", { href: to(bank, "entities", id) }, name),
    h("span", { class: "quiet" }, number));
  const list = h("ul", { class: "walklist" });
  const draw = () => list.replaceChildren(...others.map((node) => item(node.id, node.label,
    entity ? `${node.together} together` : many(node.mention_count, "mention"))));
  draw();
  const find = input("search", { placeholder: "Find an entity", "aria-label": "Find an entity" });
  find.addEventListener("input", debounce(async () => {
    if (!find.value.trim()) {
      draw();
      return;
    }
    const { items } = await get(ofBank(bank, "entities"), { q: find.value, limit: 30 }, { signal });
    list.replaceChildren(...items.map((each) => item(each.id, each.canonical_name,
      many(each.mention_count, "mention"))));
  }));
  return section(entity ? "Mentioned with it" : "Most mentioned", find, list,
    others.length ? null : h("p", { class: "quiet" }, "Nothing else is mentioned with it."));
}

function told(bank, entity) {
  return section("What is said of it",
    entity.aliases.length ? h("p", {}, "Also: ", entity.aliases.map((name) => badge(name))) : null,
    h("ul", { class: "facts" }, entity.memories.map((memory) => h("li", {},
      h("a", { href: to(bank, "memory", memory.id) }, memory.text),
      h("span", { class: "quiet" }, ` ${day(memory.mentioned_at)}`)))),
    h("p", { class: "quiet" }, `First mentioned ${day(entity.first_seen)}, last ${day(entity.last_seen)}.`));
}
