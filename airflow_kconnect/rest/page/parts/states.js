// States of a batch tool: what a connector does between its runs, in one word, and whether someone should look at it.

import { h, icon } from "./dom.js";

const WORDS = { running: "Running now", failed: "Failed", no_dag: "No DAG", idle: "Idle", paused: "Paused", stopped: "Stopped", never_run: "Never run" };

/** Each state with its word; those that need a look come first. */
export const STATES = Object.entries(WORDS);

export const wordOf = (state) => WORDS[state] ?? state;

/** Failed, without what would run it, or idle after a run that was not quite right. */
export const needsAttention = ({ run_state: state, attention }) => state === "failed" || state === "no_dag" || Boolean(attention);

/** The look of a connector's state: amber if it needs attention and has not failed. */
const lookOf = (row) => (row.run_state !== "failed" && needsAttention(row) ? "attention" : row.run_state);

/** A state by icon, word and colour. */
export function stateBadge(row) {
  const look = lookOf(row);
  return h("span", { class: `badge ${look}` }, icon(look), wordOf(row.run_state));
}

const GOALS = { PAUSED: "pausing", STOPPED: "stopping" };

/** What a run in progress is to do, if it is to end. */
export const goalOf = ({ run_state: state, target_state: target }) => (state === "running" ? (GOALS[target] ?? null) : null);

const MEANINGS = {
  running: "a run is in progress",
  failed: "the last run has failed",
  no_dag: "nothing would start a run",
  idle: "waits for its next run",
  paused: "runs do nothing until it is resumed",
  stopped: "runs do nothing until it is resumed; offsets can be changed",
  never_run: "nothing was moved yet",
};

/** What a state means. */
export const meaningOf = ({ run_state: state }) => MEANINGS[state] ?? null;
