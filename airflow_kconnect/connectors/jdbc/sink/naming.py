"""Names of tables: derived from topics, as in Connect, and quoted for SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from airflow_kconnect.connectors.jdbc.driver.identifiers import quote

Table = tuple[str, ...]
"""The parts of a table's name, the table last; before it its schema, before that its catalog."""


def table_name(text: str, mark: str = '"') -> Table:
    """The parts of a name with dots; a part in quotes may have dots itself.

    A quote within a part is an ordinary character: every part is quoted again when it goes into SQL.

    :raises ValueError: a part is empty or has a NUL, or there are more than three.
    """
    parts, rest = [], text
    more = True
    while more:
        part, rest, more = _first_part(rest, mark)
        parts.append(part)
        if len(parts) > 3:
            raise ValueError("it has more than three parts; catalog.schema.table is the most there can be")
    if any(not part or "\0" in part for part in parts):
        raise ValueError("a part of it is empty" if "\0" not in text else "it has a NUL character")
    return tuple(parts)


def _first_part(text: str, mark: str) -> tuple[str, str, bool]:
    """The first part, what follows it, and whether anything does."""
    quoted = re.match(rf"{mark}((?:[^{mark}]|{mark}{mark})*){mark}(\.|$)", text)
    if quoted:
        return quoted[1].replace(mark * 2, mark), text[quoted.end() :], quoted[2] == "."
    part, dot, rest = text.partition(".")
    return part, rest, bool(dot)


@dataclass(frozen=True)
class Naming:
    """From topics to tables.

    :param format: ``table.name.format``. :param tables: topic -> table, before the format counts.
    :param normalize: characters of topics that are not letters, digits or _ become _.
    :param fold: names are written in lower case, as PostgreSQL takes names without quotes.
    :param mark: the quotes that a part of a name may have.
    """

    format: str = "${topic}"
    tables: Mapping[str, str] | None = None
    normalize: bool = False
    fold: bool = False
    mark: str = '"'

    def table(self, topic: str) -> Table:
        """The table of a topic.

        :raises ValueError: it is not a valid name.
        """
        name = re.sub(r"[^A-Za-z0-9_]", "_", topic) if self.normalize else topic
        text = (self.tables or {}).get(topic) or self.format.replace("${topic}", name)
        return tuple(map(self.column, table_name(text, self.mark)))

    def column(self, name: str) -> str:
        """A name as the database has it."""
        return name.lower() if self.fold else name


def quoted(names: Table, mark: str = '"') -> str:
    """A table's name in SQL."""
    return ".".join(quote(name, mark) for name in names)


def shown(names: Table) -> str:
    """A table's name for people."""
    return ".".join(names)
