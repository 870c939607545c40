// Where a connector is configured: in a task of a DAG, in a file, or as a registered one.

import { h } from "./dom.js";
import { leave } from "./frame.js";

/** A link that leaves this page; the text alone if there is no address, or one that is none of a page. */
export function outLink(url, properties, ...children) {
  if (!url || !/^(https?:|\/(?![/\\]))/.test(url)) return h("span", properties, ...children);
  return h("a", { ...properties, href: url, rel: "noopener", onclick: leave }, ...children);
}

/** The places, as nodes for a line: `in DAG shop_mirror · read_shop`, `in file orders.json`. */
export function placesOf(configured) {
  return configured.filter(({ kind, dag_id: dag }) => kind !== "registered" || dag).map(placeOf);
}

function placeOf(place) {
  if (place.kind === "file") return h("span", { title: `${place.path}${place.host ? ` on ${place.host}` : ""}` }, `in file ${place.path.slice(place.path.lastIndexOf("/") + 1)}`);
  const task = place.task_id ? ` · ${place.task_id}` : "";
  return h("span", {}, "in DAG ", outLink(place.url, {}, `${place.dag_id}${task}`));
}

/** The same as a text. */
export const placesText = (configured) => configured.map(({ dag_id: dag, task_id: task, path }) => [dag, task, path].filter(Boolean).join(" ")).join("\n");
