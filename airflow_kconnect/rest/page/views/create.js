// A new connector: first its class, then its settings.

import { get, request } from "../parts/api.js";
import { button, h, icon, setText, shortClass, toast } from "../parts/dom.js";
import { configForm } from "./form.js";

const STATES = [
  ["RUNNING", "Running: the next run begins"],
  ["PAUSED", "Paused: runs do nothing"],
  ["STOPPED", "Stopped: offsets can be set before the first run"],
];

export function createView() {
  let form = null;
  let values = new Map();
  let touched = false;
  const place = h("div", { class: "stack" }, h("p", { class: "loading" }, "Loading …"));
  const element = h(
    "div",
    { class: "view" },
    h("nav", { "aria-label": "Breadcrumb" }, h("a", { class: "back", href: "#/" }, icon("back"), "Connectors")),
    h("header", { class: "top" }, h("h1", {}, "New connector")),
    place,
  );
  choose().catch((error) => place.replaceChildren(h("p", { class: "error", role: "alert" }, error.message)));

  async function choose() {
    const plugins = await get("connector-plugins");
    form = null;
    touched = false;
    const kinds = [["source", "Sources", "copy into Kafka"], ["sink", "Sinks", "copy out of Kafka"]];
    place.replaceChildren(
      h("p", { class: "lead" }, "Which connector?"),
      ...kinds.map(([kind, title, text]) =>
        h("section", { "aria-label": title }, h("h2", { class: "kind-title" }, icon(kind), title, h("span", { class: "detail" }, text)), h("div", { class: "plugins" }, plugins.filter((plugin) => plugin.type === kind).map(pluginCard))),
      ),
    );
  }

  function pluginCard(plugin) {
    return h("button", { type: "button", class: "card plugin", onclick: () => fill(plugin) }, h("strong", {}, shortClass(plugin.class)), h("span", { class: "detail" }, plugin.class.slice(0, plugin.class.lastIndexOf("."))), h("span", { class: "version" }, plugin.version));
  }

  function fill(plugin) {
    values = new Map([["connector.class", plugin.class]]);
    const problem = h("p", { class: "error", role: "alert" });
    const state = h("select", { id: "initial-state" }, STATES.map(([value, label]) => h("option", { value }, label)));
    const create = button("Create", { kind: "primary", onclick: submit });
    form = configForm({
      values,
      // The class can be changed in the JSON.
      validateAt: () => `connector-plugins/${encodeURIComponent(values.get("connector.class") || plugin.class)}/config/validate`,
      fixed: ["connector.class"],
      onChange: () => (touched = true),
      strict: false,
    });
    place.replaceChildren(
      form.element,
      h("div", { class: "savebar" }, problem, h("div", { class: "row" }, h("label", { for: "initial-state" }, "Begin as"), state, h("span", { class: "grow" }), button("Another class", { onclick: choose }), create)),
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
        toast(`${name} is created`);
        location.hash = `#/connector/${encodeURIComponent(name)}`;
      } catch (error) {
        setText(problem, error.message);
        create.disabled = false;
        form.revealError();
      }
    }
  }

  return { element, changed: () => touched };
}
