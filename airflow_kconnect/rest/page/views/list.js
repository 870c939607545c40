// All connectors: filter, states, sorting, keyboard. Rows are kept and changed in place, so that focus stays.

import { inParts } from "../parts/api.js";
import { ago, announce, badge, debounced, h, icon, moment, number, plural, setText, shapeOf, shortClass, shortNumber, show } from "../parts/dom.js";
import { offsetText } from "../parts/offsets.js";

const CHIPS = [
  ["all", "All"],
  ["failed", "Failed"],
  ["running", "Running"],
  ["paused", "Paused"],
  ["stopped", "Stopped"],
  ["other", "Other"],
];
const STATE_ORDER = ["failed", "other", "running", "paused", "stopped"];
const COLUMNS = [
  { key: "name", label: "Connector", by: (c) => c.name.toLowerCase() },
  { key: "state", label: "State", by: (c) => STATE_ORDER.indexOf(shapeOf(c.state)) },
  { key: "tasks", label: "Tasks", by: (c) => c.tasks + c.failed_tasks * 1e6, kind: "number" },
  { key: "topics", label: "Topics", by: (c) => c.topics.join(" "), kind: "wide" },
  { key: "offsets", label: "Offsets", by: (c) => c.offsets?.partitions ?? -1, kind: "wide" },
  { key: "lag", label: "Lag", by: (c, lags) => lags[c.name] ?? -1, kind: "number" },
  { key: "changed", label: "Last change", by: (c) => -(c.changed_ms ?? 0), kind: "medium" },
];
// The choice survives a look at a connector.
const choice = { text: "", chip: "all", column: "name", descending: false };

export function listView() {
  let connectors = [];
  let lags = {};
  const askConnectors = inParts("v1/connectors");
  const askForLags = inParts("v1/lags");
  let problem = null;
  let lagProblem = null;
  let askingLags = false;
  let known = false;
  const rows = new Map();
  const filter = h("input", {
    type: "search",
    id: "filter",
    placeholder: "Filter by name, class or topic",
    "aria-label": "Filter connectors",
    "aria-keyshortcuts": "/",
    autocomplete: "off",
    spellcheck: "false",
    value: choice.text,
    oninput: () => {
      choice.text = filter.value;
      arrange();
      say();
    },
  });
  const chips = new Map(CHIPS.map(([key, label]) => [key, chip(key, label)]));
  const heads = new Map(COLUMNS.map((column) => [column.key, head(column)]));
  const body = h("tbody", { role: "rowgroup" });
  const table = h(
    "table",
    { class: "list", role: "table" },
    h("caption", { class: "visually-hidden" }, "Connectors"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, [...heads.values()])),
    body,
  );
  const nothing = h("p", { class: "nothing", hidden: true }, "No connector matches. ", h("button", { type: "button", class: "link", onclick: clear }, "Show all"));
  const loading = h("p", { class: "loading" }, "Loading …");
  const tools = h("div", { class: "tools", hidden: true }, h("div", { class: "search" }, icon("search"), filter, h("kbd", {}, "/")), h("div", { class: "chips", role: "group", "aria-label": "States" }, [...chips.values()].map((each) => each.element)));
  const card = h("div", { class: "card table-card", hidden: true }, table, nothing);
  const empty = emptyState();
  const element = h(
    "div",
    { class: "view" },
    h("header", { class: "top" }, h("h1", {}, "Connectors"), h("a", { class: "button primary", href: "#/new" }, icon("plus"), "New connector")),
    tools,
    loading,
    card,
    empty,
  );
  const say = debounced(400, () => announce(`${plural(body.rows.length, "connector")} shown`));
  document.addEventListener("keydown", onKey);

  async function refresh() {
    const answer = await askConnectors();
    if (answer.changed) {
      tellChanges(connectors, answer.rows);
      connectors = answer.rows;
    }
    problem = answer.problem;
    known = true;
    arrange();
    askLags();
  }

  /** The broker may take its time for lags: nothing waits for them. */
  async function askLags() {
    if (askingLags) return;
    askingLags = true;
    try {
      const found = await askForLags();
      lagProblem = found.problem;
      if (found.changed) lags = Object.fromEntries(found.rows.map(({ name, lag }) => [name, lag]));
      for (const row of rows.values()) row.lag();
      if (choice.column === "lag") arrange();
    } catch (error) {
      lagProblem = error.message;
    } finally {
      askingLags = false;
    }
  }

  function arrange() {
    const words = choice.text.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = connectors.filter((each) => words.every((word) => haystack(each).includes(word)));
    for (const [key, each] of chips) each.update(key === "all" ? matching.length : matching.filter((c) => shapeOf(c.state) === key).length);
    const chosen = matching.filter((each) => choice.chip === "all" || shapeOf(each.state) === choice.chip);
    const column = COLUMNS.find((each) => each.key === choice.column);
    const sign = choice.descending ? -1 : 1;
    const sorted = chosen.map((each) => [column.by(each, lags), each]).sort(([a, x], [b, y]) => sign * compare(a, b) || compare(x.name, y.name));
    place(sorted.map(([, each]) => each));
    show(loading, !known);
    show(tools, known && connectors.length > 0);
    show(card, known && connectors.length > 0);
    show(empty, known && connectors.length === 0);
    show(nothing, sorted.length === 0);
    for (const each of COLUMNS) {
      const sort = each.key === choice.column ? (choice.descending ? "descending" : "ascending") : null;
      if (sort) heads.get(each.key).setAttribute("aria-sort", sort);
      else heads.get(each.key).removeAttribute("aria-sort");
    }
  }

  /** Put these rows into the table, in this order, moving as few as possible. */
  function place(wanted) {
    const focused = document.activeElement;
    const names = new Set(connectors.map((each) => each.name));
    for (const name of rows.keys()) if (!names.has(name)) rows.delete(name);
    const elements = wanted.map((each) => {
      if (!rows.has(each.name)) rows.set(each.name, newRow(each.name));
      const row = rows.get(each.name);
      row.update(each);
      return row.element;
    });
    const same = elements.length === body.rows.length && elements.every((row, at) => body.rows[at] === row);
    if (same) return;
    body.replaceChildren(...elements);
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  }

  function newRow(name) {
    const link = h("a", { class: "name", href: `#/connector/${encodeURIComponent(name)}`, title: name }, name);
    const detail = h("span", { class: "class" });
    const cause = h("span", { class: "cause", hidden: true });
    const cells = Object.fromEntries(COLUMNS.map(({ key, kind }) => [key, h(key === "name" ? "th" : "td", { class: kind ?? null, role: key === "name" ? "rowheader" : "cell" })]));
    const kind = h("span", { class: "kind" });
    cells.name.append(h("div", { class: "who" }, kind, h("div", { class: "texts" }, link, detail, cause)));
    const changed = h("time", {});
    cells.changed.append(changed);
    let last = null;
    let shown = null;
    const row = {
      element: h("tr", { role: "row", onclick: (event) => event.target.closest("a") || getSelection().toString() || link.click() }, Object.values(cells)),
      update(data) {
        setText(changed, ago(data.changed_ms));
        if (data === shown) return;
        shown = data;
        const text = JSON.stringify(data);
        if (text === last) return;
        const before = last && JSON.parse(last);
        last = text;
        if (before?.type !== data.type) kind.replaceChildren(icon(data.type));
        const next = goal(data);
        cells.state.replaceChildren(badge(data.state), next ? h("span", { class: "goal" }, next) : "");
        row.element.classList.toggle("failing", data.state === "FAILED");
        setText(detail, `${data.type} · ${shortClass(data.class)}`);
        detail.title = data.class;
        setText(cause, withoutClass(data.cause ?? ""));
        cause.title = data.cause ?? "";
        show(cause, Boolean(data.cause));
        setText(cells.tasks, data.failed_tasks ? `${data.failed_tasks}/${data.tasks} failed` : number(data.tasks));
        setText(cells.topics, topicsOf(data));
        cells.topics.title = data.topics.join("\n");
        setText(cells.offsets, offsetsOf(data.offsets));
        cells.offsets.title = cells.offsets.textContent;
        changed.title = moment(data.changed_ms);
        row.type = data.type;
        row.lag();
      },
      lag() {
        const lag = lags[name];
        setText(cells.lag, lag === undefined ? "–" : shortNumber(lag));
        cells.lag.title = lag === undefined ? (row.type === "sink" ? "not known yet" : "sources have no lag in Kafka") : plural(lag, "record");
      },
    };
    return row;
  }

  function chip(key, label) {
    const count = h("span", { class: "count" }, "0");
    const element = h("button", { type: "button", class: `chip ${key}`, "aria-pressed": String(choice.chip === key), onclick: choose }, key === "all" ? null : icon(key), label, count);
    function choose() {
      choice.chip = choice.chip === key ? "all" : key;
      for (const [other, each] of chips) each.element.setAttribute("aria-pressed", String(choice.chip === other));
      arrange();
      say();
    }
    return {
      element,
      update(value) {
        setText(count, number(value));
        show(element, value > 0 || key === "all" || key === choice.chip || key === "failed" || key === "running");
      },
    };
  }

  function head({ key, label, kind }) {
    return h("th", { role: "columnheader", class: `${kind ?? ""} column-${key}` }, h("button", { type: "button", onclick: () => sortBy(key) }, label, icon("sorted")));
  }

  function sortBy(key) {
    choice.descending = choice.column === key && !choice.descending;
    choice.column = key;
    arrange();
  }

  function clear() {
    choice.text = filter.value = "";
    choice.chip = "all";
    for (const [key, each] of chips) each.element.setAttribute("aria-pressed", String(key === "all"));
    arrange();
    filter.focus();
  }

  /** `/` goes to the filter, arrows go through the rows, Escape clears. */
  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing) {
      filter.focus();
      filter.select();
    } else if (event.key === "Escape" && event.target === filter && choice.text) {
      clear();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!move(event.key === "ArrowDown" ? 1 : -1, event.target)) return;
    } else return;
    event.preventDefault();
  }

  function move(step, from) {
    const links = [...body.querySelectorAll("a.name")];
    const at = links.indexOf(from);
    if (at === -1 && (from !== filter && from !== document.body && from.id !== "main")) return false;
    const to = at === -1 ? (step > 0 ? links[0] : null) : (links[at + step] ?? (step < 0 ? filter : null));
    to?.focus();
    return to !== null;
  }

  return { element, refresh, problem: () => problem, notice: () => (lagProblem ? ["The lag of some sinks is not known.", lagProblem] : []), close: () => document.removeEventListener("keydown", onKey) };
}

function emptyState() {
  return h(
    "section",
    { class: "card empty", hidden: true },
    h("h2", {}, "No connectors yet"),
    h("p", {}, "A connector copies data into Kafka (a source) or out of it (a sink). Register the first one: choose its class, fill in the form, and it appears here."),
    h("p", {}, h("a", { class: "button primary", href: "#/new" }, icon("plus"), "Create a connector")),
    h("p", { class: "help" }, "Or send its configuration to ", h("code", {}, "POST /connectors"), ", as with Kafka Connect."),
  );
}

const searched = new WeakMap();

function haystack(connector) {
  if (!searched.has(connector)) {
    const { name, type, state, topics } = connector;
    searched.set(connector, [name, type, connector.class, state, ...topics].join("\n").toLowerCase());
  }
  return searched.get(connector);
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const GOALS = { PAUSED: "pausing", STOPPED: "stopping", STARTED: "starting" };

/** What the connector will do, if it does something else now. */
function goal({ state, target_state: target }) {
  const reached = { PAUSED: ["PAUSED"], STOPPED: ["STOPPED"], STARTED: ["RUNNING", "FAILED", "UNASSIGNED", "RESTARTING"] }[target] ?? [];
  return reached.includes(state) || state === "FAILED" ? null : GOALS[target];
}

/** The first line of a trace without the name of the exception's class. */
const withoutClass = (cause) => cause.replace(/^[\w.$]+: /, "");

function topicsOf({ topics, topic_count: count }) {
  if (count === 0) return "–";
  return count > 1 ? `${topics[0]} +${count - 1}` : topics[0];
}

function offsetsOf(offsets) {
  if (!offsets) return "none";
  if (offsets.records !== null) return `at ${number(offsets.records)}${offsets.partitions > 1 ? ` in ${plural(offsets.partitions, "partition")}` : ""}`;
  const offset = offsetText(offsets.newest?.offset);
  return offsets.partitions > 1 ? `${offset} · ${plural(offsets.partitions, "partition")}` : offset;
}

function tellChanges(before, after) {
  const states = new Map(before.map((each) => [each.name, each.state]));
  const changed = after.filter((each) => states.has(each.name) && states.get(each.name) !== each.state);
  if (changed.length > 3) announce(`${changed.length} connectors have changed their states`);
  else if (changed.length) announce(changed.map((each) => `${each.name}: ${each.state.toLowerCase()}`).join(", "));
}
