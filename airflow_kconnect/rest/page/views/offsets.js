// The committed offsets: shown for each partition, and changed while the connector is stopped.

import { get, ofConnector, request } from "../parts/api.js";
import { button, h, number, show, toast } from "../parts/dom.js";
import { ask } from "../parts/dialogs.js";
import { datesOf } from "../parts/offsets.js";

export function offsetsTab({ name, act }) {
  let last = null;
  let data = null;
  const head = h("thead", {});
  const body = h("tbody", {});
  const card = h("div", { class: "card table-card", hidden: true }, h("table", {}, h("caption", { class: "visually-hidden" }, "Committed offsets"), head, body));
  const nothing = h("p", { class: "nothing", hidden: true }, "No offsets yet: the first run begins at the beginning.");
  const loading = h("p", { class: "loading" }, "Loading …");
  const stop = button("Stop the connector", { icon: "stop", onclick: () => act("PUT", "/stop", `${name} is stopped`) });
  const hint = h("p", { class: "note", hidden: true }, "Offsets can be changed while the connector is stopped. ", stop);
  const add = button("Set an offset", { icon: "plus", onclick: () => edit(null) });
  const reset = button("Reset all", { kind: "danger-quiet", onclick: resetAll });
  const tools = h("div", { class: "row", hidden: true }, add, reset);
  const element = h("div", { class: "stack" }, hint, tools, loading, card, nothing);

  async function update(found) {
    data = found;
    const { offsets } = await get(`v1/${ofConnector(name, "/offsets")}`);
    const stopped = data.target_state === "STOPPED" && data.may_write;
    const text = JSON.stringify([offsets, stopped]);
    show(loading, false);
    show(hint, !stopped && data.may_write);
    show(tools, stopped);
    show(reset, offsets.length > 0);
    show(card, offsets.length > 0);
    show(nothing, offsets.length === 0);
    if (text === last) return;
    last = text;
    const ofTopics = offsets.every(({ partition }) => "kafka_topic" in partition);
    const labels = ofTopics ? ["Topic", "Partition", "Offset"] : ["Source partition", "Offset"];
    head.replaceChildren(h("tr", {}, labels.map((label) => h("th", { scope: "col", class: ofTopics && label !== "Topic" ? "number" : null }, label)), stopped ? h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "Change")) : null));
    body.replaceChildren(...offsets.map((entry) => h("tr", {}, ofTopics ? topicCells(entry) : sourceCells(entry), stopped ? h("td", { class: "buttons" }, button("Edit", { "aria-label": `Edit the offset of ${JSON.stringify(entry.partition)}`, onclick: () => edit(entry) })) : null)));
  }

  async function edit(entry) {
    const sink = data.type === "sink";
    const partition = area("Partition", entry?.partition ?? (sink ? { kafka_topic: "", kafka_partition: 0 } : {}), Boolean(entry));
    const offset = area("Offset, or null to reset this partition", entry?.offset ?? (sink ? { kafka_offset: 0 } : {}), false);
    const done = await ask({
      title: entry ? "Edit an offset" : "Set an offset",
      text: "The next run begins here: records before it are not read again, records after it are.",
      content: [partition.element, offset.element],
      confirm: "Save",
      read: () => ({ offsets: [{ partition: partition.read(), offset: offset.read() }] }),
      check: async (body) => toast((await request("PATCH", ofConnector(name, "/offsets"), body)).message),
    });
    if (done) await update(data);
  }

  async function resetAll() {
    const done = await ask({
      title: "Reset all offsets?",
      text: "The next run begins at the beginning: records may be copied a second time.",
      confirm: "Reset",
      kind: "danger",
      check: async () => toast((await request("DELETE", ofConnector(name, "/offsets"))).message),
    });
    if (done) await update(data);
  }

  return { element, update };
}

function topicCells({ partition, offset }) {
  return [
    h("th", { scope: "row" }, String(partition.kafka_topic)),
    h("td", { class: "number" }, String(partition.kafka_partition)),
    h("td", { class: "number" }, number(offset?.kafka_offset)),
  ];
}

function sourceCells({ partition, offset }) {
  const dates = datesOf(offset).map((text) => h("span", { class: "date" }, text));
  return [h("th", { scope: "row" }, h("code", {}, JSON.stringify(partition))), h("td", {}, h("code", {}, JSON.stringify(offset)), dates)];
}

function area(label, value, readonly) {
  const id = `offset-${label.slice(0, 6).toLowerCase()}`;
  const text = JSON.stringify(value, null, 1);
  const field = h("textarea", { id, rows: Math.max(3, text.split("\n").length), spellcheck: "false", readonly, value: text });
  return {
    element: h("div", { class: "field" }, h("label", { for: id }, label), field),
    read() {
      try {
        return JSON.parse(field.value);
      } catch (error) {
        throw new Error(`${label}: ${error.message}`);
      }
    },
  };
}
