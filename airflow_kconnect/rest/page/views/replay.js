// Questions that start a replay: of an interval, or of dead letters.

import { ofConnector, post } from "../parts/api.js";
import { h, toast } from "../parts/dom.js";
import { ask } from "../parts/dialogs.js";

/** Ask for an interval, and start the run. */
export function replayInterval(name) {
  const from = moment("replay-from", "From");
  const to = moment("replay-to", "To, exclusive");
  const dry = dryRun();
  return ask({
    title: "Replay an interval",
    text: "A run moves the records of this interval again. The live offsets stay where they are.",
    content: [from.element, to.element, dry.element],
    confirm: "Replay",
    read: () => ({ from: from.read(), to: to.read(), dry_run: dry.read() }),
    check: (body) => start(name, body),
  });
}

/** Ask whether, and start the run. */
export function replayDeadLetters(name) {
  const dry = dryRun();
  return ask({
    title: "Replay the dead letters?",
    text: "A run sends those that were not replayed before through the connector again. Records that fail again become dead letters again.",
    content: [dry.element],
    confirm: "Replay",
    read: () => ({ dead_letters: true, dry_run: dry.read() }),
    check: (body) => start(name, body),
  });
}

async function start(name, body) {
  const { run_id: id } = await post(`v1/${ofConnector(name, "/replay")}`, body);
  toast(`Run ${id} is started`);
}

function moment(id, label) {
  const input = h("input", { id, type: "datetime-local", step: 1 });
  const read = () => {
    if (!input.value) throw new Error(`${label.split(",")[0]} is missing`);
    return new Date(input.value).toISOString();
  };
  return { read, element: h("div", { class: "field" }, h("label", { for: id }, `${label} (your time zone)`), input) };
}

function dryRun() {
  const input = h("input", { type: "checkbox", id: "replay-dry-run" });
  return { read: () => input.checked, element: h("label", { class: "row" }, input, "Dry run: only report what would be moved") };
}
