// All connectors. Rows are kept and changed in place, so that focus stays.

import { setAddress, viewOf } from "../parts/address.js";
import { inParts } from "../parts/api.js";
import { announce, debounced, h, icon, plural, show } from "../parts/dom.js";
import { wordOf } from "../parts/states.js";
import { bulk } from "./bulk.js";
import { addressOf, choiceOf, filters } from "./filters.js";
import { COLUMNS, rowOf } from "./row.js";

// The choice survives a look at a connector: the link back to the list has none of its own.
let remembered = new URLSearchParams();

export function listView(values) {
  const choice = choiceOf(values.size ? values : remembered);
  let connectors = [];
  let lags = {};
  const askConnectors = inParts("v1/connectors");
  const askForLags = inParts("v1/lags");
  let problem = null;
  let lagProblem = null;
  let askingLags = false;
  let known = false;
  let open = true;
  const rows = new Map();
  const chosen = filters(choice, changed);
  const selection = bulk(refresh);
  const heads = new Map(COLUMNS.map((column) => [column.key, head(column)]));
  const body = h("tbody", { role: "rowgroup" });
  const table = h(
    "table",
    { class: "list", role: "table" },
    h("caption", { class: "visually-hidden" }, "Connectors"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, h("th", { role: "columnheader", class: "select" }, selection.all), [...heads.values()])),
    body,
  );
  const nothing = h("p", { class: "nothing", hidden: true }, "No connector matches. ", h("button", { type: "button", class: "link", onclick: chosen.clear }, "Show all"));
  const loading = h("p", { class: "loading" }, "Loading …");
  const card = h("div", { class: "card table-card", hidden: true }, table, nothing);
  const empty = emptyState();
  show(chosen.element, false);
  const element = h(
    "div",
    { class: "view" },
    h("header", { class: "top" }, h("h1", {}, "Connectors"), h("a", { class: "button primary", href: "#/new" }, icon("plus"), "New connector")),
    chosen.element,
    selection.bar,
    loading,
    card,
    empty,
  );
  const say = debounced(400, () => announce(`${plural(body.rows.length, "connector")} shown`));
  const keepAddress = debounced(300, () => open && setAddress(addressOf(choice)));
  setAddress(addressOf(choice));
  remember();
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
      if (choice.sort === "lag") arrange();
    } catch (error) {
      lagProblem = error.message;
    } finally {
      askingLags = false;
    }
  }

  function changed() {
    remember();
    keepAddress();
    arrange();
    say();
  }

  function remember() {
    remembered = viewOf(addressOf(choice)).values;
  }

  function arrange() {
    const column = COLUMNS.find((each) => each.key === choice.sort) ?? COLUMNS[0];
    const sign = choice.down ? -1 : 1;
    const sorted = chosen
      .chosen(connectors)
      .map((each) => [column.by(each, lags), each])
      .sort(([a, x], [b, y]) => sign * compare(a, b) || compare(x.name, y.name))
      .map(([, each]) => each);
    place(sorted);
    selection.follow(sorted);
    show(loading, !known);
    show(chosen.element, connectors.length > 0);
    show(card, connectors.length > 0);
    show(empty, known && connectors.length === 0);
    show(nothing, sorted.length === 0);
    for (const [key, each] of heads) {
      if (key === column.key) each.setAttribute("aria-sort", choice.down ? "descending" : "ascending");
      else each.removeAttribute("aria-sort");
    }
  }

  /** Put these rows into the table, in this order, moving as few as possible. */
  function place(wanted) {
    const focused = document.activeElement;
    const names = new Set(connectors.map((each) => each.name));
    for (const name of rows.keys()) if (!names.has(name)) forget(name);
    const elements = wanted.map((each) => {
      if (!rows.has(each.name)) rows.set(each.name, rowOf(each.name, selection.box(each.name), (name) => lags[name]));
      const row = rows.get(each.name);
      row.update(each);
      return row.element;
    });
    const same = elements.length === body.rows.length && elements.every((row, at) => body.rows[at] === row);
    if (same) return;
    body.replaceChildren(...elements);
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  }

  function forget(name) {
    rows.delete(name);
    selection.forget(name);
  }

  function head({ key, label, kind }) {
    return h("th", { role: "columnheader", class: `${key} ${kind ?? ""} column-${key}` }, h("button", { type: "button", onclick: () => sortBy(key) }, label, icon("sorted")));
  }

  function sortBy(key) {
    choice.down = choice.sort === key && !choice.down ? "1" : "";
    choice.sort = key;
    changed();
  }

  /** `/` goes to the filter, arrows go through the rows, Escape clears. */
  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
    if (event.key === "/" && !typing) {
      chosen.text.focus();
      chosen.text.select();
    } else if (event.key === "Escape" && event.target === chosen.text && choice.text) {
      chosen.clear();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!move(event.key === "ArrowDown" ? 1 : -1, event.target)) return;
    } else return;
    event.preventDefault();
  }

  function move(step, from) {
    const links = [...body.querySelectorAll("a.name")];
    const at = links.indexOf(from);
    if (at === -1 && (from !== chosen.text && from !== document.body && from.id !== "main")) return false;
    const to = at === -1 ? (step > 0 ? links[0] : null) : (links[at + step] ?? (step < 0 ? chosen.text : null));
    to?.focus();
    return to !== null;
  }

  function close() {
    open = false;
    document.removeEventListener("keydown", onKey);
  }

  return { element, refresh, close, problem: () => problem, notice: () => (lagProblem ? ["The lag of some sinks is not known.", lagProblem] : []) };
}

function emptyState() {
  return h(
    "section",
    { class: "card empty", hidden: true },
    h("h2", {}, "No connectors yet"),
    h("p", {}, "A connector copies data into Kafka (a source) or out of it (a sink). It appears here when it has run, or when it is registered:"),
    h(
      "ul",
      { class: "ways" },
      h("li", {}, h("strong", {}, "Run one"), " that is configured elsewhere: ", h("code", {}, "kconnect run orders.json"), " on the command line, or a ", h("code", {}, "KafkaSourceOperator"), " or ", h("code", {}, "KafkaSinkOperator"), " in a DAG."),
      h("li", {}, h("strong", {}, "Register one"), " here: choose its class, and fill in the form. ", h("code", {}, "POST /connectors"), " does the same, as with Kafka Connect."),
    ),
    h("p", {}, h("a", { class: "button primary", href: "#/new" }, icon("plus"), "Create a connector")),
  );
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function tellChanges(before, after) {
  const states = new Map(before.map((each) => [each.name, each.run_state]));
  const changed = after.filter((each) => states.has(each.name) && states.get(each.name) !== each.run_state);
  if (changed.length > 3) announce(`${changed.length} connectors have changed their states`);
  else if (changed.length) announce(changed.map((each) => `${each.name}: ${wordOf(each.run_state).toLowerCase()}`).join(", "));
}
