// A row of the list: made once, and changed in place, so that focus stays.

import { ago, ahead, h, icon, moment, number, plural, prose, setText, shortClass, shortNumber, show } from "../parts/dom.js";
import { offsetText } from "../parts/offsets.js";
import { placesOf, placesText } from "../parts/places.js";
import { duration, lookOf, progressOf, recordsOf, secondsOf } from "../parts/runs.js";
import { goalOf, needsAttention, stateBadge } from "../parts/states.js";

const ORDER = ["failed", "no_dag", "running", "idle", "paused", "stopped", "never_run"];

/** The columns, with what they are sorted by. */
export const COLUMNS = [
  { key: "name", label: "Connector", by: (c) => c.name.toLowerCase() },
  { key: "state", label: "State", by: (c) => (needsAttention(c) ? 0 : 10) + ORDER.indexOf(c.run_state) },
  { key: "last", label: "Last run", by: (c) => -(c.last_run?.start_ms ?? 0) },
  { key: "next", label: "Next run", by: (c) => c.next_run_ms ?? Infinity, kind: "medium" },
  { key: "topics", label: "Topics", by: (c) => c.topics.join(" "), kind: "wide" },
  { key: "offsets", label: "Offsets", by: (c) => c.offsets?.partitions ?? -1, kind: "widest" },
  { key: "lag", label: "Lag", by: (c, lags) => lags[c.name] ?? -1, kind: "number medium" },
];

/** The row of a connector. `box` is its checkbox, `lagOf` what is known of its lag. */
export function rowOf(name, box, lagOf) {
  const link = h("a", { class: "name", href: `#/connector/${encodeURIComponent(name)}`, title: name }, name);
  const detail = h("span", { class: "class" });
  const places = h("span", { class: "place", hidden: true });
  const kind = h("span", { class: "kind" });
  const cells = Object.fromEntries(COLUMNS.map(({ key, kind }) => [key, h(key === "name" ? "th" : "td", { class: `${key} ${kind ?? ""}`.trim(), role: key === "name" ? "rowheader" : "cell" })]));
  cells.name.append(h("div", { class: "who" }, kind, h("div", { class: "texts" }, link, detail, places)));
  const when = h("time", {});
  const what = h("span", {});
  cells.last.append(when, what);
  const why = h("td", { class: "why", role: "cell", hidden: true });
  const element = h("tr", { role: "row", onclick: open }, h("td", { class: "select", role: "cell" }, box), Object.values(cells), why);
  let last = null;
  let shown = {};

  function open(event) {
    if (!event.target.closest("a, input, .select") && !getSelection().toString()) link.click();
  }

  function update(data) {
    tellTimes(data);
    if (data === shown) return;
    shown = data;
    const text = JSON.stringify(data);
    if (text === last) return;
    last = text;
    tellMoments(data);
    kind.replaceChildren(icon(data.type));
    setText(detail, `${data.type} · ${shortClass(data.class)}`);
    detail.title = data.class;
    const place = data.registered ? null : (placesOf(data.configured)[0] ?? "not registered");
    places.replaceChildren(...(place ? [place] : []));
    places.title = placesText(data.configured);
    show(places, places.hasChildNodes());
    const goal = goalOf(data);
    cells.state.replaceChildren(stateBadge(data), goal ? h("span", { class: "goal" }, goal) : "");
    tellWhy(data);
    setText(cells.topics, topicsOf(data));
    cells.topics.title = data.topics.join("\n");
    setText(cells.offsets, offsetsOf(data.offsets));
    cells.offsets.title = cells.offsets.textContent;
    show(box, data.registered);
    lag();
  }

  function tellTimes({ last_run: run, next_run_ms: next, schedule }) {
    const running = run?.state === "running";
    const length = run && duration(secondsOf(run));
    setText(when, run ? (running ? `for ${length}` : `${ago(run.start_ms)} · ${length}`) : "–");
    setText(what, run ? (running ? progressOf(run) : recordsOf(run)) : "");
    setText(cells.next, next ? ahead(next) : (pausedText(schedule) ?? "–"));
  }

  function tellMoments({ last_run: run, next_run_ms: next, schedule }) {
    when.title = run ? moment(run.start_ms) : "no run is known";
    what.className = run ? lookOf(run) : "";
    cells.last.classList.toggle("none", !run);
    cells.next.title = [next ? moment(next) : "", schedule ?? ""].filter(Boolean).join("\n");
  }

  /** Why it has failed, or needs attention: a line of its own, as wide as the row. */
  function tellWhy({ run_state: state, cause, attention }) {
    const text = state === "failed" ? cause : attention;
    show(why, Boolean(text));
    why.classList.toggle("failed", state === "failed");
    why.replaceChildren(...prose(withoutClass(text ?? "")));
    why.title = text ?? "";
  }

  function lag() {
    const found = lagOf(name);
    setText(cells.lag, found === undefined ? "–" : shortNumber(found));
    cells.lag.title = found === undefined ? (shown.type === "sink" ? "not known yet" : "sources have no lag in Kafka") : plural(found, "record");
  }

  return { element, update, lag };
}

const pausedText = (schedule) => (schedule?.includes("paused") ? schedule : null);

/** The first line of a trace without the name of the exception's class, and without what all rows would begin with. */
const withoutClass = (cause) => cause.replace(/^[\w.$]+: /, "").replace(/^(The c|C)onfiguration is invalid: /, "");

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
