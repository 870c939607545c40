"""Hooks of the documentation's site, which works from a file: what pages need is in it.

Links to files outside docs/ lead to the repository, diagrams are drawings, and names break at their dots.
"""

from __future__ import annotations

import logging
import re
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

log = logging.getLogger("mkdocs.hooks")

_LINK = re.compile(r"(?P<before>\]\()(?P<target>\.\./[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
_DIAGRAM = re.compile(r'<pre class="mermaid"><code>(?P<text>.*?)</code></pre>', re.DOTALL)
_CODE = re.compile(r"(?<!<pre>)(?<!</span>)<code>[^<]*</code>")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Called by MkDocs with each page before it is rendered."""
    docs = Path(config.docs_dir)
    folder = (docs / page.file.src_uri).parent

    def link(match: re.Match[str]) -> str:
        path = (folder / match["target"]).resolve()
        if path.is_relative_to(docs):
            return match[0]
        if not path.exists():
            log.warning("%s links to %s, which does not exist", page.file.src_uri, match["target"])
        kind = "tree" if path.is_dir() else "blob"
        return f"]({config.repo_url}/{kind}/main/{path.relative_to(docs.parent)}{match['anchor'] or ''})"

    return _LINK.sub(link, markdown)


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Called with each rendered page."""
    # Docstrings mark their examples as Sphinx does, for Airflow's readers.
    html = re.sub(r"<p>\.\. code-block:: \w+</p>\n?", "", html)
    html = _DIAGRAM.sub(lambda match: _drawn(unescape(match["text"]), page.file.src_uri), html)
    return _CODE.sub(_with_breaks, html)


def drawing(text: str) -> Path:
    """Where the drawing of a diagram is, made by ``python -m tests.support.pages.diagrams``."""
    return Path(__file__).parent / "diagrams" / f"{sha256(text.strip().encode()).hexdigest()[:12]}.svg"


def _drawn(text: str, page: str) -> str:
    path = drawing(text)
    if not path.exists():
        log.warning("a diagram of %s has no drawing: run python -m tests.support.pages.diagrams", page)
        return f"<pre>{text}</pre>"
    return f'<div class="diagram">{path.read_text(encoding="utf-8")}</div>'


def _with_breaks(match: re.Match[str]) -> str:
    return re.sub(r"(?<=\w)([.$-])(?=\w)", r"\1<wbr>", match[0])
