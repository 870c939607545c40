// A connector that has run without being registered: where it is configured, and how to register it.

import { h, show } from "../parts/dom.js";
import { placesOf } from "../parts/places.js";

export function unregisteredNote(name) {
  const where = h("span", {});
  const register = h("a", { class: "button", href: `#/new?from=${encodeURIComponent(name)}` }, "Register");
  const element = h(
    "div",
    { class: "note", hidden: true },
    h("p", { class: "grow" }, "This connector is not registered: ", where, ", and it can only be looked at here. Registered, here or by ", h("code", {}, "kconnect create"), ", it can be changed, paused and restarted on this page."),
    register,
  );

  function update({ registered, configured, class: known }) {
    show(element, !registered);
    // Of one that has left nothing but offsets.
    show(register, Boolean(known));
    const places = placesOf(configured).flatMap((place, at) => (at ? [" and ", place] : [place]));
    where.replaceChildren(...(places.length ? ["it is configured ", ...places] : ["it is configured elsewhere"]));
  }

  return { element, update };
}
