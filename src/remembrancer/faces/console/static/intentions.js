// What is to be done later: what is due now, a calendar, a list; snooze, acknowledge, add.

import { get, ofBank, part, patch, post, remove } from "./api.js";
import { calendar, spanOf } from "./calendar.js";
import { h, replace } from "./dom.js";
import { ago, many, moment } from "./format.js";
import {
  ask, badge, button, empty, field, input, into, page, section, select, to, toast,
} from "./ui.js";

const MOST = 200;
const AHEAD = 60; // times of one repeat that are asked for
const REPEATS = 40; // repeats whose times are asked for
const OPEN = ["due", "leased", "snoozed"];
const SNOOZES = { 600: "10 minutes", 3600: "1 hour", 86400: "1 day", 604800: "1 week" };
const STATE_KINDS = { active: "now", proposed: "warn", paused: "past", done: "good", cancelled: "past" };

export async function render(context) {
  const { bank, me, signal, live, query } = context;
  const now = new Date();
  const view = {
    may: me.permissions.includes("write"),
    year: now.getFullYear(), month: now.getMonth(),
    focus: query.get("id"),
  };
  const due = h("div", {});
  const grid = h("div", {});
  const list = h("div", {});
  const load = () => loaded(bank, signal);
  let shown = null;
  const draw = (found) => {
    shown = found;
    context.settle(new Set(found.open.filter(ready).map((each) => each.id)));
    replace(due, dueNow(context, view, found.open, refresh));
    drawGrid();
    return listed(context, view, found, refresh);
  };
  function drawGrid() {
    replace(grid, calendar(view.year, view.month, eventsOf(bank, view, shown), (year, number) => {
      view.year = year;
      view.month = number;
      drawGrid();
      grid.querySelector("button")?.focus();
    }));
  }
  function refresh() {
    return into(list, load, draw, { quiet: true });
  }
  live.addEventListener("due", refresh, { signal });
  await into(list, load, draw);
  return page("Intentions", {
    about: "What the agent should do later: at a time, after an event, or when a topic comes up.",
    actions: view.may ? [button("Add", () => add(bank, refresh), "primary")] : [],
  }, due, grid, list);
}

const ready = (occurrence) => (occurrence.ready_at ?? occurrence.due_at) <= Date.now();

async function loaded(bank, signal) {
  const [intentions, occurrences] = await Promise.all([
    get(ofBank(bank, "intentions"), { limit: MOST }, { signal }),
    get(ofBank(bank, "occurrences"), { state: OPEN, limit: MOST }, { signal }),
  ]);
  const repeats = intentions.items.filter((each) => each.recurring && each.state === "active"
    && each.triggerType === "time_based").slice(0, REPEATS);
  const next = new Map(await Promise.all(repeats.map(async (each) => {
    const found = await get(ofBank(bank, "intentions", part(each.id), "preview"), { limit: AHEAD },
      { signal });
    return [each.id, found.next];
  })));
  return { items: intentions.items, total: intentions.total, open: occurrences.items, next };
}

function eventsOf(bank, view, { items, open, next }) {
  const { from, until } = spanOf(view.year, view.month);
  const seen = (at) => at >= from.getTime() && at < until.getTime();
  const link = (id) => `${to(bank, "intentions")}?id=${encodeURIComponent(id)}`;
  const events = open.map((each) => ({
    at: each.ready_at ?? each.due_at, text: each.intention.content, kind: "due",
    href: link(each.intention_id),
  }));
  const waiting = new Set(open.map((each) => `${each.intention_id}@${each.due_at}`));
  for (const each of items) {
    const times = next.get(each.id) ?? (each.triggerType === "time_based" && each.triggerAt
      ? [each.triggerAt] : []);
    const kind = each.state === "active" ? "" : each.state;
    if (each.state === "cancelled") continue;
    for (const at of times) {
      if (!waiting.has(`${each.id}@${at}`)) {
        events.push({ at, text: each.content, kind, href: link(each.id) });
      }
    }
  }
  return events.filter((event) => seen(event.at));
}

function dueNow(context, view, open, refresh) {
  const { bank } = context;
  const waiting = open.filter(ready);
  if (waiting.length === 0) return null;
  const answered = (each, how, body = {}) => async () => {
    await post(ofBank(bank, "occurrences", part(each.id), how), body);
    await refresh();
  };
  return section("Due now", h("ul", { class: "due" }, waiting.map((each) => {
    const later = select(SNOOZES, "3600", { "aria-label": `How long to snooze: ${each.intention.content}` });
    return h("li", {},
      h("div", {}, h("strong", {}, each.intention.content),
        h("p", { class: "quiet" }, `${moment(each.due_at)} · ${ago(each.due_at)}`,
          each.missed_count ? ` · stands for ${many(each.missed_count + 1, "time")}` : null,
          each.state === "leased" ? " · handed to an agent" : null)),
      view.may ? h("div", { class: "actions" },
        button("Acknowledge", answered(each, "ack"), "primary"),
        later,
        button("Snooze", () => answered(each, "snooze", { seconds: Number(later.value) })()),
        button("Dismiss", answered(each, "dismiss"))) : null);
  })));
}

function listed(context, view, { items, total, next }, refresh) {
  const { bank } = context;
  if (total === 0) {
    return empty("Nothing is planned.", "Say “remind me to …” in what is retained, or add one here.");
  }
  const made = items.map((each) => {
    const node = h("li", { class: `intention ${each.state}`, id: `i-${each.id}` },
      h("div", { class: "row between" },
        h("div", {},
          h("strong", {}, each.content), " ", badge(each.state, STATE_KINDS[each.state]),
          each.importance >= 0.8 ? badge("important", "warn") : null,
          h("p", { class: "quiet" }, trigger(each)),
          each.sourceTraceId ? h("p", {}, h("a", { href: to(bank, "memory", each.sourceTraceId) },
            "Read from a memory")) : null),
        view.may ? h("div", { class: "actions" }, changes(bank, each, refresh)) : null),
      next.has(each.id) ? h("details", { open: each.id === view.focus }, h("summary", {}, "Next times"),
        h("ul", { class: "times" }, next.get(each.id).slice(0, 8).map(
          (at) => h("li", {}, moment(at))))) : null);
    if (each.id === view.focus) {
      node.classList.add("focused");
      requestAnimationFrame(() => node.scrollIntoView({ block: "center" }));
    }
    return node;
  });
  return section(`All of them (${total})`, h("ul", { class: "intentions" }, made),
    total > items.length ? h("p", { class: "quiet" }, `The first ${items.length} are shown.`) : null);
}

function trigger(each) {
  const repeat = each.recurrence;
  if (repeat) {
    const rule = repeat.rrule ?? repeat.cron ?? (repeat.every ? `every ${repeat.every} s` : "on dates");
    return `${rule}${each.zone ? ` (${each.zone})` : ""} · next ${moment(each.nextDue) || "–"}`;
  }
  switch (each.triggerType) {
    case "time_based":
      return each.triggerAt ? `at ${moment(each.triggerAt)} · ${ago(each.triggerAt)}` : "at any check";
    case "event_based":
      return `after the event ${each.triggerEvent}`;
    case "context_based":
      return `when this is talked about: ${each.cueText ?? "a vector"}`;
    default:
      return "when its conditions hold";
  }
}

function changes(bank, each, refresh) {
  const path = ofBank(bank, "intentions", part(each.id));
  const change = (text, state) => button(text, async () => {
    await patch(path, { state });
    await refresh();
  }, "small", { "aria-label": `${text}: ${each.content}` });
  const found = [];
  if (each.state === "proposed") found.push(change("Confirm", "active"));
  if (each.state === "active") found.push(change("Pause", "paused"));
  if (each.state === "paused") found.push(change("Resume", "active"));
  if (each.state !== "cancelled" && each.state !== "done") found.push(change("Cancel", "cancelled"));
  found.push(button("Erase", async () => {
    const done = await ask("Erase this intention?", h("p", {}, each.content),
      { yes: "Erase", danger: true, check: () => remove(path) });
    if (done) await refresh();
  }, "small", { "aria-label": `Erase: ${each.content}` }));
  return found;
}

async function add(bank, refresh) {
  const content = input("text", {});
  const kind = select({ at: "At a time", event: "After an event", topic: "When a topic comes up" }, "at");
  const value = input("text", {});
  const important = input("checkbox");
  const told = field("When", value, "Such as “friday 9:00”, “in 20 minutes”, “every monday at 8”.");
  const labels = {
    at: ["When", "Such as “friday 9:00”, “in 20 minutes”, “every monday at 8”."],
    event: ["Event", "Its name, as your program tells it."],
    topic: ["Topic", "What has to be talked about."],
  };
  kind.addEventListener("change", () => {
    const [label, hint] = labels[kind.value];
    told.querySelector("label").textContent = label;
    told.querySelector(".hint").textContent = hint;
  });
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const done = await ask("Add an intention",
    [field("What is to be done", content), field("It waits for", kind), told,
      h("label", { class: "check" }, important, " Important")],
    { yes: "Add", check: async () => {
      const waits = { at: { at: value.value, zone }, event: { triggerEvent: value.value },
        topic: { cueText: value.value } };
      await post(ofBank(bank, "intentions"), { content: content.value,
        importance: important.checked ? 0.9 : 0.5, ...waits[kind.value] });
    } });
  if (!done) return;
  toast("Added.");
  await refresh();
}
