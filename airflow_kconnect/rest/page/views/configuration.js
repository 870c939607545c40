// The configuration of a connector, in a form that is validated as it is edited.

import { ofConnector, request } from "../parts/api.js";
import { button, h, setText, show, toast } from "../parts/dom.js";
import { connectionHelp } from "./connection.js";
import { configForm } from "./form.js";

export function configurationTab({ name }) {
  let registered = null;
  let values = null;
  let form = null;
  let allowed = true;
  const place = h("div", {}, h("p", { class: "loading" }, "Loading …"));
  const save = button("Save", { kind: "primary", disabled: true, onclick: submit });
  const discard = button("Discard changes", { disabled: true, onclick: () => start(JSON.parse(registered)) });
  const preview = button("Preview", { title: "What the transformations make of records with these changes", onclick: () => (location.hash = `#/connector/${encodeURIComponent(name)}/preview`) });
  const status = h("span", { class: "detail grow", role: "status" });
  const problem = h("p", { class: "error", role: "alert" });
  const newer = h("p", { class: "note", hidden: true }, "The configuration was changed elsewhere. ", button("Show the new one", { onclick: () => start(latest) }));
  const bar = h("div", { class: "savebar", hidden: true }, problem, h("div", { class: "row" }, status, preview, discard, save));
  const element = h("div", { class: "stack" }, newer, place, bar);
  let latest = null;

  function start(config) {
    registered = JSON.stringify(config);
    if (!allowed) {
      place.replaceChildren(readOnly(config));
      return;
    }
    values = new Map(Object.entries(config));
    const test = connectionHelp({ values, name: () => name });
    form = configForm({ values, validateAt: () => `v1/${ofConnector(name, "/config/validate")}`, fixed: ["name", "connector.class"], onChange: tell, onAnswer: test.place });
    place.replaceChildren(form.element);
    show(newer, false);
    setText(problem, "");
    tell();
  }

  const changed = () => values !== null && canonical(Object.fromEntries(values)) !== canonical(JSON.parse(registered));

  function tell() {
    const dirty = changed();
    save.disabled = !dirty || !allowed;
    discard.disabled = !dirty;
    show(bar, dirty);
    setText(status, dirty ? "Unsaved changes" : "");
  }

  function update(data) {
    allowed = data.may_write;
    latest = data.config;
    if (registered === null) start(data.config);
    else if (canonical(data.config) !== canonical(JSON.parse(registered))) {
      if (changed()) show(newer, true);
      else start(data.config);
    }
  }

  async function submit() {
    if (form.wrong()) return;
    save.disabled = true;
    try {
      const info = await request("PUT", ofConnector(name, "/config"), Object.fromEntries(values));
      toast(`The configuration of ${name} is saved: it applies from the next run`);
      start(info.config);
    } catch (error) {
      setText(problem, error.message);
      save.disabled = false;
      form.revealError();
    }
  }

  return { element, update, changed, edited: () => (changed() ? Object.fromEntries(values) : null) };
}

function readOnly(config) {
  const rows = Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, key)), h("td", {}, value)));
  const head = h("tr", {}, h("th", { scope: "col" }, "Key"), h("th", { scope: "col" }, "Value"));
  return h("div", { class: "card table-card" }, h("table", {}, h("caption", { class: "visually-hidden" }, "Configuration"), h("thead", {}, head), h("tbody", {}, rows)));
}

const canonical = (config) => JSON.stringify(Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1)));
