// A form for a configuration, made from what the server's validation says about it; the server also finds the errors.

import { put } from "../parts/api.js";
import { debounced, h, plural, setText, show } from "../parts/dom.js";
import { fieldOf } from "./field.js";
import { groupName, groupSection } from "./groups.js";
import { jsonArea, otherKeys } from "./otherkeys.js";

/**
 * values: Map of keys to texts. validateAt: gives the path of the validation. fixed: keys that cannot be edited.
 * onChange: called after each change. strict: show errors of settings that were not touched yet. onAnswer: called with
 * the form after each validation.
 */
export function configForm({ values, validateAt, fixed = [], onChange = () => {}, strict = true, onAnswer = () => {} }) {
  const fields = new Map();
  const groups = new Map();
  const suggestions = new Map();
  let asked = 0;
  let found = null;
  const summary = h("span", { role: "status" });
  const toError = h("button", { type: "button", class: "link", hidden: true, onclick: goToError }, "Show");
  const search = h("input", { type: "search", "aria-label": "Find a setting", placeholder: "Find a setting", autocomplete: "off", oninput: () => narrow() });
  const sections = h("div", { class: "groups" });
  const others = otherKeys({
    values,
    fixed,
    isDefined: (name) => fields.has(name),
    reveal: (name) => fields.get(name).reveal(),
    changed({ again }) {
      json.update();
      if (again) arrange();
      changed();
    },
  });
  const json = jsonArea({ values, changed });
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
  const self = {
    element,
    validate,
    fields,
    wrong: () => json.wrong(),
    errors: () => found?.error_count ?? 0,
    answer: () => found,
    set(key, text) {
      change(key, text);
      arrange();
    },
    /** Values that the system has for a key, whose field may come later, or be made again. */
    suggest(key, values) {
      suggestions.set(key, values);
      fields.get(key)?.suggest(values);
    },
    revealError() {
      strict = true;
      if (found) arrange();
      goToError();
    },
  };

  function changed() {
    onChange();
    later();
  }

  /** Ask the server what it thinks; later answers win. */
  async function validate() {
    const number = ++asked;
    try {
      const answer = await put(validateAt(), Object.fromEntries(values));
      if (number !== asked) return;
      found = answer;
      arrange();
      onAnswer(self);
    } catch (error) {
      if (number === asked) setText(summary, error.message);
    }
  }

  function arrange() {
    if (!found) return;
    const known = new Set();
    const loose = new Map();
    let focus = null;
    for (const { definition, value, form = null } of found.configs) {
      if (!definition) {
        loose.set(value.name, value.errors);
        continue;
      }
      known.add(definition.name);
      const before = fields.get(definition.name);
      if (before && !same([before.definition, before.form], [definition, form])) {
        if (before.element.contains(document.activeElement)) focus = definition.name;
        forget(before);
      }
      if (!fields.has(definition.name)) {
        const field = fieldOf(definition, form, { fixed: fixed.includes(definition.name), set: change });
        field.suggest(suggestions.get(definition.name) ?? []);
        fields.set(definition.name, field);
        groupOf(groupName(definition, form)).add(field);
      }
      fields.get(definition.name).update(values.get(definition.name), value, strict);
    }
    for (const [key, field] of fields) if (!known.has(key)) forget(field);
    for (const group of groups.values()) group.arrange();
    others.update(known, loose);
    summarize([...loose.values()].filter((errors) => errors.length).length);
    narrow();
    if (focus) fields.get(focus).focus();
  }

  /** What is still missing is not a mistake as long as the user has not been there. */
  function summarize(ofOthers) {
    const failing = [...fields.values()].filter((field) => field.failing());
    const wrong = failing.filter((field) => field.complains()).length + ofOthers;
    const missing = failing.length + ofOthers - wrong;
    if (wrong) setText(summary, `${wrong} ${wrong === 1 ? "setting needs" : "settings need"} attention`);
    else setText(summary, missing ? plural(missing, "required setting") : "Everything is valid");
    summary.parentElement.classList.toggle("bad", wrong > 0);
    summary.parentElement.classList.toggle("valid", wrong + missing === 0);
    show(toError, wrong + missing > 0 && !asJson.checked);
  }

  /** The class may define its keys otherwise from now on, as a Java class of the same name does. */
  function forget(field) {
    groupOf(groupName(field.definition, field.form)).remove(field);
    fields.delete(field.definition.name);
  }

  function change(key, text) {
    if (text === "") values.delete(key);
    else values.set(key, text);
    fields.get(key)?.notice(null);
    json.update();
    changed();
  }

  function groupOf(name) {
    if (!groups.has(name)) {
      groups.set(name, groupSection(name, groups.size + 1));
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

  /** Go to the first setting with an error; without one that is told, to the first that is missing. */
  function goToError() {
    const failing = [...fields.values()].filter((field) => field.failing());
    const told = failing.filter((field) => field.complains());
    const inOrder = [...sections.querySelectorAll(".field")];
    const first = (told.length ? told : failing).sort((a, b) => inOrder.indexOf(a.element) - inOrder.indexOf(b.element))[0];
    first?.reveal();
  }

  validate();
  return self;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
