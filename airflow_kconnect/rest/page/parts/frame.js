// The page around this one: Airflow shows it in a frame of the same origin, which may not navigate it.

/** The window around this one; null if there is none, or if it is of another origin. */
export const outer = found();

function found() {
  try {
    return window.parent !== window && window.parent.document ? window.parent : null;
  } catch {
    return null;
  }
}

/** Follow a link that leaves this page. In a frame the page around it does: the frame itself may open other tabs only. */
export function leave(event) {
  if (!outer || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const same = outer.document.createElement("a");
  same.href = event.currentTarget.href;
  same.click();
}
