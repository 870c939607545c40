// The tasks of a connector, and the topics that it has used.

import { badge, button, h, moment, number, show } from "../parts/dom.js";
import { ask } from "../parts/dialogs.js";
import { traceOf } from "./trouble.js";

export function tasksTab({ act }) {
  let last = null;
  const element = h("div", { class: "stack" });

  function update({ tasks, may_write: allowed }) {
    const text = JSON.stringify([tasks, allowed]);
    if (text === last) return;
    last = text;
    if (!tasks.length) {
      element.replaceChildren(h("p", { class: "nothing" }, "No tasks: the first run makes them, and a stopped connector has none."));
      return;
    }
    element.replaceChildren(...tasks.map(taskCard));
  }

  function taskCard(task) {
    const restart = button("Restart", { icon: "restart", onclick: () => act("POST", `/tasks/${task.id}/restart`, `A run of the connector is started for task ${task.id}`) });
    return h(
      "section",
      { class: "card task", "aria-label": `Task ${task.id}` },
      h("div", { class: "row" }, h("h2", {}, `Task ${task.id}`), badge(task.state), h("span", { class: "detail grow" }, task.worker_id), last && JSON.parse(last)[1] ? restart : null),
      task.trace ? traceOf(task.trace, `Why task ${task.id} has failed`) : null,
    );
  }

  return { element, update };
}

export function topicsTab({ name, act }) {
  const body = h("tbody", {});
  const table = h("table", {}, h("caption", { class: "visually-hidden" }, "Topics used"), h("thead", {}, h("tr", {}, ["Topic", "First seen", "By task"].map((label) => h("th", { scope: "col" }, label)))), body);
  const card = h("div", { class: "card table-card" }, table);
  const nothing = h("p", { class: "nothing" }, "No topics yet: a run notes which topics it has read or written.");
  const reset = button("Forget these topics", { onclick: forget });
  const element = h("div", { class: "stack" }, card, nothing, h("p", {}, reset));
  let last = null;

  function update({ topics, may_write: allowed }) {
    const text = JSON.stringify([topics, allowed]);
    if (text === last) return;
    last = text;
    show(card, topics.length > 0);
    show(nothing, topics.length === 0);
    show(reset, topics.length > 0 && allowed);
    body.replaceChildren(...topics.map((topic) => h("tr", {}, h("th", { scope: "row" }, topic.name), h("td", {}, moment(topic.discovered_ms)), h("td", { class: "number" }, number(topic.task)))));
  }

  async function forget() {
    const sure = await ask({ title: "Forget the topics?", text: "Only the list is emptied: topics and offsets stay. The next run notes them again.", confirm: "Forget" });
    if (sure) await act("PUT", "/topics/reset", `The topics of ${name} are forgotten`);
  }

  return { element, update };
}
