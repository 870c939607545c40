// Keys that the connector does not define, and the configuration as JSON.

import { button, h, setText } from "../parts/dom.js";

/**
 * values: Map of keys to texts. isDefined and reveal: of the form's fields. changed: called after each change, with the
 * keys that were removed arranged again if `again`.
 */
export function otherKeys({ values, fixed, isDefined, reveal, changed }) {
  const rows = new Map();
  const list = h("div", { class: "others" });
  const key = h("input", { id: "new-key", placeholder: "transforms.route.regex", autocomplete: "off", spellcheck: "false" });
  const add = h("form", { class: "row add-key", onsubmit: submit }, h("label", { for: "new-key" }, "Another key"), key, h("button", { type: "submit", class: "button" }, "Add"));
  const element = h("section", { class: "card group" }, h("h2", {}, "Other keys"), h("p", { class: "help" }, "Keys that the connector does not define, such as overrides of Kafka clients."), list, add);

  function submit(event) {
    event.preventDefault();
    const name = key.value.trim();
    if (!name) return;
    key.value = "";
    if (isDefined(name)) {
      reveal(name);
      return;
    }
    if (!values.has(name)) values.set(name, "");
    changed({ again: true });
    rows.get(name)?.input.focus();
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
        rows.set(name, rowOf(name));
        list.append(rows.get(name).element);
      }
      rows.get(name).update(values.get(name), loose.get(name) ?? []);
    }
  }

  function rowOf(name) {
    const id = `other-${name}`;
    const input = h("input", { id, "aria-describedby": `${id}-error`, autocomplete: "off", spellcheck: "false", oninput: () => (values.set(name, input.value), changed({})) });
    const error = h("p", { class: "error", id: `${id}-error` });
    const remove = button("Remove", { "aria-label": `Remove ${name}`, onclick: () => (values.delete(name), changed({ again: true })) });
    return {
      element: h("div", { class: "field" }, h("label", { for: id }, h("code", {}, name)), h("div", { class: "row" }, input, remove), error),
      input,
      update(text, errors) {
        if (document.activeElement !== input) input.value = text;
        setText(error, errors.join("\n"));
      },
    };
  }

  return { element, update };
}

export function jsonArea({ values, changed }) {
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
      changed();
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
