// Parts that pages are made of: states, badges, fields, dialogs, notices.

import { h, replace } from "./dom.js";

/** Return a page: its heading, what it is for, its actions, its content. */
export function page(title, { about = null, actions = [] } = {}, ...content) {
  return h("div", { class: "page" },
    h("div", { class: "head" },
      h("div", {}, h("h1", {}, title), about ? h("p", { class: "about" }, about) : null),
      actions.length ? h("div", { class: "actions" }, actions) : null),
    content);
}

export function section(title, ...content) {
  const id = unique("section");
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), content);
}

export function loading(what = "Loading") {
  return h("div", { class: "state", role: "status" },
    h("div", { class: "bars", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("p", { class: "quiet" }, `${what} …`));
}

export function empty(title, hint, action = null) {
  return h("div", { class: "state" }, h("p", { class: "lead" }, title),
    hint ? h("p", { class: "quiet" }, hint) : null, action);
}

const HINTS = {
  0: "Start it again, then try once more. Nothing that was answered is lost.",
  401: "Sign in again with a key that is still valid.",
  403: "This key may not do that. A key with more permissions can.",
  404: "It may have been forgotten since, or the address is wrong.",
  429: "Wait a moment; too much was asked at once.",
  503: "The server is busy. It usually helps to wait a few seconds.",
};

export function failure(error, again = null) {
  return h("div", { class: "state error", role: "alert" },
    h("p", { class: "lead" }, error.message),
    HINTS[error.status] ? h("p", { class: "quiet" }, HINTS[error.status]) : null,
    again ? button("Try again", again) : null);
}

/** Fill a place with what `load` brings, drawn by `draw`; show waiting and failing, too. */
export async function into(place, load, draw, { quiet = false, what } = {}) {
  place.setAttribute("aria-busy", "true");
  if (!quiet) replace(place, loading(what));
  try {
    const found = await load();
    replace(place, draw(found));
  } catch (error) {
    if (error.name !== "AbortError") {
      replace(place, failure(error, () => into(place, load, draw, { what })));
    }
  } finally {
    place.removeAttribute("aria-busy");
  }
  return place;
}

export function badge(text, kind = "") {
  return h("span", { class: `badge ${kind}` }, text);
}

export function button(text, onclick, kind = "", more = {}) {
  return h("button", { type: "button", class: kind, onclick: guarded(onclick), ...more }, text);
}

/** Let a button's work run once at a time, and tell what went wrong. */
export function guarded(work) {
  return async (event) => {
    const pressed = event?.currentTarget;
    if (pressed?.getAttribute("aria-disabled") === "true") return;
    pressed?.setAttribute("aria-disabled", "true");
    try {
      await work(event);
    } catch (error) {
      if (error.name !== "AbortError") toast(error.message, "bad");
    } finally {
      pressed?.removeAttribute("aria-disabled");
      if (pressed && !pressed.isConnected && document.activeElement === document.body) {
        document.getElementById("main").focus({ preventScroll: true }); // its button is gone
      }
    }
  };
}

/** Return a labelled control; `hint` stands below it. */
export function field(label, control, hint = null) {
  control.id ||= unique("field");
  if (hint) control.setAttribute("aria-describedby", `${control.id}-hint`);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control,
    hint ? h("p", { class: "hint", id: `${control.id}-hint` }, hint) : null);
}

export function input(type, props = {}) {
  return h("input", { type, autocomplete: "off", ...props });
}

export function select(options, value, props = {}) {
  const made = h("select", props, Object.entries(options).map(
    ([each, text]) => h("option", { value: each }, text)));
  made.value = value;
  return made;
}

export function form(onsubmit, ...content) {
  return h("form", { novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    return guarded(onsubmit)({ currentTarget: event.submitter });
  } }, content);
}

/** Show a notice for some seconds; a bad one until it is closed. */
export function toast(text, kind = "good") {
  const note = h("div", { class: `toast ${kind}` }, h("p", {}, text),
    h("button", { type: "button", class: "plain", "aria-label": "Close this notice",
      onclick: () => note.remove() }, "×"));
  document.getElementById("toasts").append(note);
  if (kind !== "bad") setTimeout(() => note.remove(), 6000);
}

/**
 * Ask in a dialog. `content` may hold controls; resolves to true when it was confirmed.
 * `check` may refuse by throwing.
 */
export function ask(title, content, { yes = "OK", danger = false, check = null } = {}) {
  return new Promise((resolve) => {
    const id = unique("dialog");
    const wrong = h("p", { class: "wrong", role: "alert" });
    const confirm = async () => {
      try {
        if (check) await check();
        dialog.close("yes");
      } catch (error) {
        replace(wrong, error.message);
      }
    };
    const dialog = h("dialog", { "aria-labelledby": id },
      form(confirm, h("h2", { id }, title), content, wrong,
        h("div", { class: "actions" }, button("Cancel", () => dialog.close("no")),
          h("button", { type: "submit", class: danger ? "danger" : "primary" }, yes))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Return buttons to the pages before and after; null when there is one page only. */
export function pager(total, limit, offset, turn) {
  if (total <= limit) return null;
  const last = Math.min(offset + limit, total);
  return h("nav", { class: "pager", "aria-label": "Pages" },
    button("Newer", () => turn(Math.max(0, offset - limit)), "", { disabled: offset === 0 }),
    h("span", { class: "quiet" }, `${offset + 1}–${last} of ${total}`),
    button("Older", () => turn(offset + limit), "", { disabled: last >= total }));
}

export function table(caption, heads, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    h("table", {}, h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, at) =>
        h("td", { data: { head: heads[at] } }, cell)))))));
}

export function link(path, ...content) {
  return h("a", { href: path }, content);
}

/** Return the address of a page of a bank. */
export function to(bank, ...parts) {
  return ["#/b", bank, ...parts].map((each, at) => (at ? encodeURIComponent(each) : each)).join("/");
}

let numbered = 0;
export function unique(name) {
  numbered += 1;
  return `${name}-${numbered}`;
}

export function debounce(work, ms = 300) {
  let timer = null;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), ms);
  };
}
