// What the converters and each transformation make of records: of samples, of the latest ones in a sink's topics, or of
// those that a source would read next. With the configuration as it is being edited, too.

import { ofConnector, post } from "../parts/api.js";
import { button, h, moment, prose, setText, shortClass, show } from "../parts/dom.js";

const EXAMPLE = '{"id": 1}';

export function previewTab({ name, edited }) {
  let kind = null;
  const latest = h("select", { id: "preview-latest" }, [1, 3, 5, 10, 20].map((count) => h("option", { value: count, selected: count === 3 }, String(count))));
  const howMany = h("label", { for: "preview-latest" });
  const ofTopics = h("div", { class: "field" }, howMany, latest);
  const topic = h("input", { id: "preview-topic", autocomplete: "off", spellcheck: "false" });
  const key = area("preview-key", 2);
  const value = area("preview-value", 8);
  const samples = h("div", { class: "stack" }, field("preview-topic", "Topic", topic), field("preview-key", "Key, empty: null", key), field("preview-value", "Value, empty: null", value));
  const liveLabel = h("span");
  const unread = h("p", { class: "help", hidden: true });
  const live = choice("latest", liveLabel);
  const own = choice("sample", "A sample record");
  const schemas = h("input", { type: "checkbox", id: "preview-schemas" });
  const changes = h("input", { type: "checkbox", id: "preview-changes", checked: true });
  const withChanges = h("label", { class: "row", hidden: true }, changes, "With the unsaved changes of the configuration");
  const run = button("Preview", { kind: "primary", onclick: ask });
  const hint = h("p", { class: "help", role: "status" }, "Nothing is written anywhere. It takes some seconds: Spark is started for it.");
  const error = h("p", { class: "error", role: "alert" });
  const results = h("div", { class: "stack" });
  const form = h(
    "fieldset",
    { class: "card previewing", disabled: true },
    h("legend", { class: "visually-hidden" }, "Which records?"),
    h("div", { class: "row" }, live.element, own.element),
    unread,
    ofTopics,
    samples,
    withChanges,
    h("label", { class: "row" }, schemas, "Show schemas"),
    h("div", { class: "row" }, run, hint),
    error,
  );
  const nothing = h("p", { class: "note", hidden: true }, "Only those who may change the connector can preview its transformations.");
  const element = h("div", { class: "stack" }, nothing, form, results);

  function update(data) {
    show(nothing, !data.may_write);
    show(form, data.may_write);
    show(withChanges, edited() !== null);
    if (kind === data.type) return;
    kind = data.type;
    form.disabled = false;
    const readable = kind === "sink" || data.reads_source;
    setText(liveLabel, kind === "sink" ? "Records of its topics" : "The next records it would read");
    setText(howMany, kind === "sink" ? "Latest records of its topics" : "How many");
    unread.replaceChildren(...prose(data.unread_source ? `Its next records are not shown. ${data.unread_source}` : ""));
    show(unread, Boolean(data.unread_source));
    show(live.element, readable);
    (readable ? live : own).input.checked = true;
    topic.value = data.topics[0]?.name ?? (data.config.topics ?? data.config.topic ?? "").split(",")[0].trim();
    value.value = EXAMPLE;
    arrange();
  }

  function choice(id, label) {
    const input = h("input", { type: "radio", name: "preview-of", id: `preview-of-${id}`, onchange: () => arrange() });
    return { input, element: h("label", { class: "row" }, input, label) };
  }

  function arrange() {
    show(ofTopics, live.input.checked);
    show(samples, own.input.checked);
  }

  async function ask() {
    run.disabled = true;
    setText(error, "");
    setText(hint, "Starting Spark …");
    try {
      const records = live.input.checked ? { latest: Number(latest.value) } : { records: [{ topic: topic.value, key: key.value || null, value: value.value || null }] };
      const config = changes.checked ? edited() : null;
      const answer = await post(`v1/${ofConnector(name, "/preview")}`, { ...records, ...(config ? { config } : {}), schemas: schemas.checked });
      results.replaceChildren(...answer.records.map((record, at) => recordCard(record, answer.transformations, at + 1)));
      setText(hint, `${outcomeOf(answer)}${config ? " These are the unsaved changes." : ""}`);
    } catch (problem) {
      setText(error, problem.message);
      setText(hint, "");
    } finally {
      run.disabled = false;
    }
  }

  return { element, update };
}

function outcomeOf({ records, transformations }) {
  if (!records.length) return "There is nothing new to read.";
  return transformations.length ? "Lines that a step has changed are marked." : "There are no transformations: this is what it gets.";
}

const area = (id, rows) => h("textarea", { id, rows, spellcheck: "false", class: "code" });
const field = (id, label, input) => h("div", { class: "field" }, h("label", { for: id }, label), input);

function recordCard({ before, read, after }, transformations, number) {
  const changed = after.map((record, at) => [transformations[at].alias, describe(transformations[at]), record]);
  const first = before === null ? [["Read", "from the source", read]] : [["Before", "", before], ["Read", "by the converters", read]];
  const steps = [...first, ...changed];
  const place = placeOf(before, read, number);
  const timestamp = (before ?? read).timestamp;
  return h(
    "section",
    { class: "card preview", "aria-label": `Preview of ${place}` },
    h("div", { class: "row" }, h("h2", {}, place), timestamp ? h("span", { class: "detail" }, moment(timestamp)) : null),
    h("ol", { class: "steps" }, steps.map(([title, detail, record], at) => step(title, detail, record, at >= first.length ? steps[at - 1][2] : null))),
  );
}

function placeOf(before, read, number) {
  if (before === null) return `Record ${number}${read.topic ? ` for ${read.topic}` : ""}`;
  if (before.partition === undefined || before.partition === null) return before.topic || "Sample";
  return `${before.topic}-${before.partition}@${before.offset}`;
}

const describe = ({ class: name, predicate, negate }) => `${shortClass(name)}${predicate ? `, ${negate ? "unless" : "if"} ${predicate}` : ""}`;

function step(title, detail, record, previous) {
  return h("li", {}, h("h3", {}, title, " ", h("span", { class: "detail" }, detail)), outcome(record, previous));
}

function outcome(record, previous) {
  if (record.dropped) return h("p", { class: "dropped" }, "The record is dropped here.");
  if (record.error) return h("p", { class: "cause" }, `${record.error.message} `, h("span", { class: "detail" }, [record.error.stage, shortClass(record.error.class ?? "")].filter(Boolean).join(" · ")));
  if (previous && text(record) === text(previous)) return h("p", { class: "help" }, "No change.");
  const known = previous ? new Set(text(previous).split("\n")) : null;
  const [shown, schemas] = previous ? [record, []] : withoutSchemas(record);
  const lines = text(shown).split("\n").map((line) => (known && !known.has(line) ? h("mark", {}, line, "\n") : `${line}\n`));
  return h("div", {}, h("pre", { tabindex: "0", "aria-label": "Record" }, lines), schemas);
}

/** A record as it is in Kafka may have its schema in each value: that is folded. */
function withoutSchemas(record) {
  const schemas = [];
  const shown = { ...record };
  for (const part of ["key", "value"]) {
    const data = parsed(record[part]);
    if (!data || typeof data !== "object" || Object.keys(data).sort().join() !== "payload,schema" || !data.schema) continue;
    shown[part] = JSON.stringify(data.payload);
    schemas.push(h("details", { class: "schema" }, h("summary", {}, `Schema of the ${part}`), h("pre", { tabindex: "0", "aria-label": `Schema of the ${part}` }, pretty(data.schema))));
  }
  return [shown, schemas];
}

function parsed(data) {
  try {
    return typeof data === "string" ? JSON.parse(data) : data;
  } catch {
    return null;
  }
}

/** The parts of a record, one line for each member of its value. */
function text({ topic, key, value, headers, timestamp, partition }) {
  const parts = [["topic", topic], ["partition", partition], ["timestamp", timestamp], ["key", pretty(key)], ...(headers ?? []).map((header) => [`header ${header.key}`, header.value]), ["value", pretty(value)]];
  return parts.filter(([, part]) => part !== undefined && part !== null && part !== "").map(([name, part]) => `${name}: ${part}`).join("\n");
}

function pretty(data) {
  if (data === null || data === undefined) return "null";
  try {
    return JSON.stringify(typeof data === "string" ? JSON.parse(data) : data, null, 2);
  } catch {
    return data;
  }
}
