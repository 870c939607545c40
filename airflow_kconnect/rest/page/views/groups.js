// The settings of a group: those that matter, and the others behind a summary.

import { h, setText, show } from "../parts/dom.js";

export const OWN = "Connector settings";
const IGNORED = "Without effect";
// Of Connect and of this package: after those of the connector itself.
const FRAMEWORK = ["Transforms", "Predicates", "Error Handling", "Topic Creation", "Exactly Once Support", "offsets.topic", "kconnect", "hosted connectors", "Airflow"];

/** The group of a setting: all that have no effect are together. */
export const groupName = (definition, form) => (form?.ignored ? IGNORED : (definition.group ?? OWN));

function orderOf(name, order) {
  if (name === IGNORED) return 10000;
  return name === "Common" ? -2 : name === OWN ? -1 : FRAMEWORK.includes(name.split(":")[0]) ? 1000 + order : order;
}

/** By use, then as the class defines them. */
function byUse({ form: a, definition: first }, { form: b, definition: second }) {
  return (a?.order ?? Infinity) - (b?.order ?? Infinity) || first.order_in_group - second.order_in_group || 0;
}

export function groupSection(name, order) {
  const fields = new Set();
  const main = h("div", { class: "fields" });
  const rest = h("div", { class: "fields" });
  const label = h("summary", {});
  const more = h("details", { class: "more" }, label, rest);
  const element = h("section", { class: "card group", "aria-label": name }, h("h2", {}, name), main, more);

  return {
    element,
    order: orderOf(name, order),
    add: (field) => fields.add(field),
    remove: (field) => (fields.delete(field), field.element.remove()),
    arrange() {
      const sorted = [...fields].sort(byUse);
      for (const field of sorted) {
        const wanted = field.matters() ? main : rest;
        if (field.element.parentElement !== wanted && !field.element.contains(document.activeElement)) wanted.append(field.element);
      }
      for (const box of [main, rest]) {
        const inside = sorted.filter((field) => field.element.parentElement === box).map((field) => field.element);
        if (inside.some((each, at) => box.children[at] !== each) && !box.contains(document.activeElement)) box.append(...inside);
      }
    },
    narrow(words) {
      let hidden = 0;
      let visible = 0;
      for (const field of fields) {
        const shown = words.length ? field.matches(words) : field.relevant();
        show(field.element, shown);
        if (shown) visible += 1;
        if (shown && field.element.parentElement === rest) hidden += 1;
      }
      show(element, visible > 0);
      show(more, hidden > 0);
      setText(label, words.length ? `${hidden} more` : `${hidden} more ${hidden === 1 ? "setting" : "settings"}`);
      if (words.length) more.open = true;
    },
  };
}
