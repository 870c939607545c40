// The tab that Airflow shows at a DAG run: what its connector tasks have reported.

import { get } from "./parts/api.js";
import { banner, h, icon, moment, number, plural, prose } from "./parts/dom.js";
import { leave } from "./parts/frame.js";
import { followTheme } from "./parts/theme.js";

const REFRESH_MS = 5000;
const ENDED = ["success", "failed", "skipped", "upstream_failed", "removed"];
const COUNTS = [["read", "Read"], ["written", "Written"], ["filtered", "Filtered"], ["dead_lettered", "Dead letters"], ["already_done", "Done before"]];
const main = document.getElementById("main");
const query = new URLSearchParams(location.search);
const dagId = query.get("dag_id") ?? "";
const runId = query.get("run_id") ?? "";

let shown = "";
let ended = false;

async function refresh() {
  try {
    const { tasks, more, ended: over } = await get(`v1/reports?${new URLSearchParams({ dag_id: dagId, run_id: runId })}`);
    const text = JSON.stringify([tasks, more, over]);
    ended = over;
    banner(null);
    if (text === shown) return;
    shown = text;
    main.replaceChildren(view(tasks, more));
  } catch (error) {
    banner(error.message);
  }
}

function view(tasks, more) {
  const cards = tasks.length ? tasks.map(card) : h("p", { class: "nothing" }, `No task of this run has moved records with a connector${ended ? "" : " yet"}.`);
  return h("div", { class: "view" }, h("h1", {}, "Connectors"), cards, more > 0 && h("p", { class: "nothing" }, `${number(more)} more connectors: see the log of their task.`));
}

function card(task) {
  const { report, failure } = task;
  const name = report?.connector ?? failure?.connector;
  const id = task.map_index < 0 ? task.task_id : `${task.task_id} [${task.map_index}]`;
  return h(
    "section",
    { class: "card report", "aria-label": id },
    h("header", { class: "row" }, h("h2", {}, name ? connectorLink(name) : id), state(task.state), h("span", { class: "grow" }), logLink(task)),
    h("p", { class: "detail" }, [name && `Task ${id}`, task.try_number > 1 && `attempt ${task.try_number}`, duration(task)].filter(Boolean).join(" · ")),
    failure && h("p", { class: "error" }, failure.message),
    report ? body(report) : !failure && h("p", { class: "detail" }, withoutReport(task.state)),
  );
}

function body(report) {
  const incomplete = report.complete ? null : `Not complete: ${report.incomplete.join(", ") || "there is more to move"}.`;
  return [
    h("dl", { class: "counts" }, counts(report).map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, number(value))))),
    incomplete && h("p", {}, incomplete),
    report.replay && h("p", {}, "Replay of ", h("code", {}, report.replay), ": the live offsets have not moved."),
    report.warnings.length > 0 && h("ul", { class: "warnings" }, report.warnings.map((text) => h("li", {}, prose(text)))),
    offsets(report),
    details("The whole report", h("pre", { tabindex: "0" }, JSON.stringify(report, null, 2))),
  ];
}

function counts(report) {
  const found = COUNTS.filter(([key], at) => at < 2 || report.records[key]).map(([key, label]) => [label, report.records[key] ?? 0]);
  const lags = Object.values(report.lag ?? {});
  return lags.length ? [...found, ["Left to read", lags.reduce((sum, lag) => sum + lag, 0)]] : found;
}

function offsets(report) {
  if (!report.offsets.length) return null;
  const rows = report.offsets.map((each) => {
    const [place, offset] = each.topic === undefined ? [each.partition, each.offset] : [`${each.topic}-${each.partition}`, each.offset];
    return h("tr", {}, h("td", {}, h("code", {}, text(place))), h("td", {}, h("code", {}, text(offset))));
  });
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Partition"), h("th", { scope: "col" }, "Offset")));
  const more = report.partitions - rows.length;
  return details(
    plural(report.partitions, "offset"),
    h("div", { class: "table-card", tabindex: "0" }, h("table", {}, head, h("tbody", {}, rows))),
    more > 0 && h("p", { class: "detail" }, `${number(more)} more are in the task's log.`),
  );
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const details = (summary, ...content) => h("details", {}, h("summary", {}, summary), content);

function withoutReport(state) {
  if (state === "success") return "It has left no report: in cluster deploy mode that stays with the job's output.";
  return ENDED.includes(state) ? "It has left no report; its log says why." : "It reports when it has ended.";
}

function state(value) {
  const shape = { success: "idle", running: "running", failed: "failed", upstream_failed: "failed", up_for_retry: "failed" }[value] ?? "other";
  const symbol = { success: "success", running: "running" }[value] ?? (shape === "failed" ? "failed" : "other");
  return h("span", { class: `badge ${shape}` }, icon(symbol), (value ?? "not started").replaceAll("_", " "));
}

function duration({ start_ms: start, end_ms: end }) {
  if (!start) return null;
  return end ? `${moment(start)}, ${((end - start) / 1000).toFixed(1)} s` : `since ${moment(start)}`;
}

// Airflow's pages, above this one's folder: it may be served below any path.
function connectorLink(name) {
  return h("a", { href: `../../plugin/connectors#/connector/${encodeURIComponent(name)}`, onclick: leave }, name);
}

function logLink(task) {
  const mapped = task.map_index < 0 ? "" : `/mapped/${task.map_index}`;
  const path = [dagId, "runs", runId, "tasks", task.task_id].map(encodeURIComponent).join("/");
  return h("a", { href: `../../dags/${path}${mapped}?try_number=${task.try_number}`, onclick: leave }, "Log");
}

followTheme();
setInterval(() => document.visibilityState === "visible" && !ended && refresh(), REFRESH_MS);
refresh();
