// One connector: its state and what can be done to it, and tabs for the rest.

import { get, ofConnector, request } from "../parts/api.js";
import { button, h, icon, setText, shortClass, show, toast } from "../parts/dom.js";
import { ask } from "../parts/dialogs.js";
import { stateBadge } from "../parts/states.js";
import { configurationTab } from "./configuration.js";
import { lettersTab } from "./letters.js";
import { offsetsTab } from "./offsets.js";
import { overviewTab } from "./overview.js";
import { previewTab } from "./preview.js";
import { replayInterval } from "./replay.js";
import { runsTab } from "./runs.js";
import { tasksTab, topicsTab } from "./tabs.js";
import { unregisteredNote } from "./unregistered.js";

const TABS = [
  ["overview", "Overview", overviewTab],
  ["runs", "Runs", runsTab],
  ["configuration", "Configuration", configurationTab],
  ["preview", "Preview", previewTab],
  ["tasks", "Tasks", tasksTab],
  ["offsets", "Offsets", offsetsTab],
  ["topics", "Topics", topicsTab],
  ["dead-letters", "Dead letters", lettersTab],
];
// There is nothing to see in them for a connector that is not registered.
const REGISTERED_ONLY = ["preview", "tasks"];

export function connectorView(name, first) {
  let data = null;
  let current = null;
  const tabs = new Map();
  const context = { name, act, data: () => data, edited: () => tabs.get("configuration")?.edited() ?? null };
  const state = h("span", { class: "state" });
  const kind = h("p", { class: "class" });
  const actions = actionButtons();
  const panel = h("div", { id: "panel", role: "tabpanel", tabindex: "0" });
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the connector", onkeydown: onTabKey });
  const heads = new Map(TABS.map(([key, label]) => [key, tabHead(key, label)]));
  bar.append(...heads.values());
  const note = h("p", { class: "note", hidden: true }, "You may look at this connector, but not change it.");
  const unregistered = unregisteredNote(name);
  const element = h(
    "div",
    { class: "view" },
    h("nav", { "aria-label": "Breadcrumb" }, h("a", { class: "back", href: "#/" }, icon("back"), "Connectors")),
    h("header", { class: "top connector" }, h("div", { class: "title" }, h("div", { class: "heading" }, h("h1", {}, name), state), kind), actions.element),
    note,
    unregistered.element,
    bar,
    panel,
  );
  select(first);

  async function refresh() {
    data = await get(`v1/${ofConnector(name)}`);
    const said = JSON.stringify([data.run_state, data.attention]);
    if (state.dataset.said !== said) {
      state.dataset.said = said;
      state.replaceChildren(stateBadge(data));
    }
    setText(kind, `${data.type} · ${shortClass(data.class)}${data.version ? ` ${data.version}` : ""}`);
    kind.title = data.class;
    show(note, data.registered && !data.may_write);
    unregistered.update(data);
    show(actions.element, data.registered);
    for (const key of REGISTERED_ONLY) show(heads.get(key), data.registered);
    actions.update(data);
    const failed = data.tasks.filter((task) => task.state === "FAILED").length;
    heads.get("tasks").dataset.failed = failed || "";
    await current.update?.(data);
  }

  function select(key) {
    if (!heads.has(key)) key = "overview";
    if (!tabs.has(key)) tabs.set(key, TABS.find(([each]) => each === key)[2](context));
    for (const [each, head] of heads) {
      head.setAttribute("aria-selected", String(each === key));
      head.tabIndex = each === key ? 0 : -1;
    }
    current = tabs.get(key);
    panel.setAttribute("aria-labelledby", `tab-${key}`);
    panel.replaceChildren(current.element);
    if (data) Promise.resolve(current.update?.(data)).catch((error) => toast(error.message, "bad"));
  }

  function tabHead(key, label) {
    const href = `#/connector/${encodeURIComponent(name)}/${key}`;
    return h("a", { role: "tab", id: `tab-${key}`, href, "aria-controls": "panel", "aria-selected": "false", tabindex: "-1" }, label);
  }

  function onTabKey(event) {
    const keys = [...heads.keys()].filter((key) => !heads.get(key).hidden);
    const at = keys.findIndex((key) => heads.get(key) === event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: keys.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const head = heads.get(keys[(to + keys.length) % keys.length]);
    head.click();
    head.focus();
  }

  /** Send a request, say that it has worked or show why not, and ask for the new state. */
  async function act(method, rest, done, body) {
    try {
      const answer = await request(method, ofConnector(name, rest), body);
      toast(done);
      if (rest || method !== "DELETE") await refresh();
      return answer ?? true;
    } catch (error) {
      toast(error.message, "bad");
      return null;
    }
  }

  function actionButtons() {
    const made = {
      pause: button("Pause", { icon: "pause", onclick: () => act("PUT", "/pause", `${name} is paused`) }),
      resume: button("Resume", { icon: "resume", onclick: () => act("PUT", "/resume", `${name} is resumed`) }),
      stop: button("Stop", { icon: "stop", onclick: () => act("PUT", "/stop", `${name} is stopped`) }),
      restart: button("Restart", { icon: "restart", onclick: () => act("POST", "/restart?includeTasks=true", `${name} is restarted`) }),
      replay: button("Replay", { icon: "restart", onclick: () => replayInterval(name) }),
      remove: button("Delete", { icon: "delete", kind: "danger-quiet", onclick: remove }),
    };
    const offered = {
      pause: (target) => target === "STARTED",
      resume: (target) => target !== "STARTED",
      stop: (target) => target !== "STOPPED",
      restart: (target) => target === "STARTED",
      replay: (target, starts) => starts,
      remove: () => true,
    };
    for (const each of Object.values(made)) each.disabled = true;
    return {
      element: h("div", { class: "actions", role: "group", "aria-label": "Actions" }, Object.values(made)),
      update({ target_state: target, may_write: allowed, may_replay: starts }) {
        for (const [key, each] of Object.entries(made)) {
          const had = document.activeElement === each;
          each.disabled = !allowed;
          show(each, offered[key](target, starts));
          // The button that was pressed may be gone: its opposite takes the focus.
          if (had && each.hidden) (target === "STARTED" ? made.pause : made.resume).focus();
        }
      },
    };
  }

  async function remove() {
    const done = await ask({
      title: "Delete this connector?",
      text: "Its configuration, state and list of topics are deleted. Its committed offsets stay: a new connector of the same name resumes from them.",
      typed: name,
      confirm: "Delete",
      kind: "danger",
      check: () => request("DELETE", ofConnector(name)),
    });
    if (!done) return;
    toast(`${name} is deleted`);
    tabs.clear();
    location.hash = "#/";
  }

  return {
    element,
    refresh,
    problem: () => data?.problem ?? null,
    changed: () => [...tabs.values()].some((tab) => tab.changed?.()),
    stays(wanted) {
      if (wanted.kind !== "connector" || wanted.name !== name) return false;
      select(wanted.tab);
      return true;
    },
  };
}
