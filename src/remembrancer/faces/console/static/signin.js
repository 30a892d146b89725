// Sign in: asks for an API key, which stays in this tab until it is closed.

import { key } from "./api.js";
import { h } from "./dom.js";
import { field, form, input } from "./ui.js";

export function render({ message, signedIn }) {
  const secret = input("password", { required: true,
    spellcheck: "false", placeholder: "rmb_…" });
  const wrong = h("p", { class: "wrong", role: "alert" }, message);
  return h("div", { class: "page narrow" },
    h("h1", {}, "Sign in"),
    h("p", { class: "about" }, "This server asks for an API key. Paste yours to look at the "
      + "memories that it reaches."),
    form(async () => {
      const value = secret.value.trim();
      if (!value) {
        wrong.textContent = "Paste a key first.";
        secret.focus();
        return;
      }
      key.set(value);
      await signedIn();
    },
    field("API key", secret, "It is kept in this tab alone, and gone when you close it."),
    wrong,
    h("button", { type: "submit", class: "primary" }, "Sign in")),
    h("details", {}, h("summary", {}, "Where do I get a key?"),
      h("p", {}, "On the machine where the data is:"),
      h("pre", {}, "remembrancer keys create laptop --permission read --permission write"),
      h("p", { class: "quiet" }, "or from whoever administers this server.")));
}
