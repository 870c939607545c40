// The Connectors page: which view is shown, and when it asks the server again.

import { setAddress, shown, takeOuterAddress, viewOf } from "./parts/address.js";
import { onUnauthorized } from "./parts/api.js";
import { banner, h } from "./parts/dom.js";
import { ask, askToken } from "./parts/dialogs.js";
import { faded, fresh, old } from "./parts/freshness.js";
import { connectorView } from "./views/connector.js";
import { createView } from "./views/create.js";
import { listView } from "./views/list.js";
import { followTheme } from "./parts/theme.js";

const REFRESH_MS = 5000;
const main = document.getElementById("main");

let view = null;
let refreshing = false;

async function route() {
  const hash = location.hash;
  if (hash === "#main") {
    setAddress(shown ?? "#/");
    main.focus();
    return;
  }
  if (hash === shown) return;
  const wanted = viewOf(hash);
  if (view?.stays?.(wanted)) {
    setAddress(hash);
    return;
  }
  if (!(await mayLeave())) {
    setAddress(shown);
    return;
  }
  view?.close?.();
  const first = shown === null;
  setAddress(hash);
  banner(null);
  faded(false);
  view = made(wanted);
  main.replaceChildren(view.element);
  if (!first) main.focus({ preventScroll: true });
  scrollTo(0, 0);
  refresh();
}

function made({ kind, name, tab, values }) {
  if (kind === "connector") return connectorView(name, tab);
  return kind === "new" ? createView(name, values.get("from")) : listView(values);
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
    if (asking === view) tell(asking.problem?.() ?? null, asking.notice?.() ?? []);
  } catch (error) {
    if (asking === view) tellError(error);
  } finally {
    refreshing = false;
    if (asking !== view) refresh();
  }
}

function tell(problem, notice) {
  if (problem) {
    old("Kafka", problem);
    return;
  }
  fresh();
  banner(...notice);
}

/** What the server refuses is said in its words; without an answer, what is shown is old. */
function tellError(error) {
  if (error.status === 0) old("The server");
  else if (error.status === 503) old("Kafka", error.message);
  else banner(error.message);
}

function tick() {
  if (document.visibilityState === "visible") refresh();
}

followTheme();
takeOuterAddress();
onUnauthorized(askToken);
addEventListener("hashchange", route);
document.addEventListener("visibilitychange", tick);
setInterval(tick, REFRESH_MS);
route().catch((error) => main.replaceChildren(h("p", { class: "error" }, error.message)));
