"""The documentation as a site: what its pages need is in it, and each is in its menu."""

from __future__ import annotations

import re
import runpy
from html import unescape
from types import SimpleNamespace

from tests.support.pages.diagrams import diagrams
from tests.support.pages.markdown import REPOSITORY

DOCS = REPOSITORY / "docs"
HOOKS = runpy.run_path(str(DOCS / "_site" / "hooks.py"))
CONFIG = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
MENU = [line.strip().removeprefix("- ") for line in CONFIG.partition("\nnav:\n")[2].splitlines()]


def _html(content: str) -> str:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="page.md"))
    html: str = HOOKS["on_page_content"](content, page=page)
    return html


def test_every_page_is_in_the_menu_once() -> None:
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    entries = [entry for entry in MENU if entry.endswith(".md")]
    assert pages - set(entries) == set(), "add them to `nav` in mkdocs.yml"
    assert sorted(entries) == sorted(pages)


def test_guides_are_in_groups_that_can_be_looked_over() -> None:
    use = CONFIG.partition("  - Guides:\n")[2].partition("\n  - ")[0]
    groups = re.findall(r"^      - (.+):\n((?:          - .*\n?)+)", use, re.MULTILINE)
    assert [name for name, _ in groups] == [
        *("Run", "Configure", "Run Java connectors", "Clusters and stores", "Operate", "Write your own")
    ]
    assert all(pages.count("\n") <= 12 for _, pages in groups) and "      - guides/" not in use.replace(" " * 10, "")


def test_every_diagram_has_its_drawing_and_no_other_is_there() -> None:
    drawings = {path for path in (DOCS / "_site" / "diagrams").iterdir()}
    assert drawings == set(diagrams()), "run: python -m tests.support.pages.diagrams"


def test_a_diagram_becomes_its_drawing_in_the_colours_of_the_site() -> None:
    path, text = next(iter(diagrams().items()))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert unescape(escaped) == text
    html = _html(f'<pre class="mermaid"><code>{escaped}</code></pre>')
    assert html == f'<div class="diagram">{path.read_text(encoding="utf-8")}</div>' and "var(--md-mermaid" in html


def test_names_may_break_at_dots_and_code_that_is_copied_stays_as_it_is() -> None:
    fence = "<pre><span></span><code>a.b</code></pre>"
    row = "<tr><td><code>connection.url</code></td><td>in 1.5 s</td></tr>"
    assert _html(fence + row) == fence + row.replace("connection.", "connection.<wbr>")


def test_no_page_and_no_file_of_the_theme_asks_another_server() -> None:
    script = "assets/javascripts/iframe-worker.js"
    assert "- offline\n" in CONFIG and f"polyfills: [{script}]" in CONFIG and "font: false" in CONFIG
    files = [path for path in (DOCS / "_site").rglob("*") if path.suffix in (".js", ".css", ".svg", ".html")]
    asked = re.compile(r"""(?:src|href|url|import|fetch)\s*[=(]\s*["']?https?://""")
    assert (DOCS / "_site" / "theme" / script) in files
    assert [path.name for path in files if asked.search(path.read_text(encoding="utf-8"))] == []
    assert "data-md-component" not in (DOCS / "_site" / "theme" / "partials" / "source.html").read_text()
