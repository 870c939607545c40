// Questions in <dialog> elements: the page may be in a frame that allows no windows of the browser.

import { h, button } from "./dom.js";

let counter = 0;

/**
 * Ask something. Resolves to true, or to what `read` returns; to null if it was cancelled.
 * `typed`: a text that has to be typed before. `check`: does the work; what it throws is shown, and the dialog stays.
 */
export function ask({ title, text, content = [], confirm = "OK", kind = "primary", cancel = true, typed = null, read = () => true, check = null }) {
  return new Promise((resolve) => {
    const id = `dialog-${++counter}`;
    const error = h("p", { class: "error", role: "alert" });
    const field = typed === null ? null : h("input", { id: `${id}-typed`, autocomplete: "off", spellcheck: "false" });
    const accept = h("button", { type: "submit", class: `button ${kind}`, disabled: typed !== null }, confirm);
    const dialog = h(
      "dialog",
      { "aria-labelledby": `${id}-title` },
      h(
        "form",
        { method: "dialog", novalidate: true, onsubmit: submit },
        h("h2", { id: `${id}-title` }, title),
        text ? h("p", {}, text) : null,
        content,
        field && h("div", { class: "field" }, h("label", { for: field.id }, "Type ", h("code", {}, typed), " to confirm"), field),
        error,
        h("div", { class: "dialog-buttons" }, cancel ? button("Cancel", { onclick: () => dialog.close() }) : null, accept),
      ),
    );
    let answer = null;
    field?.addEventListener("input", () => (accept.disabled = field.value !== typed));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
    (field ?? dialog.querySelector("input, textarea") ?? accept).focus();

    async function submit(event) {
      event.preventDefault();
      if (accept.disabled) return;
      accept.disabled = true;
      try {
        const value = read();
        if (check) await check(value);
        answer = value;
        dialog.close();
      } catch (problem) {
        error.textContent = problem.message;
        accept.disabled = false;
      }
    }
  });
}

/** The token that the server wants; null if the user has none. */
export function askToken(text) {
  const field = h("input", { id: "token", type: "password", autocomplete: "off" });
  return ask({
    title: "Token needed",
    text,
    content: [h("div", { class: "field" }, h("label", { for: "token" }, "Token"), field)],
    confirm: "Continue",
    read: () => field.value.trim(),
  });
}
