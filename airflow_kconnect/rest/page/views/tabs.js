// What a connector is, its tasks and its topics.

import { get } from "../parts/api.js";
import { ago, badge, button, h, moment, number, plural, setText, show, time } from "../parts/dom.js";
import { ask } from "../parts/dialogs.js";

export function overviewTab({ name }) {
  let last = null;
  const facts = h("dl", { class: "facts", hidden: true });
  const runs = h("section", { hidden: true });
  const trouble = h("section", { hidden: true });
  const element = h("div", { class: "stack" }, trouble, facts, runs);

  async function update(data) {
    const text = JSON.stringify([data, Math.floor(Date.now() / 5000)]);
    if (text === last) return;
    last = text;
    showTrouble(trouble, data);
    showRuns(runs, data.history);
    const lag = data.type === "sink" ? await lagOf(name) : null;
    const failed = data.tasks.filter((task) => task.state === "FAILED").length;
    const shown = [
      fact("State", badge(data.state), `target: ${data.target_state.toLowerCase()}`),
      fact("Tasks", number(data.tasks.length), failed ? `${failed} failed` : data.tasks.length ? "none failed" : "made by the first run"),
      data.type === "sink" ? fact("Lag", lag === undefined ? "–" : number(lag), "left to read, in offsets") : null,
      fact("Committed offsets", data.offsets ? plural(data.offsets.partitions, "partition") : "none", newest(data.offsets)),
      fact("Last change", time(data.changed_ms), moment(data.changed_ms)),
      fact("Topics used", number(data.topics.length), data.topics.slice(0, 3).map((topic) => topic.name).join(", ") || "none yet"),
      fact("Dead letters", h("span", { class: "text" }, data.dead_letter_topic ?? "none"), data.dead_letter_topic ? "topic for records that fail" : "a record that fails ends the run, unless errors are tolerated"),
      fact("Worker", h("span", { class: "text" }, data.worker_id ?? "–"), "wrote the last status"),
    ];
    facts.replaceChildren(...shown.filter(Boolean));
    show(facts, true);
  }

  return { element, update };
}

async function lagOf(name) {
  try {
    return (await get("v1/lags")).lags[name];
  } catch {
    return undefined;
  }
}

function newest(offsets) {
  if (!offsets) return "nothing was committed yet";
  if (offsets.records !== null) return `${offsets.partitions > 1 ? "offsets add up to" : "at offset"} ${number(offsets.records)}`;
  return `newest: ${JSON.stringify(offsets.newest.offset)}`;
}

function fact(label, value, detail) {
  return h("div", { class: "fact" }, h("dt", {}, label), h("dd", {}, h("span", { class: "value" }, value), detail ? h("span", { class: "detail" }, detail) : null));
}

function showTrouble(section, data) {
  const failed = [["the connector", data.trace], ...data.tasks.map((task) => [`task ${task.id}`, task.trace])].filter(([, trace]) => trace);
  const whose = Map.groupBy(failed, ([, trace]) => trace);
  const traces = [...whose].map(([trace, all]) => [sentence(all.map(([who]) => who)), trace]);
  show(section, traces.length > 0);
  const text = JSON.stringify(traces);
  if (section.dataset.shown === text) return;
  section.dataset.shown = text;
  section.replaceChildren(...traces.map(([title, trace]) => h("div", { class: "trouble" }, h("h2", {}, title), traceOf(trace, title))));
}

function sentence(names) {
  const text = `${names.join(" and ")} ${names.length > 1 ? "have" : "has"} failed`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const traceOf = (trace, label) => h("pre", { class: "trace", tabindex: "0", "aria-label": label }, trace);

/** A bar per run, as high as it was long; the page of a run is a click away. */
function showRuns(section, history) {
  show(section, history.some((run) => run.start_ms));
  const began = history.filter((run) => run.start_ms).reverse();
  const longest = Math.max(...began.map(secondsOf), 1);
  const warnings = began.at(-1)?.warnings ?? [];
  section.replaceChildren(
    h("h2", {}, "Last runs"),
    warnings.length ? h("ul", { "aria-label": "Warnings of the last run" }, warnings.map((text) => h("li", {}, `Warning: ${text}`))) : "",
    h(
      "ol",
      { class: "runs" },
      began.map((run) => {
        const told = run.warnings?.length ? `, ${plural(run.warnings.length, "warning")}` : "";
        const text = `${run.state}, ${Math.round(secondsOf(run))} s, ${ago(run.start_ms)}${run.records?.written === undefined ? "" : `, ${plural(run.records.written, "record")}`}${told}`;
        const bar = h("span", { class: `bar ${run.state}` });
        bar.style.blockSize = `${Math.max((secondsOf(run) / longest) * 100, 6)}%`;
        const safe = run.url && /^(https?:|[/#])/.test(run.url);
        return h("li", {}, safe ? h("a", { href: run.url, target: "_top", title: text, "aria-label": text }, bar) : h("span", { role: "img", title: text, "aria-label": text }, bar));
      }),
    ),
  );
}

const secondsOf = (run) => ((run.end_ms ?? Date.now()) - run.start_ms) / 1000;

export function tasksTab({ act }) {
  let last = null;
  const element = h("div", { class: "stack" });

  function update({ tasks, may_write: allowed }) {
    const text = JSON.stringify([tasks, allowed]);
    if (text === last) return;
    last = text;
    if (!tasks.length) {
      element.replaceChildren(h("p", { class: "nothing" }, "No tasks: the first run makes them, and a stopped connector has none."));
      return;
    }
    element.replaceChildren(...tasks.map(taskCard));
  }

  function taskCard(task) {
    const restart = button("Restart", { icon: "restart", onclick: () => act("POST", `/tasks/${task.id}/restart`, `A run of the connector is started for task ${task.id}`) });
    return h(
      "section",
      { class: "card task", "aria-label": `Task ${task.id}` },
      h("div", { class: "row" }, h("h2", {}, `Task ${task.id}`), badge(task.state), h("span", { class: "detail grow" }, task.worker_id), last && JSON.parse(last)[1] ? restart : null),
      task.trace ? traceOf(task.trace, `Why task ${task.id} has failed`) : null,
    );
  }

  return { element, update };
}

export function topicsTab({ name, act }) {
  const body = h("tbody", {});
  const table = h("table", {}, h("caption", { class: "visually-hidden" }, "Topics used"), h("thead", {}, h("tr", {}, ["Topic", "First seen", "By task"].map((label) => h("th", { scope: "col" }, label)))), body);
  const card = h("div", { class: "card table-card" }, table);
  const nothing = h("p", { class: "nothing" }, "No topics yet: a run notes which topics it has read or written.");
  const reset = button("Forget these topics", { onclick: forget });
  const element = h("div", { class: "stack" }, card, nothing, h("p", {}, reset));
  let last = null;

  function update({ topics, may_write: allowed }) {
    const text = JSON.stringify([topics, allowed]);
    if (text === last) return;
    last = text;
    show(card, topics.length > 0);
    show(nothing, topics.length === 0);
    show(reset, topics.length > 0 && allowed);
    body.replaceChildren(...topics.map((topic) => h("tr", {}, h("th", { scope: "row" }, topic.name), h("td", {}, moment(topic.discovered_ms)), h("td", { class: "number" }, number(topic.task)))));
  }

  async function forget() {
    const sure = await ask({ title: "Forget the topics?", text: "Only the list is emptied: topics and offsets stay. The next run notes them again.", confirm: "Forget" });
    if (sure) await act("PUT", "/topics/reset", `The topics of ${name} are forgotten`);
  }

  return { element, update };
}
