// Marks spans of a text. Places are counted in characters as the server counts them (code points).

import { h } from "./dom.js";

/**
 * Return a text as nodes with its spans marked.
 * Spans are {start, end, label, current}; where they overlap, the first one counts.
 */
export function marked(text, spans) {
  const points = Array.from(text);
  const owner = new Array(points.length).fill(null);
  for (const span of spans) {
    for (let at = Math.max(0, span.start); at < Math.min(span.end, points.length); at += 1) {
      owner[at] ??= span;
    }
  }
  const nodes = [];
  for (let from = 0; from < points.length;) {
    let until = from + 1;
    while (until < points.length && owner[until] === owner[from]) until += 1;
    const piece = points.slice(from, until).join("");
    const span = owner[from];
    nodes.push(span
      ? h("mark", { class: span.kind ?? "", title: span.label ?? null }, piece)
      : piece);
    from = until;
  }
  return nodes;
}
