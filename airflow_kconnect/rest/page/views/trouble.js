// Why a connector or its tasks have failed: each trace once, with those that have it.

import { h, show } from "../parts/dom.js";

export function troubleOf() {
  const element = h("section", { hidden: true });
  let shown = null;

  function update({ trace, tasks }) {
    const failed = [["the connector", trace], ...tasks.map((task) => [`task ${task.id}`, task.trace])].filter(([, text]) => text);
    const whose = Map.groupBy(failed, ([, text]) => text);
    const traces = [...whose].map(([text, all]) => [sentence(all.map(([who]) => who)), text]);
    show(element, traces.length > 0);
    if (shown === (shown = JSON.stringify(traces))) return;
    element.replaceChildren(...traces.map(([title, text]) => h("div", { class: "trouble" }, h("h2", {}, title), traceOf(text, title))));
  }

  return { element, update };
}

function sentence(names) {
  const text = `${names.join(" and ")} ${names.length > 1 ? "have" : "has"} failed`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const traceOf = (trace, label) => h("pre", { class: "trace", tabindex: "0", "aria-label": label }, trace);
