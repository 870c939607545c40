"""Names of tables and columns in Spark's SQL, and texts: the one place that quotes them, and takes names apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"`((?:[^`]|``)+)`(\.|$)")


def quoted(name: str) -> str:
    """One name in backticks: for `F.col`, `DataFrame.__getitem__` and SQL. In them, reserved words are names too."""
    return f"`{name.replace('`', '``')}`"


def text_literal(text: str) -> str:
    """A text in Spark's SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def identifier(parts: Iterable[str]) -> str:
    """The identifier of a table from its names: ``lake.db.orders``. Those that need it are quoted."""
    return ".".join(part if _PLAIN.fullmatch(part) else quoted(part) for part in parts)


def column_path(path: Iterable[str]) -> str:
    """A column or a member of one, as `ALTER TABLE` wants it."""
    return ".".join(map(quoted, path))


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a name with dots, the table last. A part in backticks may have dots itself.

    :raises ValueError: a part is empty, or has characters that are in no name.
    """
    parts, rest, more = [], name, True
    while more:
        if found := _QUOTED.match(rest):
            parts.append(found[1].replace("``", "`"))
            rest, more = rest[found.end() :], found[2] == "."
        else:
            part, dot, rest = rest.partition(".")
            parts.append(part)
            more = bool(dot)
    if not all(map(str.strip, parts)):
        raise ValueError("a part of it is empty")
    if not name.isprintable():
        raise ValueError("it has characters that cannot be printed")
    return tuple(parts)
