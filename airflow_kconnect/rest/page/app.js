// The Connectors page: which view is shown, and when it asks the server again.

import { onUnauthorized } from "./parts/api.js";
import { banner, h } from "./parts/dom.js";
import { ask, askToken } from "./parts/dialogs.js";
import { connectorView } from "./views/connector.js";
import { createView } from "./views/create.js";
import { listView } from "./views/list.js";
import { followTheme } from "./parts/theme.js";

const REFRESH_MS = 5000;
const main = document.getElementById("main");

let view = null;
let shown = null; // the hash of the view
let refreshing = false;

/** `#/`, `#/new`, `#/connector/<name>` or `#/connector/<name>/<tab>`. */
function viewOf(hash) {
  const [, kind, name, tab] = hash.split("/");
  if (kind === "connector" && name) return ["connector", decode(name), tab || "overview"];
  return kind === "new" ? ["new"] : ["list"];
}

function decode(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

async function route() {
  const hash = location.hash;
  if (hash === "#main") {
    history.replaceState(null, "", shown || "#/");
    main.focus();
    return;
  }
  if (hash === shown) return;
  const [kind, name, tab] = viewOf(hash);
  if (view?.stays?.(kind, name, tab) || !(await mayLeave())) {
    if (view?.stays?.(kind, name, tab)) shown = hash;
    else history.replaceState(null, "", shown);
    return;
  }
  view?.close?.();
  const first = shown === null;
  shown = hash;
  banner(null);
  view = kind === "connector" ? connectorView(name, tab) : kind === "new" ? createView() : listView();
  main.replaceChildren(view.element);
  if (!first) main.focus({ preventScroll: true });
  scrollTo(0, 0);
  refresh();
}

async function mayLeave() {
  if (!view?.changed?.()) return true;
  return ask({ title: "Discard your changes?", text: "They have not been saved.", confirm: "Discard", kind: "danger" });
}

/** Ask for new data, unless the last answer is still awaited. */
async function refresh() {
  if (refreshing || !view?.refresh) return;
  refreshing = true;
  const asking = view;
  try {
    await asking.refresh();
    if (asking === view) banner(asking.problem?.() ?? null);
  } catch (error) {
    if (asking === view) banner(error.message);
  } finally {
    refreshing = false;
    if (asking !== view) refresh();
  }
}

function tick() {
  if (document.visibilityState === "visible") refresh();
}

followTheme();
onUnauthorized(askToken);
addEventListener("hashchange", route);
document.addEventListener("visibilitychange", tick);
setInterval(tick, REFRESH_MS);
route().catch((error) => main.replaceChildren(h("p", { class: "error" }, error.message)));
