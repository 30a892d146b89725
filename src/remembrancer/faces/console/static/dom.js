// Makes elements. Text becomes text nodes and nothing else: no string is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an HTML element; children may be nodes, texts, lists of both, or null. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(element, name, value);
  return fill(element, children);
}

/** Make an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  return fill(element, children);
}

/** Put children into an element, in place of what it holds. */
export function replace(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "class") element.className = value;
  else if (name === "data") Object.assign(element.dataset, value);
  else if (name === "value") element.value = value;
  else if (name === "href") element.setAttribute("href", local(value));
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** Return a link's target if it stays in the console; a text that was stored is never one. */
function local(target) {
  if (!target.startsWith("#/")) throw new Error("links lead into the console alone");
  return target;
}
