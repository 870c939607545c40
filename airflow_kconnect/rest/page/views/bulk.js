// Several connectors at once: which are selected, what can be done to them, and what has happened.

import { post } from "../parts/api.js";
import { announce, button, h, icon, plural, setText, show, toast } from "../parts/dom.js";
import { ask } from "../parts/dialogs.js";

const ACTIONS = [
  ["pause", "Pause", "pause"],
  ["resume", "Resume", "resume"],
  ["stop", "Stop", "stop"],
  ["restart_failed", "Restart failed", "restart"],
];

/** The selection of the list; `onDone` is called after something was done. */
export function bulk(onDone) {
  const selected = new Set();
  let shown = [];
  const all = h("input", { type: "checkbox", "aria-label": "Select all shown", onchange: () => select(shown, all.checked) });
  const count = h("strong", {});
  const buttons = ACTIONS.map(([action, label, symbol]) => button(label, { icon: symbol, onclick: (event) => start(action, label, event.currentTarget) }));
  const bar = h("div", { class: "bulk card", role: "group", "aria-label": "Actions for the selected connectors", hidden: true }, count, buttons, button("Clear", { kind: "plain", onclick: clear }));
  const boxes = new Map();

  /** The checkbox of a row. */
  function box(name) {
    const element = h("input", { type: "checkbox", "aria-label": `Select ${name}`, onchange: () => select([name], element.checked) });
    boxes.set(name, element);
    return element;
  }

  function select(names, chosen) {
    for (const name of names) chosen ? selected.add(name) : selected.delete(name);
    tell();
    announce(`${plural(selected.size, "connector")} selected`);
  }

  /** The bar goes away: what has selected all takes the focus. */
  function clear() {
    select([...selected], false);
    all.focus();
  }

  /** The rows that are shown now: what is not shown is not selected. Runs from elsewhere cannot be acted upon. */
  function follow(rows) {
    shown = rows.filter((row) => row.registered).map((row) => row.name);
    const visible = new Set(shown);
    for (const name of selected) if (!visible.has(name)) selected.delete(name);
    tell();
  }

  function tell() {
    for (const [name, each] of boxes) if (each.checked !== selected.has(name)) each.checked = !each.checked;
    all.disabled = shown.length === 0;
    all.checked = shown.length > 0 && selected.size === shown.length;
    all.indeterminate = selected.size > 0 && !all.checked;
    setText(count, `${plural(selected.size, "connector")} selected`);
    show(bar, selected.size > 0);
  }

  async function start(action, label, pressed) {
    const names = [...selected];
    if (action === "stop" && !(await ask({ title: `Stop ${plural(names.length, "connector")}?`, text: "Runs in progress are ended, and none begins until they are resumed.", confirm: "Stop", kind: "danger" }))) return;
    for (const each of buttons) each.disabled = true;
    try {
      const { results } = await post("v1/connectors/bulk", { action, names });
      // What was done is told also if the list cannot be had.
      onDone().catch(() => {});
      await tellResults(label, results);
    } catch (error) {
      toast(error.message, "bad");
    } finally {
      for (const each of buttons) each.disabled = false;
      pressed.focus();
    }
  }

  return { all, bar, box, follow, forget: (name) => boxes.delete(name) };
}

/** What has happened to each; what was not done comes first. */
function tellResults(label, results) {
  const done = results.filter((each) => each.done).length;
  const sorted = [...results].sort((a, b) => a.done - b.done);
  return ask({
    title: `${label}: ${done} of ${plural(results.length, "connector")}`,
    content: [h("ul", { class: "results", tabindex: "0", "aria-label": "What has happened" }, sorted.map(resultOf))],
    confirm: "Close",
    cancel: false,
  });
}

function resultOf({ name, done, message }) {
  const look = done ? "idle" : "attention";
  return h("li", { class: look }, icon(look), h("span", {}, h("strong", {}, name), h("span", { class: "visually-hidden" }, done ? ", done: " : ", not done: "), h("span", { class: "detail" }, message)));
}
