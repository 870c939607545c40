// Which connectors of the list are shown, and in which order: chosen here, kept in the address.

import { h, icon, number, setText, shortClass, show } from "../parts/dom.js";
import { placesText } from "../parts/places.js";
import { needsAttention, STATES, wordOf } from "../parts/states.js";

const CHIPS = [["all", "All"], ["attention", "Needs attention"], ...STATES];
const ALWAYS = ["all", "attention", "failed", "running"];
const CHOICES = [
  ["class", "class", "All classes", (row) => row.class, shortClass],
  ["dag", "DAG", "All DAGs", (row) => row.dag_id, (dag) => dag],
  ["team", "team", "All teams", (row) => row.team, (team) => team],
];
const NONE = { text: "", state: "all", class: "", dag: "", team: "", sort: "name", down: "" };

/** What is chosen, of the values of an address. */
export const choiceOf = (values) => Object.fromEntries(Object.entries(NONE).map(([key, none]) => [key, values.get(key) ?? none]));

/** The address of a choice. */
export function addressOf(choice) {
  const values = new URLSearchParams(Object.entries(choice).filter(([key, value]) => value !== NONE[key]));
  return values.size ? `#/?${values}` : "#/";
}

/** Fields, chips and menus for a choice, which they change; `onChange` is called after each change. */
export function filters(choice, onChange) {
  const text = h("input", { type: "search", id: "filter", placeholder: "Filter by name, class or topic", "aria-label": "Filter connectors", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false", value: choice.text, oninput: () => set("text", text.value) });
  const chips = new Map(CHIPS.map(([key, label]) => [key, chip(key, label)]));
  const menus = CHOICES.map(([key, label, all, of, word]) => menu(key, label, all, of, word));
  const element = h(
    "div",
    { class: "tools" },
    h("div", { class: "search" }, icon("search"), text, h("kbd", {}, "/")),
    menus.map((each) => each.element),
    h("div", { class: "chips", role: "group", "aria-label": "States" }, [...chips.values()].map((each) => each.element)),
  );

  /** Those of the rows that are chosen; counts and menus follow all of them. */
  function chosen(rows) {
    for (const each of menus) each.update(rows);
    const words = choice.text.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = rows.filter((row) => words.every((word) => haystack(row).includes(word)) && menus.every((each) => each.has(row)));
    for (const [key, each] of chips) each.update(matching.filter((row) => isIn(row, key)).length);
    return matching.filter((row) => isIn(row, choice.state));
  }

  function set(key, value) {
    choice[key] = value;
    onChange();
  }

  function chip(key, label) {
    const count = h("span", { class: "count" }, "0");
    const element = h("button", { type: "button", class: `chip ${key}`, onclick: () => set("state", choice.state === key ? "all" : key) }, key === "all" ? null : icon(key === "no_dag" ? "attention" : key), label, count);
    return {
      element,
      update(value) {
        setText(count, number(value));
        element.setAttribute("aria-pressed", String(choice.state === key));
        show(element, value > 0 || ALWAYS.includes(key) || key === choice.state);
      },
    };
  }

  function menu(key, label, all, of, word) {
    const select = h("select", { "aria-label": `Filter by ${label}`, hidden: true, onchange: () => set(key, select.value) });
    let seen = null;
    let known = "";
    return {
      element: select,
      has: (row) => !choice[key] || of(row) === choice[key],
      update(rows) {
        select.value = choice[key];
        if (seen === (seen = rows)) return;
        const values = [...new Set([...rows.map(of), choice[key]].filter(Boolean))].sort();
        show(select, values.length > (key === "class" ? 1 : 0));
        if (known !== (known = values.join("\n"))) {
          const short = values.map(word);
          const options = values.map((value, at) => h("option", { value }, short.indexOf(short[at]) === short.lastIndexOf(short[at]) ? short[at] : value));
          select.replaceChildren(h("option", { value: "" }, all), ...options);
        }
        select.value = choice[key];
      },
    };
  }

  function clear() {
    Object.assign(choice, NONE, { sort: choice.sort, down: choice.down });
    text.value = "";
    onChange();
    text.focus();
  }

  return { element, text, chosen, clear };
}

const isIn = (row, key) => key === "all" || (key === "attention" ? needsAttention(row) : row.run_state === key);

const searched = new WeakMap();

function haystack(row) {
  if (!searched.has(row)) {
    const { name, type, topics, team } = row;
    searched.set(row, [name, type, row.class, wordOf(row.run_state), row.state, team ?? "", placesText(row.configured), ...topics].join("\n").toLowerCase());
  }
  return searched.get(row);
}
