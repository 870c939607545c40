"""Draws the diagrams of the documentation: ``python -m tests.support.pages.diagrams`` writes docs/_site/diagrams.

A page that is opened from a file cannot load Mermaid, 3 MB from another server: the site has drawings instead.
Drawing needs npm, which brings Mermaid, Chromium, and the theme that ``make docs`` installs: its colours are variables,
light and dark.
"""

from __future__ import annotations

import re
import runpy
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tests.support.pages.browser import chromium
from tests.support.pages.markdown import REPOSITORY, blocks

_MERMAID = "mermaid@11.17.2"
_FONT = "Helvetica, Arial, sans-serif"
_DRAW = """
const [id, text, themeCSS, fontFamily, done] = arguments;
const sizes = {actorFontSize: "16px", messageFontSize: "16px", noteFontSize: "16px"};
mermaid.initialize({startOnLoad: false, deterministicIds: true, themeCSS, fontFamily, sequence: sizes});
mermaid.render(id, text).then(({svg}) => done(svg), error => done(String(error)));
"""


def diagrams() -> dict[Path, str]:
    """The diagrams of the site's pages: where the drawing is -> the text."""
    drawing = runpy.run_path(str(REPOSITORY / "docs" / "_site" / "hooks.py"))["drawing"]
    pages = sorted((REPOSITORY / "docs").rglob("*.md"))
    return {drawing(block.text): block.text for page in pages for block in blocks(page) if block.info == "mermaid"}


def draw() -> None:
    """Draw what has no drawing yet, and remove drawings of what is no more."""
    wanted = diagrams()
    folder = next(iter(wanted)).parent
    for path in folder.glob("*.svg"):
        if path not in wanted:
            path.unlink()
    for path, svg in _drawn({path: text for path, text in wanted.items() if not path.exists()}):
        path.write_text(svg + "\n", encoding="utf-8")


def _drawn(texts: dict[Path, str]) -> Iterator[tuple[Path, str]]:
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder)) as driver:
        page = Path(folder) / "page.html"
        page.write_text("<!doctype html><body><script src='mermaid.js'></script>", encoding="utf-8")
        (Path(folder) / "mermaid.js").write_bytes(_mermaid(Path(folder)))
        driver.get(page.as_uri())
        for path, text in texts.items():
            svg = driver.execute_async_script(_DRAW, f"diagram-{path.stem}", text, _theme_css(), _FONT)
            if not svg.startswith("<svg"):
                raise ValueError(f"{path.stem} is not drawn: {svg}")
            yield path, svg


def _mermaid(folder: Path) -> bytes:
    subprocess.run(["npm", "pack", "--silent", _MERMAID], cwd=folder, check=True)
    with tarfile.open(next(folder.glob("mermaid-*.tgz"))) as archive:
        script = archive.extractfile("package/dist/mermaid.min.js")
        assert script is not None
        return script.read()


def _theme_css() -> str:
    """What Material for MkDocs gives to Mermaid, from its own script."""
    theme = find_spec("material")
    if theme is None or theme.origin is None:
        raise RuntimeError("Material for MkDocs is not installed: run make docs first")
    (bundle,) = (Path(theme.origin).parent / "templates" / "assets" / "javascripts").glob("bundle.*.min.js")
    match = re.search(r'="(\.node circle[^"]*)"', bundle.read_text(encoding="utf-8"))
    assert match, "the script of Material has other styles for Mermaid"
    return match[1]


if __name__ == "__main__":
    draw()
