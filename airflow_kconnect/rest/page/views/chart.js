// Runs as bars: as high as they were long, the newest on the right, the numbers of one of them below.

import { h, moment, setText, show } from "../parts/dom.js";
import { outLink } from "../parts/places.js";
import { duration, lookOf, recordsOf, replayOf, secondsOf, stateOf } from "../parts/runs.js";

export function runsChart() {
  const bars = h("ol", { class: "runs" });
  const most = h("span", {});
  const times = h("div", { class: "times", "aria-hidden": "true" });
  const numbers = h("p", { class: "numbers" });
  const plot = h("div", { class: "plot" }, h("div", { class: "axis", "aria-hidden": "true" }, most, h("span", {}, "0 s")), bars, times);
  const element = h("div", { class: "chart", hidden: true }, plot, numbers);
  let shown = null;

  /** Show these, of which the newest is the first. */
  function update(history) {
    const text = JSON.stringify(history);
    if (text === shown) return;
    shown = text;
    const began = history.filter((run) => run.start_ms).reverse();
    show(element, began.length > 0);
    if (!began.length) return;
    const longest = Math.max(...began.map(secondsOf), 0.1);
    setText(most, duration(longest));
    setText(times, [...new Set([began[0], began.at(-1)])].map((run) => moment(run.start_ms)).join(" – "));
    const at = [...bars.querySelectorAll(".place")].indexOf(document.activeElement);
    bars.replaceChildren(...began.map((run) => barOf(run, longest)));
    if (at >= 0) bars.querySelectorAll(".place")[at]?.focus();
    setText(numbers, `The last one: ${textOf(began.at(-1))}`);
  }

  function barOf(run, longest) {
    const text = textOf(run);
    const bar = h("span", { class: `bar ${lookOf(run)}${run.replay ? " replayed" : ""}` });
    bar.style.blockSize = `${Math.max((secondsOf(run) / longest) * 100, 6)}%`;
    const tell = () => setText(numbers, text);
    const of = run.url ? { "aria-label": `Log of the run: ${text}` } : { role: "img", "aria-label": text, tabindex: "0" };
    const link = outLink(run.url, { ...of, class: "place", onmouseenter: tell, onfocus: tell }, bar);
    return h("li", {}, link);
  }

  return { element, update };
}

const textOf = (run) => [moment(run.start_ms), stateOf(run).toLowerCase(), replayOf(run), duration(secondsOf(run)), recordsOf(run)].filter(Boolean).join(", ");
