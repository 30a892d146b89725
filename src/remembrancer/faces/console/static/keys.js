// API keys of a tenant, for administrators: make, rotate, revoke.

import { get, part, post, remove } from "./api.js";
import { h } from "./dom.js";
import { ago, moment } from "./format.js";
import { ask, badge, button, empty, field, input, into, page, table, toast } from "./ui.js";

const KEYS = "v1/keys";
const PERMISSIONS = {
  read: "Read: recall, prime, lists", write: "Write: retain, correct, forget, remind",
  admin: "Administer: keys, settings, policy", cross_tenant: "Reach other tenants",
};

export async function render({ me, signal }) {
  const place = h("div", {});
  const refresh = (options = { quiet: true }) => into(place,
    () => get(KEYS, {}, { signal }), draw, options);

  function draw({ keys }) {
    return table("API keys", ["Name", "May", "Banks", "Made", "Last used", ""], keys.map((each) => [
      [h("strong", {}, each.name), " ", each.revoked_at ? badge("revoked", "past") : null,
        each.expires_at ? badge(`until ${moment(each.expires_at)}`) : null],
      each.permissions.map((name) => badge(name)),
      each.banks.length ? each.banks.join(", ") : "all",
      h("span", { title: moment(each.created_at) }, ago(each.created_at)),
      each.last_used_at ? ago(each.last_used_at) : "never",
      each.revoked_at ? null : h("span", { class: "actions" },
        button("Rotate", () => rotate(each, refresh), "small", { "aria-label": `Rotate ${each.name}` }),
        button("Revoke", () => revoke(each, me, refresh), "small", { "aria-label": `Revoke ${each.name}` })),
    ]));
  }

  if (!me.authenticated) {
    return page("API keys", {}, empty("This server asks for no key.",
      "Programs of this machine alone may call. Make the first key where the data is, on the command "
      + "line; from then on everybody needs one.", h("pre", { class: "exact" },
        "remembrancer keys create admin --permission read --permission write --permission admin")));
  }
  await refresh({});
  return page("API keys", {
    about: `Keys of the tenant ${me.tenant}. Of a key only its hash is kept.`,
    actions: [button("Make a key", () => make(me, refresh), "primary")],
  }, place);
}

async function make(me, refresh) {
  const name = input("text", { maxlength: 256 });
  const banks = input("text", { placeholder: "customer-*, support" });
  const until = input("date");
  const boxes = me.permissions.map((each) => input("checkbox",
    { value: each, checked: each === "read" || each === "write" }));
  let secret = null;
  const done = await ask("Make a key", [
    field("Who uses it", name),
    h("fieldset", {}, h("legend", {}, "May"), boxes.map((box) => h("label", { class: "check" }, box,
      ` ${PERMISSIONS[box.value] ?? box.value}`))),
    field("Banks", banks, "Patterns, with commas between; empty: all."),
    field("Valid until", until, "Empty: until it is revoked."),
  ], { yes: "Make key", check: async () => {
    const given = banks.value.split(",").map((each) => each.trim()).filter(Boolean);
    secret = (await post(KEYS, {
      name: name.value, banks: given, permissions: boxes.filter((box) => box.checked).map((box) => box.value),
      expires_at: until.value ? new Date(`${until.value}T23:59:59`).toISOString() : null,
    })).key;
  } });
  if (done) await showSecret(secret);
  await refresh();
}

async function rotate(each, refresh) {
  let secret = null;
  const done = await ask(`Rotate ${each.name}?`, h("p", {},
    "It gets another secret. The old one is still taken for an hour."),
  { yes: "Rotate", check: async () => {
    secret = (await post(`${KEYS}/${part(each.id)}/rotate`, { grace_seconds: 3600 })).key;
  } });
  if (done) await showSecret(secret);
  await refresh();
}

async function revoke(each, me, refresh) {
  const done = await ask(`Revoke ${each.name}?`, [h("p", {}, "Whoever uses it is refused from now on."),
    each.id === me.key_id ? h("p", { class: "note" }, "This is the key that you are signed in with.") : null],
  { yes: "Revoke", danger: true, check: () => remove(`${KEYS}/${part(each.id)}`) });
  if (!done) return;
  toast("Revoked.");
  await refresh();
}

function showSecret(secret) {
  return ask("The new key", [
    h("p", {}, "It is shown this once. Copy it now."),
    h("pre", { class: "exact", tabindex: "0", "aria-label": "The key" }, secret),
    button("Copy", async () => {
      await navigator.clipboard.writeText(secret);
      toast("Copied.");
    }),
  ], { yes: "I have it" });
}
