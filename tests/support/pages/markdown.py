"""Markdown pages: their fenced blocks, and what the line before a block says about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[3]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_SAVED_AS = re.compile(r"\b[Ss]ave (?:this|it) as `(?P<file>[^`]+)`")


class Block(NamedTuple):
    """A fenced block; prints as ``page:line``.

    :param info: the word after the backticks.
    :param before: the paragraph right before the block.
    """

    page: Path
    line: int
    info: str
    text: str
    before: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"

    @property
    def file(self) -> str | None:
        """The file as which a reader is told to save the block; None if it is not to be saved."""
        match = _SAVED_AS.search(self.before)
        return match["file"] if match else None


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    of_page = []
    for match in FENCE.finditer(text):
        before = text[: match.start()].rstrip("\n")
        paragraph = "" if before.endswith("```") else before.rpartition("\n\n")[2]
        of_page.append(
            Block(
                page,
                text.count("\n", 0, match.start()) + 1,
                match["info"].strip(),
                match["text"],
                " ".join(paragraph.split()),
            )
        )
    return of_page
