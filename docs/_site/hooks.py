"""Hooks of the documentation's site: links to files outside docs/ lead to the repository; examples in docstrings."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

log = logging.getLogger("mkdocs.hooks")

_LINK = re.compile(r"(?P<before>\]\()(?P<target>\.\./[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")


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


def on_page_content(html: str, **_: Any) -> str:
    """Called with each rendered page: docstrings mark their examples as Sphinx does, for Airflow's readers."""
    return re.sub(r"<p>\.\. code-block:: \w+</p>\n?", "", html)
