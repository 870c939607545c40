// Offsets of sources, for people: points in time have their date next to the number.

import { moment, number } from "./dom.js";

const TIME = /time|date|(^|_)ts(_|$)|_ms$/i;
const EPOCH_MS = [1e12, 4.2e12]; // 2001 to 2103

/** `timestamp 26 Nov 2026, 01:02:03, incrementing 7`. */
export function offsetText(offset) {
  return Object.entries(offset ?? {}).map(([key, value]) => `${key} ${valueText(key, value)}`).join(", ");
}

/** The points in time of an offset, as texts: none, or `timestamp: 26 Nov 2026, 01:02:03`. */
export function datesOf(offset) {
  return Object.entries(offset ?? {}).filter(([key, value]) => isTime(key, value)).map(([key, value]) => `${key}: ${moment(value)}`);
}

function valueText(key, value) {
  if (isTime(key, value)) return moment(value);
  return typeof value === "number" ? number(value) : JSON.stringify(value);
}

const isTime = (key, value) => typeof value === "number" && value >= EPOCH_MS[0] && value < EPOCH_MS[1] && TIME.test(key);
