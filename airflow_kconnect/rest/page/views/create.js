// A new connector: first its class, then its settings. `#/new`, `#/new/<class>`, `#/new?from=<connector>`.

import { get, ofConnector, request } from "../parts/api.js";
import { button, h, icon, setText, shortClass, toast } from "../parts/dom.js";
import { draftOf } from "../parts/drafts.js";
import { connectionHelp } from "./connection.js";
import { configForm } from "./form.js";

const STATES = [
  ["RUNNING", "Running: the next run begins"],
  ["PAUSED", "Paused: runs do nothing"],
  ["STOPPED", "Stopped: offsets can be set before the first run"],
];
const HIDDEN = "[hidden]";
const CUT_OFF = "... (cut off)";

/** className: the class of the address; null: it is to be chosen. from: a connector that is not registered. */
export function createView(className = null, from = null) {
  let touched = false;
  let forget = () => {};
  const place = h("div", { class: "stack" }, h("p", { class: "loading" }, "Loading …"));
  const element = h(
    "div",
    { class: "view" },
    h("nav", { "aria-label": "Breadcrumb" }, h("a", { class: "back", href: "#/" }, icon("back"), "Connectors")),
    h("header", { class: "top" }, h("h1", {}, "New connector")),
    place,
  );
  start().catch((error) => place.replaceChildren(h("p", { class: "error", role: "alert" }, error.message)));

  async function start() {
    if (from !== null) {
      const { config, class: known } = await get(`v1/${ofConnector(from)}`);
      fill(asItRan({ "connector.class": known, ...config, name: from }), draftOf(`from ${from}`));
    } else if (className) fill(new Map([["connector.class", className]]), draftOf(className));
    else await choose();
  }

  async function choose() {
    const { plugins } = await get("v1/plugins");
    const kinds = [["source", "Sources", "copy into Kafka"], ["sink", "Sinks", "copy out of Kafka"]];
    place.replaceChildren(
      h("p", { class: "lead" }, "Which connector?"),
      ...kinds.map(([kind, title, text]) =>
        h("section", { "aria-label": title }, h("h2", { class: "kind-title" }, icon(kind), title, h("span", { class: "detail" }, text)), h("div", { class: "plugins" }, plugins.filter((plugin) => plugin.type === kind).map(pluginCard))),
      ),
    );
  }

  function fill(values, draft) {
    touched = draft.restore(values);
    forget = draft.forget;
    const problem = h("p", { class: "error", role: "alert" });
    const state = h("select", { id: "initial-state" }, STATES.map(([value, label]) => h("option", { value }, label)));
    const create = button("Create", { kind: "primary", onclick: submit });
    const test = connectionHelp({ values, name: () => (values.get("name") ?? "").trim() });
    const form = configForm({
      values,
      // The class can be changed in the JSON.
      validateAt: () => `v1/plugins/${encodeURIComponent(values.get("connector.class") || className)}/config/validate`,
      fixed: ["connector.class"],
      strict: false,
      onChange() {
        touched = true;
        draft.keep(values, form.answer());
      },
      onAnswer: test.place,
    });
    const other = button("Another class", { onclick: () => (location.hash = "#/new") });
    const origin = h("p", { class: "note" }, h("span", {}, "This is what ", h("strong", {}, from ?? ""), " ran with last, as far as that is known: secrets, and what was too long, are ", h("code", {}, HIDDEN), " until you type them again. Once it is registered, it can be paused, stopped and edited here."));
    place.replaceChildren(
      ...(from === null ? [] : [origin]),
      form.element,
      h("div", { class: "savebar" }, problem, h("div", { class: "row" }, h("label", { for: "initial-state" }, "Begin as"), state, h("span", { class: "grow" }), from === null ? other : null, create)),
    );

    async function submit() {
      if (form.wrong()) return;
      create.disabled = true;
      setText(problem, "");
      try {
        const name = (values.get("name") ?? "").trim();
        if (!name) throw new Error("The connector needs a name.");
        await request("POST", "connectors", { name, config: Object.fromEntries(values), initial_state: state.value });
        touched = false;
        forget();
        toast(`${name} is created`);
        location.hash = `#/connector/${encodeURIComponent(name)}`;
      } catch (error) {
        setText(problem, error.message);
        create.disabled = false;
        form.revealError();
      }
    }
  }

  // A reload does not close the view.
  return { element, changed: () => touched, close: () => forget() };
}

/** What is not whole is hidden: the server refuses that, and so nothing is registered in its place. */
function asItRan(config) {
  const whole = ([key, value]) => !key.endsWith(CUT_OFF) && !value.endsWith(CUT_OFF);
  return new Map(Object.entries(config).map((entry) => (whole(entry) ? entry : [entry[0], HIDDEN])));
}

function pluginCard({ class: name, version, summary, recommended, others }) {
  return h(
    "a",
    { class: "card plugin", href: `#/new/${encodeURIComponent(name)}` },
    h("strong", {}, shortClass(name)),
    recommended ? h("span", { class: "usual" }, "Usual choice") : null,
    h("span", { class: "summary" }, summary),
    h("span", { class: "detail" }, name),
    others.length ? h("span", { class: "detail" }, `also ${others.join(", ")}`) : null,
    h("span", { class: "version" }, version),
  );
}
