// What is shown, in the address after #: a reload, or someone with the link, sees the same.

import { outer } from "./frame.js";

/** The address of what is shown; null before the first view. */
export let shown = null;

/** `#/?<filters>`, `#/new`, `#/new/<class>`, `#/new?from=<name>`, `#/connector/<name>` or `#/connector/<name>/<tab>`, in parts. */
export function viewOf(hash) {
  const [path, query = ""] = hash.split("?", 2);
  const [, kind, name, tab] = path.split("/");
  const values = new URLSearchParams(query);
  if (kind === "connector" && name) return { kind, name: decoded(name), tab: tab || "overview", values };
  return kind === "new" ? { kind, name: name ? decoded(name) : null, values } : { kind: "list", values };
}

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** In a frame that was opened without an address of its own: what the address of the page around it says. */
export function takeOuterAddress() {
  const hash = outer?.location.hash ?? "";
  if (!location.hash && hash.startsWith("#/")) history.replaceState(null, "", hash);
}

/** Note what is shown, without another step in the browser's history; in a frame, the page around it has the same. */
export function setAddress(hash) {
  shown = hash;
  if (hash !== location.hash) history.replaceState(null, "", hash || "#/");
  if (!outer || outer.location.hash === hash) return;
  const { pathname, search } = outer.location;
  // Not `hash` alone: it would be relative to the <base> of that page. The state is that of its router.
  outer.history.replaceState(outer.history.state, "", pathname + search + hash);
}
