"""Regular expressions in Java's syntax: checked without Java and without running them, and run by Spark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import LambdaValidator, java_pattern
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.java_text.regex_ambiguity import is_explosive

if TYPE_CHECKING:
    from pyspark.sql import Column

_TOKEN = re.compile(
    r"""
    (?P<quoted>\\Q(?:.*?\\E|.*))
    | \\[pPxN]\{[^}]*\} | \\.
    | \[\^?\]?(?:\\.|[^]\\])*\]
    | (?P<comments>\(\?[a-wyz]*x[a-z]*\))
    | \(\?<(?P<name>[a-zA-Z][a-zA-Z0-9]*)>
    | (?P<group>\((?!\?))
    | (?P<only_python>\(\?[P#(] | \{(?!\d+(?:,\d*)?\}))
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_ONLY_JAVA = re.compile(r"\\[pPQRXGNhHvVxcez]|&&|\[.*\[|\(\?[idmsuxU-]+[:)]|\(\?<[=!]")
_REFERENCE = re.compile(r"\\(?P<escaped>.?)|\$\{(?P<name>[a-zA-Z0-9]*)(?P<end>\}?)|\$(?P<number>[0-9]?)", re.DOTALL)


def _problem(key: str, regex: str | None) -> str | None:
    wrong = next((token for token in _TOKEN.finditer(regex or "") if token["only_python"]), None)
    if wrong:
        return f"Invalid regex: {wrong[0]} is not understood near index {wrong.start()}"
    try:
        if is_explosive(java_pattern(regex or "")):
            return f"Invalid regex: {regex} can take forever to match. Have its repetitions begin with different texts"
    except (re.error, RecursionError, OverflowError) as error:
        # What Python does not support either is left to Spark.
        return None if _ONLY_JAVA.search(regex or "") else f"Invalid regex: {error}"
    return None


JAVA_REGEX = LambdaValidator(_problem)
"""What ``java.util.regex.Pattern`` can compile, as far as Python can tell (``RegexValidator``); null passes."""


def replacement_problem(regex: str, replacement: str) -> str | None:
    """Why ``Matcher.replaceFirst`` would reject a replacement; None if it would not."""
    tokens = list(_TOKEN.finditer(regex))
    names = {token["name"] for token in tokens if token["name"]}
    groups = sum(token["group"] is not None for token in tokens) + len(names)
    problems = (_reference_problem(reference, groups, names) for reference in _REFERENCE.finditer(replacement))
    return next((problem for problem in problems if problem), None)


def _reference_problem(reference: re.Match[str], groups: int, names: set[str]) -> str | None:
    if reference["escaped"] is not None:
        return None if reference["escaped"] else "character to be escaped is missing"
    if reference["name"] is not None:
        if not reference["name"] or not reference["end"]:
            return "named capturing group is missing trailing '}'"
        return None if reference["name"] in names else f"No group with name {{{reference['name']}}}"
    if not reference["number"]:
        return "Illegal group reference"
    return f"No group {reference['number']}" if int(reference["number"]) > groups else None


def name_matches(regex: str, name: str) -> bool | None:
    """Whether the whole name matches, evaluated here; None if only Java can tell.

    Spark would call Java while it plans, in the driver, where an expression with too many ways to match never ends.
    """
    try:
        return java_pattern(regex).fullmatch(name)
    except (re.error, DataError):
        return None


def matches(text: Column, regex: str) -> Column:
    """BOOLEAN: the whole text matches (``Matcher.matches``)."""
    return text.rlike(rf"\A(?:{_closed(regex)})\z")


def with_first_replaced(text: Column, regex: str, replacement: str) -> Column:
    """A matching text with the first match replaced (``Matcher.replaceFirst``)."""
    from pyspark.sql import functions as F

    # If a text matches, the first match is at its beginning.
    return F.regexp_replace(text, rf"\A(?:{_closed(regex)})", replacement)


def _closed(regex: str) -> str:
    """The expression in a form after which further text is neither quoted nor a comment."""
    tokens = list(_TOKEN.finditer(regex))
    if tokens and tokens[-1]["quoted"] and not tokens[-1][0].endswith(r"\E"):
        return rf"{regex}\E"
    has_comments = any(token["comments"] for token in tokens) and "#" in regex.rpartition("\n")[2]
    return f"{regex}\n" if has_comments else regex
