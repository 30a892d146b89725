// Starts the console: who is here, which page is shown, what is always in view.

import { follow, get, key, ofBank } from "./api.js";
import { h, replace } from "./dom.js";
import { button, failure, loading, toast, to } from "./ui.js";
import * as signin from "./signin.js";

const LOADERS = {
  banks: () => import("./banks.js"),
  keys: () => import("./keys.js"),
  policy: () => import("./policy.js"),
};
const BANK_PAGES = {
  timeline: ["Timeline", () => import("./timeline.js")],
  search: ["Search", () => import("./search.js")],
  prime: ["Prime", () => import("./prime.js")],
  intentions: ["Intentions", () => import("./intentions.js")],
  entities: ["Entities", () => import("./entities.js")],
  documents: ["Documents", () => import("./documents.js")],
  operations: ["Operations", () => import("./operations.js")],
};
const HIDDEN_PAGES = {
  memory: () => import("./memory.js"),
  document: () => import("./document.js"),
};
const ADMIN_PAGES = { keys: "API keys", policy: "Forgetting policy" };

const parts = {
  top: document.getElementById("top"),
  side: document.getElementById("side"),
  main: document.getElementById("main"),
};
const WAITED_MS = 3000; // what has been due before the bank was opened comes at once, unannounced
const live = new EventTarget();
const state = { me: null, bank: null, opened: 0, stop: null, shown: null, due: new Map(), connected: false };

/** What a page may use. */
function context(route) {
  return { ...route, me: state.me, live, signal: state.shown.signal, go, show, settle };
}

/** Tell which occurrences still wait: others may have answered some of those that were told. */
function settle(waiting) {
  for (const id of state.due.keys()) if (!waiting.has(id)) state.due.delete(id);
  drawSide();
}

function go(path) {
  if (location.hash === path) show();
  else location.hash = path;
}

function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const names = path.split("/").filter(Boolean).map(decoded);
  const found = { query: new URLSearchParams(query) };
  if (names[0] === "b" && names[1]) {
    return { ...found, bank: names[1], page: names[2] ?? "timeline", rest: names.slice(3) };
  }
  return { ...found, bank: null, page: names[0] ?? "banks", rest: names.slice(1) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  state.shown?.abort();
  state.shown = new AbortController();
  const { signal } = state.shown;
  const route = routeOf(location.hash);
  if (state.me === null && !(await enter())) return;
  if (signal.aborted) return;
  openBank(route.bank);
  drawTop(route);
  drawSide(route);
  const loader = route.bank === null
    ? LOADERS[route.page]
    : BANK_PAGES[route.page]?.[1] ?? HIDDEN_PAGES[route.page];
  if (!loader) {
    replace(parts.main, failure({ message: "There is no such page here.", status: 404 }));
    return;
  }
  replace(parts.main, loading());
  try {
    const { render } = await loader();
    const node = await render(context(route));
    if (signal.aborted) return;
    replace(parts.main, node);
    document.title = [node.querySelector("h1")?.textContent, route.bank, "Remembrancer"]
      .filter(Boolean).join(" · ");
    scrollTo(0, 0);
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted || state.me === null) return;
    replace(parts.main, failure(error, show));
  }
}

/** Find out who is here; without a valid key, ask for one. */
async function enter(message = null) {
  try {
    state.me = await get("v1/auth/whoami");
    return true;
  } catch (error) {
    if (error.status !== 401) {
      replace(parts.main, failure(error, show));
      return false;
    }
    leave(key.get() ? message ?? error.message : null);
    return false;
  }
}

function leave(message) {
  key.clear();
  state.me = null;
  openBank(null);
  drawTop({ bank: null });
  parts.side.hidden = true;
  replace(parts.main, signin.render({
    message,
    signedIn: async () => {
      if (await enter()) show();
    },
  }));
}

/** Follow what falls due in the bank that is looked at. */
function openBank(bank) {
  if (bank === state.bank) return;
  state.bank = bank;
  state.opened = Date.now();
  state.due.clear();
  connect();
}

/** Follow the bank's stream while the tab is seen: a browser allows a server few connections. */
function connect() {
  state.stop?.();
  state.stop = null;
  state.connected = false;
  if (state.bank === null || document.visibilityState === "hidden") return;
  state.stop = follow(ofBank(state.bank, "intentions/stream"), (event) => {
    const told = event.data.data;
    const fresh = !state.due.has(told.occurrence_id);
    state.due.set(told.occurrence_id, told);
    if (fresh && Date.now() - state.opened > WAITED_MS) toast(`Due now: ${told.content}`);
    drawSide();
    live.dispatchEvent(new CustomEvent("due", { detail: told }));
  }, (connected) => {
    state.connected = connected;
    drawTop();
  });
}

let lastRoute = { bank: null, page: "" };

function drawTop(route = lastRoute) {
  lastRoute = { ...lastRoute, ...route };
  const { me } = state;
  const name = me?.authenticated ? me.name : me ? "no key needed" : null;
  replace(parts.top,
    h("a", { class: "brand", href: "#/banks" },
      h("span", { class: "sign", "aria-hidden": "true" }, "R"),
      h("span", { class: "word" }, "Remembrancer")),
    lastRoute.bank === null ? null : h("span", { class: "crumb" },
      h("span", { "aria-hidden": "true" }, "/"),
      h("a", { href: to(lastRoute.bank, "timeline") }, lastRoute.bank)),
    h("span", { class: "gap" }),
    lastRoute.bank === null ? null : h("span", {
      class: `live ${state.connected ? "on" : ""}`,
      title: state.connected ? "What falls due is shown at once" : "Not connected to live updates",
    }, state.connected ? "Live" : "Offline"),
    name ? h("span", { class: "who" }, name) : null,
    button([h("span", { class: "word" }, "Theme: "), themeName()], changeTheme, "plain"),
    me?.authenticated ? button("Sign out", () => leave(null), "plain") : null);
}

function drawSide(route = lastRoute) {
  lastRoute = { ...lastRoute, ...route };
  const { bank, page } = lastRoute;
  const here = page === "memory" ? "timeline" : page === "document" ? "documents" : page;
  const item = (path, text, name, extra = null) => h("li", {}, h("a", {
    href: path, "aria-current": name === here ? "page" : null,
  }, text, extra));
  const due = state.due.size
    ? h("span", { class: "count" }, state.due.size, h("span", { class: "hidden" }, " due"))
    : null;
  const admin = state.me?.permissions.includes("admin");
  parts.side.hidden = state.me === null;
  replace(parts.side,
    h("ul", {},
      bank === null ? null : Object.entries(BANK_PAGES).map(([name, [title]]) => item(
        to(bank, name), title, name, name === "intentions" ? due : null))),
    h("ul", { class: "wide" },
      item("#/banks", bank === null ? "Banks" : "All banks", "banks"),
      admin ? Object.entries(ADMIN_PAGES).map(([name, title]) => item(`#/${name}`, title, name))
        : null));
  const current = parts.side.querySelector("[aria-current]");
  if (current) parts.side.scrollLeft = current.offsetLeft - parts.side.clientWidth / 3;
}

const THEMES = { "": "auto", light: "light", dark: "dark" };

function themeName() {
  return THEMES[document.documentElement.dataset.theme ?? ""];
}

function changeTheme() {
  const names = Object.keys(THEMES);
  const now = document.documentElement.dataset.theme ?? "";
  const next = names[(names.indexOf(now) + 1) % names.length];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  try {
    localStorage.setItem("remembrancer.theme", next);
  } catch {
    // storage is turned off: the choice lasts as long as the page
  }
  drawTop();
}

document.addEventListener("visibilitychange", () => {
  connect();
  drawTop();
});
addEventListener("hashchange", () => {
  show().then(() => parts.main.focus({ preventScroll: true }));
});
addEventListener("signed-out", (event) => {
  if (state.me !== null) leave(event.detail);
});
document.getElementById("skip").addEventListener("click", () => parts.main.focus());
show();
