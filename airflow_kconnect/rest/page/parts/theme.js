// Light or dark: as the system, or as the page around this one (Airflow puts a class on its root element).

import { outer } from "./frame.js";

export function followTheme() {
  if (!outer) return;
  const root = outer.document.documentElement;
  const apply = () => {
    const theme = themeOf(root);
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  apply();
  new MutationObserver(apply).observe(root, { attributes: true });
}

function themeOf(root) {
  const words = [...root.classList, root.dataset.theme, root.dataset.colorMode, root.style.colorScheme];
  return ["dark", "light"].find((theme) => words.includes(theme)) ?? null;
}
