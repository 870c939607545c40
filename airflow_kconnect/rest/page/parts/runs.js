// What a run has done, in words.

import { number, plural } from "./dom.js";

const COUNTS = [["read", "read"], ["written", "written"], ["filtered", "filtered"], ["dead_lettered", "dead-lettered"]];

/** `9 read, 9 dead-lettered`: zeros say nothing, except that there was nothing. */
export function recordsOf({ records, state }) {
  const counts = COUNTS.filter(([key]) => records?.[key]).map(([key, word]) => `${number(records[key])} ${word}`);
  return counts.join(", ") || (state === "failed" ? "no records" : "nothing new");
}

const LOOKS = { running: "running", failed: "failed", skipped: "stopped" };

/** How a run looks, as a state of a connector would: amber if it has ended well and someone should look at it all the same. */
export function lookOf(run) {
  if (run.state !== "success") return LOOKS[run.state] ?? "other";
  return run.records?.dead_lettered || run.warnings?.length || run.complete === false ? "attention" : "idle";
}

const WORDS = { success: "Succeeded", failed: "Failed", running: "Running now", queued: "Queued", skipped: "Skipped" };

/** The state in words. */
export const stateOf = (run) => (run.state === "success" && run.complete === false ? "Not complete" : (WORDS[run.state] ?? run.state));

/** What the run has moved again: `replay of dead letters`; null if it was none. */
export const replayOf = ({ replay }) => (replay ? `replay of ${replay}` : null);

export const secondsOf = (run) => ((run.end_ms ?? Date.now()) - run.start_ms) / 1000;

/** `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${seconds < 9.95 ? Number(seconds.toFixed(1)) : whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? joined(minutes, "min", whole % 60, "s") : joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

const joined = (most, unit, rest, small) => (rest ? `${most} ${unit} ${rest} ${small}` : `${most} ${unit}`);

/** How far a run is: `1,200 of 5,000, 340/s`. */
export function progressOf({ progress }) {
  if (!progress) return "";
  const { records, expected, rate } = progress;
  const done = expected ? `${number(records)} of ${number(expected)}` : plural(records ?? 0, "record");
  return rate ? `${done}, ${number(Math.round(rate))}/s` : done;
}
