"""Tables as a source sees them: names, columns, keys. Pure data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TableName:
    """Name of a table; catalog and schema are None where the database has none."""

    catalog: str | None
    schema: str | None
    name: str

    @property
    def text(self) -> str:
        """The parts joined with dots, unquoted: what the offset topic calls the table."""
        return ".".join(part for part in (self.catalog, self.schema, self.name) if part)


@dataclass(frozen=True)
class Column:
    """A column as the database describes it.

    :param type_name: the database's own name of the type.
    :param jdbc_type: number of `java.sql.Types`.
    :param precision: digits, bits or characters; 0 if it is not limited.
    :param auto_increment: whether the database numbers its rows with it.
    :param fraction: digits that a timestamp's seconds have after the point; None: as many as the scale says.
    """

    name: str
    type_name: str
    jdbc_type: int
    precision: int = 0
    scale: int = 0
    nullable: bool = True
    signed: bool = True
    auto_increment: bool = False
    fraction: int | None = None

    @property
    def type_text(self) -> str:
        """The type for people: ``numeric(10,2)``."""
        if not self.precision:
            return self.type_name
        return (
            f"{self.type_name}({self.precision},{self.scale})" if self.scale else f"{self.type_name}({self.precision})"
        )


@dataclass(frozen=True)
class Table:
    """A table, a view, or the result of a query (whose name is None).

    :param primary_key: its columns, in their order; empty if there is none.
    :param unique: columns that are unique on their own.
    """

    name: TableName | None
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    unique: frozenset[str] = field(default_factory=frozenset)

    @property
    def text(self) -> str:
        """Its name in messages."""
        return self.name.text if self.name else "query"

    def column(self, name: str) -> Column | None:
        """The column of that name; if there is none, the only one that differs by case."""
        same = [column for column in self.columns if column.name == name]
        like = [column for column in self.columns if column.name.lower() == name.lower()]
        return same[0] if same else like[0] if len(like) == 1 else None

    def described(self) -> dict[str, str]:
        """Column -> type, to see whether a table changed between runs."""
        return {c.name: c.type_text + ("" if c.nullable else " not null") for c in self.columns}

    def fingerprint(self) -> str:
        """Short text that differs when `described` does."""
        return hashlib.sha256(json.dumps(list(self.described().items())).encode()).hexdigest()[:16]


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """What differs between two descriptions of a table: one text per column."""
    differences = [f"column {name} {after[name]} was added" for name in after if name not in before]
    differences += [f"column {name} {before[name]} was dropped" for name in before if name not in after]
    both = [name for name in after if name in before and before[name] != after[name]]
    return differences + [f"column {name} was {before[name]} and is {after[name]}" for name in both]
