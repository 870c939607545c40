// A form for a configuration, made from what the server's validation says about it; the server also finds the errors.

import { put } from "../parts/api.js";
import { button, debounced, h, setText, show } from "../parts/dom.js";
import { fieldOf } from "./field.js";

const OWN = "Connector settings";
// Of Connect and of this package: after those of the connector itself.
const FRAMEWORK = ["Transforms", "Predicates", "Error Handling", "Topic Creation", "Exactly Once Support", "offsets.topic", "kconnect", "hosted connectors", "Airflow"];

/**
 * values: Map of keys to texts. validateAt: gives the path of the validation. fixed: keys that cannot be edited.
 * onChange: called after each change. strict: show errors of settings that were not touched yet.
 */
export function configForm({ values, validateAt, fixed = [], onChange = () => {}, strict = true }) {
  const fields = new Map();
  const groups = new Map();
  let order = 0;
  let asked = 0;
  let found = null;
  const summary = h("span", { role: "status" });
  const toError = h("button", { type: "button", class: "link", hidden: true, onclick: revealError }, "Show");
  const search = h("input", { type: "search", "aria-label": "Find a setting", placeholder: "Find a setting", autocomplete: "off", oninput: () => narrow() });
  const sections = h("div", { class: "groups" });
  const others = otherKeys();
  const json = jsonArea();
  const asJson = h("input", { type: "checkbox", role: "switch", id: "as-json", onchange: switchMode });
  const element = h(
    "div",
    { class: "config-form" },
    h("div", { class: "form-tools" }, search, h("label", { class: "switch", for: "as-json" }, asJson, "as JSON"), h("p", { class: "form-summary" }, summary, " ", toError)),
    json.element,
    sections,
    others.element,
  );
  const later = debounced(350, validate);

  /** Ask the server what it thinks; later answers win. */
  async function validate() {
    const number = ++asked;
    try {
      const answer = await put(validateAt(), Object.fromEntries(values));
      if (number !== asked) return;
      found = answer;
      arrange();
    } catch (error) {
      if (number === asked) setText(summary, error.message);
    }
  }

  function arrange() {
    const known = new Set();
    const loose = new Map();
    let focus = null;
    for (const { definition, value } of found.configs) {
      if (!definition) {
        loose.set(value.name, value.errors);
        continue;
      }
      known.add(definition.name);
      const before = fields.get(definition.name);
      if (before && !same(before.definition, definition)) {
        if (before.element.contains(document.activeElement)) focus = definition.name;
        forget(before);
      }
      if (!fields.has(definition.name)) {
        const field = fieldOf(definition, { fixed: fixed.includes(definition.name), set: change });
        fields.set(definition.name, field);
        groupOf(definition.group ?? OWN).add(field);
      }
      fields.get(definition.name).update(values.get(definition.name), value, strict);
    }
    for (const [key, field] of fields) if (!known.has(key)) forget(field);
    for (const group of groups.values()) group.arrange(values);
    others.update(known, loose);
    const count = found.configs.filter(({ value }) => value?.errors.length).length;
    setText(summary, count ? `${count} ${count === 1 ? "setting needs" : "settings need"} attention` : "Everything is valid");
    summary.parentElement.classList.toggle("bad", count > 0);
    show(toError, count > 0 && !asJson.checked);
    narrow();
    if (focus) fields.get(focus).focus();
  }

  /** The class may define its keys otherwise from now on, as a Java class of the same name does. */
  function forget(field) {
    groupOf(field.definition.group ?? OWN).remove(field);
    fields.delete(field.definition.name);
  }

  function change(key, text) {
    if (text === "") values.delete(key);
    else values.set(key, text);
    json.update();
    onChange();
    later();
  }

  function groupOf(name) {
    if (!groups.has(name)) {
      const group = groupSection(name, ++order);
      groups.set(name, group);
      const sorted = [...groups.values()].sort((a, b) => a.order - b.order);
      sections.replaceChildren(...sorted.map((each) => each.element));
    }
    return groups.get(name);
  }

  function narrow() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const group of groups.values()) group.narrow(words);
  }

  function switchMode() {
    json.update();
    for (const each of [sections, others.element, search]) show(each, !asJson.checked);
    show(json.element, asJson.checked);
    if (!asJson.checked) arrange();
  }

  /** Go to the first setting with an error. */
  function revealError() {
    strict = true;
    if (found) arrange();
    const failing = new Set([...fields.values()].filter((field) => field.failing()));
    const inOrder = [...sections.querySelectorAll(".field")];
    const first = [...failing].sort((a, b) => inOrder.indexOf(a.element) - inOrder.indexOf(b.element))[0];
    first?.reveal();
  }

  function otherKeys() {
    const list = h("div", { class: "others" });
    const rows = new Map();
    const key = h("input", { id: "new-key", placeholder: "transforms.route.regex", autocomplete: "off", spellcheck: "false" });
    const add = h("form", { class: "row add-key", onsubmit: submit }, h("label", { for: "new-key" }, "Another key"), key, h("button", { type: "submit", class: "button" }, "Add"));

    function submit(event) {
      event.preventDefault();
      const name = key.value.trim();
      if (!name) return;
      key.value = "";
      if (fields.has(name)) {
        fields.get(name).reveal();
        return;
      }
      if (!values.has(name)) values.set(name, "");
      arrange();
      rows.get(name)?.input.focus();
      onChange();
      later();
    }

    function update(known, loose) {
      const names = [...values.keys()].filter((name) => !known.has(name) && !fixed.includes(name));
      for (const name of [...rows.keys()]) {
        if (names.includes(name)) continue;
        rows.get(name).element.remove();
        rows.delete(name);
      }
      for (const name of names) {
        if (!rows.has(name)) {
          rows.set(name, otherRow(name));
          list.append(rows.get(name).element);
        }
        rows.get(name).update(values.get(name), loose.get(name) ?? []);
      }
    }

    function otherRow(name) {
      const id = `other-${name}`;
      const input = h("input", { id, "aria-describedby": `${id}-error`, autocomplete: "off", spellcheck: "false", oninput: () => (values.set(name, input.value), json.update(), onChange(), later()) });
      const error = h("p", { class: "error", id: `${id}-error` });
      const remove = button("Remove", { "aria-label": `Remove ${name}`, onclick: () => (change(name, ""), arrange()) });
      const element = h("div", { class: "field" }, h("label", { for: id }, h("code", {}, name)), h("div", { class: "row" }, input, remove), error);
      return {
        element,
        input,
        update(text, errors) {
          if (document.activeElement !== input) input.value = text;
          setText(error, errors.join("\n"));
        },
      };
    }

    const section = h("section", { class: "card group" }, h("h2", {}, "Other keys"), h("p", { class: "help" }, "Keys that the connector does not define, such as overrides of Kafka clients."), list, add);
    return { element: section, update };
  }

  function jsonArea() {
    const area = h("textarea", { id: "json", rows: 24, spellcheck: "false", "aria-describedby": "json-error", oninput: read });
    const error = h("p", { class: "error", id: "json-error", role: "alert" });
    const element = h("section", { class: "card group", hidden: true }, h("label", { for: "json" }, "Configuration as JSON"), area, error);

    function read() {
      try {
        const config = JSON.parse(area.value);
        if (config === null || typeof config !== "object" || Array.isArray(config)) throw new Error("a configuration is a JSON object");
        const wrong = Object.keys(config).find((key) => typeof config[key] === "object" && config[key] !== null);
        if (wrong) throw new Error(`the value of ${wrong} must be a text`);
        values.clear();
        for (const [key, value] of Object.entries(config)) if (value !== null) values.set(key, String(value));
        setText(error, "");
        onChange();
        later();
      } catch (problem) {
        setText(error, problem.message);
      }
      area.setAttribute("aria-invalid", String(Boolean(error.textContent)));
    }

    return {
      element,
      wrong: () => !element.hidden && Boolean(error.textContent),
      update() {
        if (document.activeElement !== area) area.value = JSON.stringify(Object.fromEntries([...values].sort()), null, 2);
      },
    };
  }

  validate();
  return {
    element,
    validate,
    wrong: () => json.wrong(),
    errors: () => found?.error_count ?? 0,
    revealError,
  };
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

const orderOf = (name, order) => (name === "Common" ? -2 : name === OWN ? -1 : FRAMEWORK.includes(name.split(":")[0]) ? 1000 + order : order);

/** The settings of a group: those that matter, and the others behind a summary. */
function groupSection(name, order) {
  const fields = new Set();
  const main = h("div", { class: "fields" });
  const rest = h("div", { class: "fields" });
  const label = h("summary", {});
  const more = h("details", { class: "more" }, label, rest);
  const element = h("section", { class: "card group", "aria-label": name }, h("h2", {}, name), main, more);

  return {
    element,
    order: orderOf(name, order),
    add: (field) => fields.add(field),
    remove: (field) => (fields.delete(field), field.element.remove()),
    arrange(values) {
      const sorted = [...fields].sort((a, b) => a.definition.order_in_group - b.definition.order_in_group);
      for (const field of sorted) {
        const wanted = field.matters(values) ? main : rest;
        if (field.element.parentElement !== wanted && !field.element.contains(document.activeElement)) wanted.append(field.element);
      }
      for (const box of [main, rest]) {
        const inside = sorted.filter((field) => field.element.parentElement === box).map((field) => field.element);
        if (inside.some((each, at) => box.children[at] !== each) && !box.contains(document.activeElement)) box.append(...inside);
      }
    },
    narrow(words) {
      let hidden = 0;
      let visible = 0;
      for (const field of fields) {
        const matches = field.matches(words);
        show(field.element, matches);
        if (matches) visible += 1;
        if (matches && field.element.parentElement === rest) hidden += 1;
      }
      show(element, visible > 0);
      show(more, hidden > 0);
      setText(label, words.length ? `${hidden} more` : `${hidden} more ${hidden === 1 ? "setting" : "settings"}`);
      if (words.length) more.open = true;
    },
  };
}
