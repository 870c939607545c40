// The page around this one: Airflow shows it in a frame of the same origin, which may neither navigate it nor open windows.

/** The window around this one; null if there is none, or if it is of another origin. */
export const outer = found();

function found() {
  try {
    return window.parent !== window && window.parent.document ? window.parent : null;
  } catch {
    return null;
  }
}

/** Follow a link that leaves this page. In a frame the page around it does: the frame itself may not. */
export function leave(event) {
  const link = event.currentTarget;
  if (!outer || event.button > 1) return;
  event.preventDefault();
  const same = outer.document.createElement("a");
  same.href = link.href;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button === 1) {
    same.target = "_blank";
    same.rel = "noopener";
  }
  same.click();
}
