"""Plain words: pages, docstrings and messages do without some that readers stumble over.

A new entry needs a better word, and a tree without the old one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.pages.markdown import FENCE, REPOSITORY

BETTER = {
    r"\banew\b": "again",
    r"\bwhoever\b": "anyone who",
    r"\bsomebody\b": "another user, run or process; or the passive",
    r"\bnobody\b": "no one; or the passive",
    r"\b(?:is|are|was|were|be|been) away\b": "unavailable",
    r"\bpass(?:ed|es) over\b": "skipped",
    r"\b(?:go|goes|went|going) on\b": "resume, continue; `in progress`",
    r"(?<!there)\s(?:is|are|was|were) no (?!longer|more)[a-z]+": "is not a",
    r"\bso many\b": "that many",
    r"\bonce more\b": "again",
    r"\bmend(?:ed|s)?\b": "fixed",
    r"\bbeside\b": "next to, alongside",
    r"\bfor ever\b": "forever",
    r"\bwithout a word\b": "silently",
    r"\bin the place of\b": "instead of",
    r"\bin vain\b": "for nothing",
    r"\bpassing reason": "temporary reason",
    r"\bbecomes? of\b": "happens to",
    r"\bsuffices?\b": "is enough",
    r"\bin a wrong way\b": "wrongly",
    r"\bcounts? for\b": "applies to",
    r"\bgoes? before (?:the|what|a)\b": "takes precedence over",
    r"\bstands? in (?!for)": "is in, is part of",
    r"\b(?:is|are) told\b(?! apart| to)": "is reported; is configured",
    r"\btells? (?:of|none)\b": "reports, shows",
    r"\bcomes? on top\b": "is not included",
    r"\bcomes? to (?:its|an) end\b": "ends, finishes",
    r"\bruns? already\b": "is already running",
    r"\btaken? back\b": "rolled back",
    r"\b(?:is|are|was|were) not whole\b": "is incomplete",
    r"\bof so many\b": "of that many",
    r"\bdo(?:es)? not run any more\b": "no longer runs",
    r"\bmakes? columns of\b": "turns into columns",
}
_DOCS = REPOSITORY / "docs"
_NOT_WRITTEN_HERE = (_DOCS / "reference", _DOCS / "decisions")
PAGES = [
    *sorted(REPOSITORY.glob("*.md")),
    REPOSITORY / "docker" / "README.md",
    *(page for page in sorted(_DOCS.rglob("*.md")) if not any(page.is_relative_to(part) for part in _NOT_WRITTEN_HERE)),
]
MODULES = sorted((REPOSITORY / "airflow_kconnect").rglob("*.py"))
_CODE_SPAN = re.compile(r"(`+)[^`]+?\1")
_LINK_TARGET = re.compile(r"\]\([^)\s]+\)")


def _blank(match: re.Match[str]) -> str:
    """Nothing, in as many lines."""
    return "\n" * match[0].count("\n")


def prose(page: Path) -> str:
    """A page without code, quoted output and link targets."""
    text = page.read_text(encoding="utf-8")
    for pattern in (FENCE, _CODE_SPAN, _LINK_TARGET):
        text = pattern.sub(_blank, text)
    return text


def literals(module: str) -> Iterator[tuple[int, str]]:
    """Docstrings and other texts of a module, with the lines at which they begin."""
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def findings(text: str, first_line: int = 1) -> list[str]:
    """Words of `BETTER` in a text, each with its line and the better ones."""
    return [
        f"line {first_line + text.count(chr(10), 0, match.start())}: `{match[0]}`: better `{better}`"
        for pattern, better in BETTER.items()
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE)
    ]


def _name(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_page_has_plain_words(page: Path) -> None:
    assert findings(prose(page)) == []


def test_texts_of_the_package_have_plain_words() -> None:
    stilted = [
        f"{_name(module)}: {finding}"
        for module in MODULES
        for line, text in literals(module.read_text(encoding="utf-8"))
        for finding in findings(text, line)
    ]
    assert stilted == []


def test_findings_name_line_and_better_word() -> None:
    assert findings("It is\naway, and starts\nAnew.") == [
        "line 3: `Anew`: better `again`",
        "line 1: `is\naway`: better `unavailable`",
    ]


def test_literals_have_docstrings_and_parts_of_f_strings() -> None:
    assert list(literals('"""Doc."""\n\nx = f"a {1} b"\n# comment\n')) == [(1, "Doc."), (3, "a "), (3, " b")]


def test_pages_are_checked_without_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("See `nobody` and [this](whoever.md).\n\n```text\nanew\n```\n\nonce more\n", encoding="utf-8")
    assert findings(prose(page)) == ["line 7: `once more`: better `again`"]
