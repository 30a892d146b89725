// A month as a grid of days; on a narrow screen it reads as an agenda of the days that hold something.

import { h } from "./dom.js";
import { clock, dayKey, longDay, month } from "./format.js";
import { button } from "./ui.js";

const WEEK = 7;
const names = new Intl.DateTimeFormat(undefined, { weekday: "short" });

/** Return the first and the last moment of what a month's grid shows. */
export function spanOf(year, number) {
  const first = new Date(year, number, 1);
  const lead = (first.getDay() + 6) % WEEK; // weeks begin on Monday
  const from = new Date(year, number, 1 - lead);
  const last = new Date(year, number + 1, 0);
  const tail = (WEEK - 1) - ((last.getDay() + 6) % WEEK);
  return { from, until: new Date(year, number + 1, tail + 1) };
}

/** Draw a month. Events are {at: ms, text, kind, href}; `turn` gets the year and month to show. */
export function calendar(year, number, events, turn) {
  const { from, until } = spanOf(year, number);
  const byDay = new Map();
  for (const event of [...events].sort((a, b) => a.at - b.at)) {
    const day = dayKey(event.at);
    byDay.set(day, [...(byDay.get(day) ?? []), event]);
  }
  const weeks = [];
  for (let day = new Date(from); day < until;) {
    const week = [];
    for (let n = 0; n < WEEK; n += 1) {
      week.push(cell(new Date(day), number, byDay.get(dayKey(day)) ?? []));
      day.setDate(day.getDate() + 1);
    }
    weeks.push(h("tr", {}, week));
  }
  const heads = Array.from({ length: WEEK }, (_, n) => names.format(new Date(2024, 0, 1 + n)));
  const step = (by) => {
    const next = new Date(year, number + by, 1);
    turn(next.getFullYear(), next.getMonth());
  };
  const now = new Date();
  return h("section", { class: "card calendar", "aria-label": "Calendar" },
    h("div", { class: "row between" },
      h("h2", { "aria-live": "polite" }, month(new Date(year, number, 1))),
      h("div", { class: "actions" },
        button("‹", () => step(-1), "", { "aria-label": "Month before" }),
        button("Today", () => turn(now.getFullYear(), now.getMonth())),
        button("›", () => step(1), "", { "aria-label": "Month after" }))),
    h("table", {}, h("caption", { class: "hidden" }, `What is due in ${month(new Date(year, number, 1))}`),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, weeks)),
    byDay.size ? null : h("p", { class: "quiet agenda-empty" }, "Nothing falls due in this month."));
}

function cell(day, number, events) {
  const today = dayKey(day) === dayKey(new Date());
  const kind = [
    day.getMonth() === number ? "" : "outside", today ? "today" : "", events.length ? "" : "free",
  ].join(" ");
  return h("td", { class: kind, "aria-current": today ? "date" : null },
    h("time", { datetime: dayKey(day) },
      h("span", { class: "number", "aria-hidden": "true" }, day.getDate()),
      h("span", { class: "spelled" }, longDay(day))),
    events.length ? h("ul", {}, events.map((event) => h("li", { class: event.kind ?? "" },
      h("span", { class: "at" }, clock(event.at)), " ",
      event.href ? h("a", { href: event.href, title: event.text }, event.text) : event.text))) : null);
}
