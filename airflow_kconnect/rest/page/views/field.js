// One setting of a configuration: label, input, help, errors.

import { h, prose, show } from "../parts/dom.js";

const HIDDEN = "[hidden]";

/** fixed: it cannot be edited. set: called with the key and the new text; an empty text removes the key. */
export function fieldOf(definition, { fixed, set }) {
  const { name, type, required, default_value: standard, importance, documentation, display_name: title } = definition;
  const id = `field-${name}`;
  const choices = h("datalist", { id: `${id}-choices` });
  const input = inputOf();
  const error = h("p", { class: "error", id: `${id}-error` });
  const help = h("p", { class: "help", id: `${id}-help` }, prose(documentation ?? ""));
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: id }, h("span", { class: "label" }, title === name ? h("code", {}, name) : title), required ? h("span", { class: "required" }, "required") : null, title === name ? null : h("code", { class: "key" }, name)),
    input,
    choices,
    error,
    documentation ? help : null,
  );
  let errors = [];
  let present = false;
  let touched = false;

  function inputOf() {
    const entered = () => ((touched = true), set(name, input.value));
    const common = { id, name, "aria-describedby": `${id}-error ${id}-help` };
    if (type === "BOOLEAN" && !fixed) {
      return h("select", { ...common, onchange: entered }, h("option", { value: "" }, `default${standard === null ? "" : ` (${standard})`}`), h("option", { value: "true" }, "true"), h("option", { value: "false" }, "false"));
    }
    return h("input", {
      ...common,
      oninput: entered,
      type: type === "PASSWORD" ? "password" : "text",
      autocomplete: type === "PASSWORD" ? "new-password" : "off",
      spellcheck: "false",
      placeholder: standard || null,
      readonly: fixed,
      required,
      list: `${id}-choices`,
      inputmode: ["INT", "LONG", "SHORT", "DOUBLE"].includes(type) ? "numeric" : null,
      onfocus: () => input.value === HIDDEN && input.select(),
    });
  }

  return {
    definition,
    element,
    /** strict: errors of settings that were not touched yet are shown, too. */
    update(text, value, strict) {
      present = text !== undefined;
      if (document.activeElement !== input) assign(text ?? "");
      const recommended = JSON.stringify(value?.recommended_values ?? []);
      if (choices.dataset.shown !== recommended) {
        choices.dataset.shown = recommended;
        choices.replaceChildren(...JSON.parse(recommended).filter((each) => each !== null).map((each) => h("option", { value: each })));
      }
      errors = value?.errors ?? [];
      // A Java class and Connect may say the same; a value that cannot be read is also said to be missing.
      const distinct = [...new Set(errors)].filter((each) => !(text && each.startsWith("Invalid value null ")));
      const told = strict || present || touched ? distinct.join("\n") : "";
      if (error.textContent !== told.replaceAll("`", "")) error.replaceChildren(...prose(told));
      input.setAttribute("aria-invalid", String(told !== ""));
    },
    focus: () => input.focus({ preventScroll: true }),
    failing: () => errors.length > 0,
    /** Whether it is shown at once. */
    matters: () => required || present || errors.length > 0 || importance === "HIGH",
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
    // A boolean may also be a variable, such as ${env:FLAG}.
    if (input.tagName === "SELECT" && ![...input.options].some((option) => option.value === text)) input.append(h("option", { value: text }, text));
    if (input.value !== text) input.value = text;
  }
}
