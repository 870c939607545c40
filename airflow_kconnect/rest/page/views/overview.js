// What a connector is and does: the last run, the next one, what is left, and where all that is configured.

import { get, inParts, ofConnector } from "../parts/api.js";
import { ago, ahead, h, moment, number, plural, prose, show } from "../parts/dom.js";
import { placesOf } from "../parts/places.js";
import { duration, lookOf, progressOf, recordsOf, replayOf, secondsOf, stateOf } from "../parts/runs.js";
import { goalOf, meaningOf, stateBadge } from "../parts/states.js";
import { offsetText } from "../parts/offsets.js";
import { runsChart } from "./chart.js";
import { troubleOf } from "./trouble.js";

export function overviewTab({ name }) {
  let last = null;
  const facts = h("dl", { class: "facts", hidden: true });
  const chart = runsChart();
  const runs = h("section", { hidden: true }, h("h2", {}, "Last runs"), chart.element);
  const trouble = troubleOf();
  const warnings = h("section", { class: "trouble attention", "aria-label": "Warnings of the last run", hidden: true });
  const element = h("div", { class: "stack" }, trouble.element, warnings, facts, runs);
  const askForLags = inParts("v1/lags");
  let lag;
  let letters = null;

  async function update(data) {
    trouble.update(data);
    tellWarnings(data);
    chart.update(data.history);
    show(runs, data.history.some((run) => run.start_ms));
    tell(data);
    [lag, letters] = await Promise.all([lagOf(askForLags, name, data), lettersOf(name, data)]);
    tell(data);
  }

  function tell(data) {
    const text = JSON.stringify([data, lag, letters, Math.floor(Date.now() / 5000)]);
    if (text === last) return;
    last = text;
    facts.replaceChildren(...factsOf(data, lag, letters).filter(Boolean));
    show(facts, true);
  }

  function tellWarnings({ last_run: run, attention }) {
    const found = run?.warnings ?? [];
    const text = JSON.stringify([found, attention]);
    if (warnings.dataset.shown === text) return;
    warnings.dataset.shown = text;
    show(warnings, Boolean(found.length || attention));
    const list = found.length ? h("ul", {}, found.map((each) => h("li", {}, prose(each)))) : null;
    warnings.replaceChildren(h("h2", {}, attention ? prose(capital(attention)) : "Warnings of the last run"), ...(list ? [list] : []));
  }

  return { element, update };
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function factsOf(data, lag, letters) {
  const { last_run: run } = data;
  return [
    fact("State", stateBadge(data), goalOf(data) ?? meaningOf(data)),
    run?.state === "running" ? progressFact(run) : lastRunFact(data),
    nextFact(data),
    data.type === "sink" ? fact("Lag", lag === undefined ? "–" : number(lag), "records left to read, in offsets") : null,
    fact("Fresh as of", data.fresh_ms ? ago(data.fresh_ms) : "–", data.fresh_ms ? `${moment(data.fresh_ms)}, when the last complete run began` : "no complete run is known"),
    lettersFact(data, letters),
    fact("Committed offsets", data.offsets ? plural(data.offsets.partitions, "partition") : "none", newest(data.offsets)),
    fact("Topics used", number(data.topics.length), data.topics.slice(0, 3).map((topic) => topic.name).join(", ") || "none yet"),
    placesFact(data.configured),
  ];
}

function fact(label, value, detail, look = "") {
  return h("div", { class: `fact ${look}` }, h("dt", {}, label), h("dd", {}, h("span", { class: "value" }, value), detail ? h("span", { class: "detail" }, detail) : null));
}

function lastRunFact({ last_run: run, run_state: state }) {
  if (!run) return fact("Last run", state === "never_run" ? "none yet" : "not known");
  const look = lookOf(run);
  return fact("Last run", recordsOf(run), [stateOf(run), replayOf(run), duration(secondsOf(run)), `${ago(run.start_ms)}, ${moment(run.start_ms)}`].filter(Boolean).join(" · "), look === "idle" ? "" : look);
}

function progressFact(run) {
  const { records, expected } = run.progress ?? {};
  const bar = h("progress", { "aria-label": "Progress of the run", max: expected || null, value: expected ? Math.min(records, expected) : undefined });
  return fact("Running now", [progressOf(run) || "starting", bar], `for ${duration(secondsOf(run))}, since ${moment(run.start_ms)}`, "running");
}

function nextFact({ next_run_ms: next, schedule, run_state: state, name, registered, configured }) {
  if (state === "no_dag") return fact("Next run", "none", "no DAG runs it: the file of registered connectors is missing in the DAGs folder, or was not parsed yet", "attention");
  if (next) return fact("Next run", ahead(next), `${moment(next)}${schedule ? `, ${schedule}` : ""}`);
  if (schedule) return fact("Next run", "–", schedule);
  // This server may be another one than Airflow's, which then knows the schedule.
  if (configured.some(({ kind, url }) => kind === "dag" && !url)) return fact("Next run", "–", "by the schedule of its DAG");
  const what = registered ? name : configured.find(({ kind }) => kind === "file")?.path;
  return fact("Next run", "–", what ? ["not scheduled: ", h("code", {}, `kconnect run ${what}`), " runs it now"] : "not scheduled");
}

function lettersFact({ dead_letter_topic: topic }, letters) {
  if (!topic) return fact("Dead letters", "none", "a record that fails ends the run, unless errors are tolerated");
  if (!letters) return fact("Dead letters", "–", topic);
  const { records, not_replayed: left } = letters;
  const open = left ?? records ?? 0;
  const detail = left === null || left === undefined ? `in ${topic}` : records ? (open ? `not replayed yet, of ${number(records)} in ${topic}` : `all ${number(records)} in ${topic} are replayed`) : `in ${topic}`;
  return fact("Dead letters", number(open), detail, open ? "attention" : "");
}

function placesFact(configured) {
  const places = placesOf(configured);
  return places.length ? fact("Configured", h("span", { class: "text" }, places.map((place) => h("span", { class: "line" }, place)))) : null;
}

function newest(offsets) {
  if (!offsets) return "nothing was committed yet";
  if (offsets.records !== null) return `${offsets.partitions > 1 ? "offsets add up to" : "at offset"} ${number(offsets.records)}`;
  return `newest: ${offsetText(offsets.newest.offset)}`;
}

async function lagOf(ask, name, { type }) {
  if (type !== "sink") return undefined;
  try {
    return (await ask()).rows.find((each) => each.name === name)?.lag;
  } catch {
    return undefined;
  }
}

async function lettersOf(name, { dead_letter_topic: topic }) {
  if (!topic) return null;
  try {
    return await get(`v1/${ofConnector(name, "/dead-letters")}`);
  } catch {
    return null;
  }
}
