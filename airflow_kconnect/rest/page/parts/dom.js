// Elements and texts. Strings always become text nodes: data cannot become markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element. Properties that begin with `on` are listeners; null and false ones are left out. */
export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An icon of the sprite in index.html; it says nothing to screen readers. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

export function button(label, { icon: symbol, kind = "", ...properties } = {}) {
  return h("button", { type: "button", class: `button ${kind}`.trim(), ...properties }, symbol ? icon(symbol) : null, label);
}

const SHAPES = { RUNNING: "running", PAUSED: "paused", STOPPED: "stopped", FAILED: "failed" };

/** `running`, `paused`, `stopped`, `failed` or `other`. */
export const shapeOf = (state) => SHAPES[state] ?? "other";

/** A text in which `code` is between backticks, as nodes. */
export function prose(text) {
  return text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));
}

/** A state by icon, word and colour. */
export function badge(state) {
  const word = state.charAt(0) + state.slice(1).toLowerCase();
  return h("span", { class: `badge ${shapeOf(state)}` }, icon(shapeOf(state)), word);
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}

const NUMBERS = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const number = (value) => (value === null || value === undefined ? "–" : NUMBERS.format(value));
export const shortNumber = (value) => (value < 10000 ? NUMBERS.format(value) : SHORT.format(value));
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

const STEPS = [[60, "s", 1], [3600, "min", 60], [86400, "h", 3600], [Infinity, "d", 86400]];

/** How long ago, in one unit. */
export function ago(ms, now = Date.now()) {
  if (!ms) return "–";
  const seconds = Math.max((now - ms) / 1000, 0);
  if (seconds < 5) return "just now";
  const [, unit, size] = STEPS.find(([limit]) => seconds < limit);
  return `${Math.floor(seconds / size)} ${unit} ago`;
}

/** How long until then, in one unit. */
export function ahead(ms, now = Date.now()) {
  const seconds = Math.round((ms - now) / 1000);
  if (seconds < 5) return "due now";
  const [, unit, size] = STEPS.find(([limit]) => seconds < limit);
  return `in ${Math.round(seconds / size)} ${unit}`;
}

const MOMENTS = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export const moment = (ms) => (ms ? MOMENTS.format(ms) : "–");

export function time(ms) {
  return h("time", { title: moment(ms), datetime: ms ? new Date(ms).toISOString() : null }, ago(ms));
}

/** The class without its package. */
export const shortClass = (name) => name.slice(name.lastIndexOf(".") + 1) || "–";

/** Say something to screen readers. */
export function announce(text) {
  setText(document.getElementById("announcer"), text);
}

/** A short message at the bottom of the page. */
export function toast(text, kind = "") {
  const element = h("div", { class: `toast ${kind}` }, text);
  document.getElementById("toasts").append(element);
  setTimeout(() => element.remove(), 5000);
}

/** A text at the top of the page, none without one; `why`, in the words of a program, is there for those who open it. */
export function banner(text = null, why = null) {
  const element = document.getElementById("banner");
  const said = JSON.stringify([text, why]);
  if (element.dataset.said === said) return;
  element.dataset.said = said;
  element.replaceChildren(text ?? "", why ? h("details", {}, h("summary", {}, "Why"), why) : "");
  show(element, Boolean(text));
}

export function debounced(milliseconds, call) {
  let timer;
  return (...parts) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...parts), milliseconds);
  };
}
