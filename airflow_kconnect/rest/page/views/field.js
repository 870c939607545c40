// One setting of a configuration: label, input, help, errors, values to choose from.

import { h, prose, show } from "../parts/dom.js";

const HIDDEN = "[hidden]";
const NUMBERS = ["INT", "LONG", "SHORT", "DOUBLE"];

/**
 * form: what the server knows beyond Connect's definition, or null. fixed: it cannot be edited. set: called with the key
 * and the new text; an empty text removes the key.
 */
export function fieldOf(definition, form, { fixed, set }) {
  const { name, type, required, default_value: standard, importance, documentation, display_name: title } = definition;
  const id = `field-${name}`;
  const choices = form?.choices?.length ? form.choices : type === "BOOLEAN" ? ["true", "false"] : [];
  const isList = type === "LIST";
  const known = h("datalist", { id: `${id}-choices` });
  const adding = h("select", { class: "adding", "aria-label": `Add to ${name}`, hidden: true, onchange: addChosen });
  const input = inputOf();
  const error = h("p", { class: "error", id: `${id}-error` });
  const help = h("p", { class: "help", id: `${id}-help` }, prose(documentation ?? ""));
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: id }, h("span", { class: "label" }, title === name ? h("code", {}, name) : title), required ? h("span", { class: "required" }, "required") : null, title === name ? null : h("code", { class: "key" }, name)),
    input,
    adding,
    known,
    error,
    documentation ? help : null,
  );
  let errors = [];
  let told = "";
  let present = false;
  let touched = false;
  let visible = true;
  let recommended = [];
  let suggested = [];
  let note = null;

  function inputOf() {
    const entered = () => ((touched = true), set(name, input.value));
    const common = { id, name, "aria-describedby": `${id}-error ${id}-help` };
    if (choices.length && !isList && !fixed) {
      const unset = required ? "choose …" : standard === null ? "not set" : `default (${standard})`;
      return h("select", { ...common, required, onchange: entered }, h("option", { value: "" }, unset), choices.map((each) => h("option", { value: each }, each)));
    }
    return h("input", {
      ...common,
      oninput: entered,
      type: type === "PASSWORD" ? "password" : "text",
      autocomplete: type === "PASSWORD" ? "new-password" : "off",
      spellcheck: "false",
      placeholder: standard || form?.example || null,
      readonly: fixed,
      required,
      list: isList ? null : `${id}-choices`,
      inputmode: NUMBERS.includes(type) ? "numeric" : null,
      onfocus: () => input.value === HIDDEN && input.select(),
    });
  }

  const listed = () => input.value.split(",").map((each) => each.trim()).filter(Boolean);

  function addChosen() {
    input.value = [...listed(), adding.value].join(",");
    touched = true;
    set(name, input.value);
    offer();
    adding.focus();
  }

  /** The values to choose from: those that the class recommends, and those that the system has. */
  function offer() {
    if (fixed || input.tagName === "SELECT") return;
    const values = [...new Set([...suggested, ...recommended, ...choices])];
    if (!isList) {
      if (known.dataset.shown === JSON.stringify(values)) return;
      known.dataset.shown = JSON.stringify(values);
      known.replaceChildren(...values.map((each) => h("option", { value: each })));
      return;
    }
    const left = values.filter((each) => !listed().includes(each));
    show(adding, left.length > 0);
    const state = JSON.stringify(left);
    if (adding.dataset.shown === state) return;
    adding.dataset.shown = state;
    adding.replaceChildren(h("option", { value: "" }, `Add … (${left.length})`), ...left.map((each) => h("option", { value: each }, each)));
  }

  function tell(text) {
    if (error.textContent !== text.replaceAll("`", "")) error.replaceChildren(...prose(text));
    input.setAttribute("aria-invalid", String(text !== ""));
  }

  return {
    definition,
    form,
    element,
    /** strict: errors of settings that were not touched yet are shown, too. */
    update(text, value, strict) {
      present = text !== undefined;
      visible = value?.visible !== false;
      if (document.activeElement !== input) assign(text ?? "");
      recommended = (value?.recommended_values ?? []).filter((each) => each !== null);
      offer();
      errors = value?.errors ?? [];
      // A Java class and Connect may say the same; a value that cannot be read is also said to be missing.
      const distinct = [...new Set(errors)].filter((each) => !(text && each.startsWith("Invalid value null ")));
      told = strict || present || touched ? distinct.join("\n") : "";
      tell(told || note || "");
    },
    /** What a test of the connection found, until the setting changes. */
    notice(text) {
      note = text;
      tell(told || note || "");
    },
    /** Values that the system has for it. */
    suggest(values) {
      suggested = values;
      offer();
    },
    attach: (extra) => element.append(extra),
    focus: () => input.focus({ preventScroll: true }),
    failing: () => errors.length > 0 || note !== null,
    /** Whether it is told that something is wrong: not before it was typed into. */
    complains: () => told !== "",
    ignored: () => Boolean(form?.ignored),
    /** Whether other settings make it one that counts. */
    relevant: () => visible || present || errors.length > 0,
    /** Whether it is shown at once. */
    matters: () => (form ? form.main : required || importance === "HIGH") || present || errors.length > 0,
    matches: (words) => {
      const text = `${name} ${title} ${documentation}`.toLowerCase();
      return words.every((word) => text.includes(word));
    },
    reveal() {
      show(element, true);
      const more = element.closest("details");
      if (more) more.open = true;
      input.focus();
      element.scrollIntoView({ block: "center" });
    },
  };

  function assign(text) {
    if (input.tagName === "SELECT" && ![...input.options].some((option) => option.value === text)) {
      // Written otherwise, as `TIMESTAMP`; or a variable, such as ${env:FLAG}.
      input.append(h("option", { value: text }, text));
    }
    if (input.value !== text) input.value = text;
  }
}
