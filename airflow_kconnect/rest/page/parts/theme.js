// Light or dark: as the system, or as the page around this one (Airflow puts a class on its root element).

export function followTheme() {
  const outer = parentRoot();
  if (!outer) return;
  const apply = () => {
    const theme = themeOf(outer);
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  apply();
  new MutationObserver(apply).observe(outer, { attributes: true });
}

function parentRoot() {
  try {
    return window.parent === window ? null : window.parent.document.documentElement;
  } catch {
    return null; // a page of another origin
  }
}

function themeOf(root) {
  const words = [...root.classList, root.dataset.theme, root.dataset.colorMode, root.style.colorScheme];
  return ["dark", "light"].find((theme) => words.includes(theme)) ?? null;
}
