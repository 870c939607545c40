// Whether what is shown may be old: the banner says so in plain words, and what is shown loses its colours.

import { banner } from "./dom.js";

let asOf = null;

/** An answer has come that is up to date. */
export function fresh() {
  asOf = new Date().toLocaleTimeString("en-GB");
  faded(false);
}

/** None has come: `who` does not answer; `why` is the text of the server or of Kafka's client. */
export function old(who, why = null) {
  const since = asOf ? `this is as of ${asOf}` : "nothing is known yet";
  banner(`${who} does not answer: ${since}. Asking again every few seconds.`, why);
  faded(true);
}

export const faded = (is) => document.documentElement.classList.toggle("old", is);
