// At the connection's settings of a form: a connection of Airflow to take, and a test, which also finds tables and columns.

import { get, ofConnector, post } from "../parts/api.js";
import { button, h, plural, prose, show } from "../parts/dom.js";

const URL_KEY = "connection.url";
const LOGIN_KEYS = ["connection.user", "connection.password"];
const HIDDEN = "[hidden]";
let connections = null;

/** values: of the form. name: gives the connector's name. */
export function connectionHelp({ values, name }) {
  let form = null;
  const choice = h("select", { "aria-label": "Take a connection of Airflow", onchange: take });
  const choices = h("div", { class: "offer", hidden: true }, choice);
  const run = button("Test the connection", { onclick: test });
  const outcome = h("span", { class: "detail", role: "status" });
  const testing = h("div", { class: "offer row" }, run, outcome);

  /** Put both where they belong, once the form has these settings. */
  function place(placed) {
    form = placed;
    const { test: possible } = form.answer();
    const at = form.fields.get(possible?.key);
    if (at && !at.element.contains(testing)) at.attach(testing);
    show(testing, Boolean(at));
    run.disabled = Boolean(possible?.problem);
    if (possible?.problem) say(possible.problem);
    const url = form.fields.get(URL_KEY);
    if (!url || url.element.contains(choices)) return;
    url.attach(choices);
    connections ??= get("v1/airflow-connections").catch(() => ({ connections: [] }));
    connections.then(offer);
  }

  const say = (text) => outcome.replaceChildren(...prose(text));

  function offer({ connections: found }) {
    show(choices, found.length > 0);
    choice.replaceChildren(h("option", { value: "" }, "Or take a connection of Airflow …"), ...found.map(({ conn_id: id, conn_type: type }) => h("option", { value: id }, `${id} (${type})`)));
  }

  /** The variable stands for the URL, and brings user and password along. */
  function take() {
    if (!choice.value) return;
    form.set(URL_KEY, `\${airflow:${choice.value}:jdbc_url}`);
    for (const key of LOGIN_KEYS) if (values.get(key) === HIDDEN) form.set(key, "");
    say("User and password come with it.");
    choice.value = "";
  }

  async function test() {
    const connector = name();
    if (!connector) {
      say("Give the connector a name first: rights are those of its name.");
      form.fields.get("name")?.focus();
      return;
    }
    run.disabled = true;
    say("Connecting …");
    try {
      tell(await post(`v1/${ofConnector(connector, "/check")}`, { config: Object.fromEntries(values) }));
    } catch (error) {
      say(error.message);
    } finally {
      run.disabled = false;
    }
  }

  function tell({ errors, problem, choices: found, complete }) {
    const failing = Object.entries(errors);
    for (const [key, texts] of failing) form.fields.get(key)?.notice(texts.join("\n"));
    for (const [key, values] of Object.entries(found)) form.suggest(key, values);
    const tables = found["table.whitelist"];
    const seen = tables ? ` It has ${plural(tables.length, "table")} to choose from.` : "";
    const outside = failing.filter(([key]) => !form.fields.has(key)).flatMap(([, texts]) => texts);
    if (problem || failing.length) say([problem, ...outside].filter(Boolean).join("\n") || "It does not work yet: see above.");
    else say(`Connected.${seen}${complete ? " A run could start with these settings." : ""}`);
  }

  return { place };
}
