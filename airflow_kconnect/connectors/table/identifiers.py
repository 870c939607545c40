"""Names of tables and columns in Spark's SQL: the one place that quotes them, and takes them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"`(?P<quoted>(?:[^`]|``)+)`(?=\.|\Z)|(?P<plain>[^.`]+)(?=\.|\Z)")
_RESERVED_WORDS = (
    "ALL AND ANTI ANY AS ASC AUTHORIZATION BETWEEN BOTH BY CASE CAST CHECK COLLATE COLLATION COLUMN CONSTRAINT "
    "CREATE CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DEFAULT DELETE DESC DISTINCT DROP ELSE "
    "END ESCAPE EXCEPT EXECUTE EXISTS FALSE FETCH FILTER FOR FOREIGN FROM FULL FUNCTION GRANT GROUP HAVING IN "
    "INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEADING LEFT LIKE LIMIT LOCAL MERGE MINUS NATURAL NOT "
    "NULL OFFSET ON ONLY OR ORDER OUTER OVERLAPS PARTITION PRIMARY RECURSIVE REFERENCES RIGHT ROLLUP SELECT SEMI "
    "SESSION_USER SET SOME SQL STREAM TABLE THEN TIME TO TRAILING TRUE UNION UNIQUE UNKNOWN UPDATE USER USING "
    "VALUES VIEW WHEN WHERE WINDOW WITH WITHIN "
)
"""Words that are no names where a session reserves those of standard SQL."""
_RESERVED = frozenset(_RESERVED_WORDS.split())


def quoted(name: str) -> str:
    """One name, with backticks in any case: for `F.col`, `DataFrame.__getitem__` and SQL."""
    return f"`{name.replace('`', '``')}`"


def identifier(parts: Iterable[str]) -> str:
    """The identifier of a table from its names: ``lake.db.orders``. Those that need it are quoted."""
    return ".".join(part if _is_plain(part) else quoted(part) for part in parts)


def column_path(path: Iterable[str]) -> str:
    """A column or a member of one, as `ALTER TABLE` wants it."""
    return ".".join(map(quoted, path))


def parts_of(text: str) -> tuple[str, ...]:
    """The names that an identifier consists of; a name with dots is in backticks.

    :raises ValueError: it is no identifier.
    """
    parts, position = [], 0
    while position <= len(text):
        found = _PART.match(text, position)
        if found is None:
            raise ValueError(f"{text!r} is no name of a table: names are separated by dots, odd ones in backticks")
        quoted_, plain = found["quoted"], found["plain"]
        parts.append(plain if quoted_ is None else quoted_.replace("``", "`"))
        position = found.end() + 1
    return tuple(parts)


def _is_plain(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None and name.upper() not in _RESERVED
