// The last runs of a connector: bars, and a table with all numbers and links to the logs.

import { h, icon, moment, number, plural, prose } from "../parts/dom.js";
import { outLink } from "../parts/places.js";
import { duration, lookOf, progressOf, replayOf, secondsOf, stateOf } from "../parts/runs.js";
import { runsChart } from "./chart.js";

const HEADS = [["Started", ""], ["State", ""], ["Duration", "number"], ["Read", "number"], ["Written", "number"], ["Filtered", "number medium"], ["Dead-lettered", "number"], ["Warnings", ""], ["Log", ""]];

export function runsTab() {
  const chart = runsChart();
  const body = h("tbody", {});
  const head = h("tr", {}, HEADS.map(([label, kind]) => h("th", { scope: "col", class: kind || null }, label)));
  const card = h("div", { class: "card table-card", tabindex: "0", role: "region", "aria-label": "Table of the last runs" }, h("table", { class: "past" }, h("caption", { class: "visually-hidden" }, "The last runs, the newest first"), h("thead", {}, head), body));
  const nothing = h("p", { class: "nothing" }, "No run is known.");
  const element = h("div", { class: "stack" });
  const rows = new Map();

  function update({ history }) {
    chart.update(history);
    element.replaceChildren(...(history.length ? [chart.element, card] : [nothing]));
    const elements = history.map(rowOf);
    for (const id of rows.keys()) if (!history.some((run) => run.id === id)) rows.delete(id);
    if (elements.length !== body.rows.length || elements.some((row, at) => body.rows[at] !== row)) body.replaceChildren(...elements);
  }

  /** Made again only when something of the run has changed: opened warnings stay open. */
  function rowOf(run) {
    const text = JSON.stringify(run);
    const known = rows.get(run.id);
    if (known?.text === text) return known.element;
    const element = made(run);
    rows.set(run.id, { text, element });
    return element;
  }

  return { element, update };
}

function made(run) {
  const look = lookOf(run);
  const records = run.records ?? {};
  const count = (key) => h("td", { class: `number${key === "filtered" ? " medium" : ""}${key === "dead_lettered" && records[key] ? " attention" : ""}` }, number(records[key]));
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, run.start_ms ? moment(run.start_ms) : "not yet"),
    h("td", { class: "outcome" }, h("span", { class: `badge ${look}` }, icon(look), stateOf(run)), about(run)),
    h("td", { class: "number" }, run.start_ms ? duration(secondsOf(run)) : "–"),
    ["read", "written", "filtered", "dead_lettered"].map(count),
    h("td", {}, warningsOf(run.warnings ?? [])),
    h("td", {}, run.url ? outLink(run.url, { "aria-label": `Log of the run of ${moment(run.start_ms)}` }, "Log") : originOf(run.origin)),
  );
}

function about(run) {
  const lines = [replayOf(run), run.state === "running" ? progressOf(run) : null].filter(Boolean);
  return [...lines.map((line) => h("span", { class: "detail" }, line)), run.error ? h("span", { class: "cause" }, prose(run.error)) : null];
}

function warningsOf(warnings) {
  if (!warnings.length) return "–";
  return h("details", { class: "warnings" }, h("summary", {}, plural(warnings.length, "warning")), h("ul", {}, warnings.map((text) => h("li", {}, prose(text)))));
}

/** Where a run without a link has run. */
function originOf(origin) {
  if (!origin?.host) return "–";
  return h("span", { class: "detail", title: origin.file ?? null }, `on ${origin.host}`);
}
