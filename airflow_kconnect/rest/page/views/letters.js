// Dead letters: how many there are; their contents only for those who ask and may change the connector.

import { get, ofConnector } from "../parts/api.js";
import { replayDeadLetters } from "./replay.js";
import { button, h, moment, number, plural, toast } from "../parts/dom.js";

export function lettersTab({ name }) {
  let last = null;
  const summary = h("div", { class: "stack" });
  const list = h("div", { class: "stack" });
  const element = h("div", { class: "stack" }, summary, list);

  async function update(data) {
    const found = await get(`v1/${ofConnector(name, "/dead-letters")}`);
    const text = JSON.stringify([found, data.may_write, data.may_replay]);
    if (text === last) return;
    last = text;
    summary.replaceChildren(...describe(found, data));
  }

  function describe({ topic, records, attributed, not_replayed: left }, { may_write: allowed, may_replay: starts, type }) {
    if (topic === null) {
      return [h("p", { class: "nothing" }, "No topic of dead letters. ", h("code", {}, "errors.deadletterqueue.topic.name"), " names one, and ", h("code", {}, "errors.tolerance=all"), " sends records there that cannot be converted, transformed or written.")];
    }
    if (records === null) return [h("p", { class: "nothing" }, "The topic ", h("code", {}, topic), " does not exist yet: no record has failed.")];
    const can = allowed && attributed && records > 0;
    return [
      h("p", { class: "big" }, h("strong", {}, number(records)), records === 1 ? " record in " : " records in ", h("code", {}, topic), replayedText(records, left)),
      attributed || records === 0 ? null : h("p", { class: "note" }, "Contents can be shown if letters say whose they are: set ", h("code", {}, "errors.deadletterqueue.context.headers.enable=true"), "."),
      type === "sink" && records > 0 && !starts ? h("p", { class: "help" }, "After a fix, ", h("code", {}, "kconnect dlq replay"), " sends them through the connector again.") : null,
      h("p", { class: "row" }, can ? button("Show the last ones", { onclick: load }) : null, allowed && starts && type === "sink" && records > 0 ? button("Replay", { icon: "restart", onclick: () => replayDeadLetters(name) }) : null),
    ].filter(Boolean);
  }

  async function load(event) {
    event.target.disabled = true;
    try {
      const { dead_letters: letters } = await get(`v1/${ofConnector(name, "/dead-letters/last")}`);
      list.replaceChildren(h("p", { class: "help" }, letters.length ? `The last ${plural(letters.length, "letter")} of this connector, the newest first.` : "None of the last records in the topic is of this connector."), ...letters.map(letterCard));
    } catch (error) {
      toast(error.message, "bad");
    } finally {
      event.target.disabled = false;
    }
  }

  return { element, update };
}

/** What is left to replay; nothing where that is not known. */
function replayedText(records, left) {
  if (!records || left === null || left === undefined) return null;
  if (left === 0) return ": all replayed";
  return left < records ? [": ", h("strong", { class: "attention" }, `${number(left)} not replayed yet`)] : ": none replayed yet";
}

function letterCard(letter) {
  const { context } = letter;
  const place = context.topic ? `${context.topic}-${context.partition}@${context.offset}` : `${letter.topic}-${letter.partition}@${letter.offset}`;
  return h(
    "section",
    { class: "card letter", "aria-label": `Dead letter ${place}` },
    h("div", { class: "row" }, h("h2", {}, place), h("span", { class: "detail" }, moment(letter.timestamp))),
    h("p", { class: "cause" }, context["exception.message"] ?? context["exception.class.name"] ?? "No cause is noted."),
    h("p", { class: "help" }, [context.stage, context["class.name"]].filter(Boolean).join(" · ")),
    part("Key", letter.key),
    part("Value", letter.value),
    letter.headers.length ? part("Headers", letter.headers.map(({ key, value }) => `${key}: ${value}`).join("\n")) : null,
  );
}

function part(label, text) {
  return h("div", { class: "part" }, h("h3", {}, label), text === null ? h("span", { class: "detail" }, "null") : h("pre", { tabindex: "0", "aria-label": label }, text));
}
