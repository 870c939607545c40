"""The tables that a run reads: those that the configuration names, as the database describes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from airflow_kconnect.connect.config import java_pattern
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.columns import Kind, Reading, as_text, reading_of
from airflow_kconnect.connectors.jdbc.source.config import columns_for
from airflow_kconnect.connectors.jdbc.source.cursors import Cursor
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.offsets import QUERY_PARTITION, partitions_of
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table
from airflow_kconnect.connectors.jdbc.source.units import unit_of
from airflow_kconnect.validation.connector import check_topic_name

INTEGERS = (Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64)
_TYPES = "docs/connectors/jdbc-source.md#types"


def find_sources(db: Database, dialect: Dialect, settings: SourceSettings) -> list[Source]:
    """Everything that the configuration names, described by the database.

    :raises ConfigError: what is missing or cannot be read, all at once.
    """
    problems = _Problems()
    if settings.query:
        tables = [Table(None, dialect.columns(db, settings.query))]
    else:
        names = _chosen(dialect.tables(db, settings.scope), settings, problems, dialect)
        tables = [dialect.table(db, name) for name in names]
    catalog = None if settings.query else dialect.catalog(db)
    sources = [_Builder(table, dialect, settings, problems).source(catalog) for table in tables]
    problems.raise_all(settings.name)
    return [source for source in sources if source is not None]


class _Problems:
    def __init__(self) -> None:
        self.errors: dict[str, list[str]] = {}

    def add(self, key: str, text: str) -> None:
        self.errors.setdefault(key, []).append(text)

    def raise_all(self, connector: str) -> None:
        if self.errors:
            raise ConfigError(self.errors, connector)


def _chosen(tables: Sequence[Any], settings: SourceSettings, problems: _Problems, dialect: Dialect) -> list[Any]:
    values = settings.values
    include, exclude = values["table.include.list"], values["table.exclude.list"]
    names = {name: _names(name, dialect) for name in tables}
    chosen = list(tables)
    if values["table.whitelist"]:
        chosen = [name for name in chosen if names[name] & set(values["table.whitelist"])]
        known = set().union(*names.values()) if names else set()
        for missing in sorted(set(values["table.whitelist"]) - known):
            similar = get_close_matches(missing, known, n=1)
            hint = f"; did you mean {similar[0]}?" if similar else ""
            problems.add("table.whitelist", f"there is no table {missing} that the user can see{hint}")
    if include:
        chosen = [name for name in chosen if any(java_pattern(text).fullmatch(name.text) for text in include)]
    chosen = [name for name in chosen if not names[name] & set(values["table.blacklist"])]
    chosen = [name for name in chosen if not any(java_pattern(text).fullmatch(name.text) for text in exclude)]
    if not chosen and not problems.errors:
        key = "table.include.list" if include else "schema.pattern" if values["schema.pattern"] else "connection.url"
        problems.add(key, f"selects none of the {len(tables)} tables that the user can see at {settings.url.shown}")
    return chosen


def _names(name: Any, dialect: Dialect) -> set[str]:
    """The ways to write a table's name in a list."""
    return {name.name, name.text, dialect.relation(name), *(n for n in [f"{name.schema}.{name.name}"] if name.schema)}


class _Builder:
    """Makes the source of one table; what is wrong with it goes to the problems."""

    def __init__(self, table: Table, dialect: Dialect, settings: SourceSettings, problems: _Problems) -> None:
        self._table, self._dialect, self._settings, self._problems = table, dialect, settings, problems
        self._kinds = {c.name: dialect.kind(c, settings.numeric_mapping) for c in table.columns}

    def source(self, catalog: str | None) -> Source | None:
        """:returns: None if there are problems."""
        table, name = self._table, self._table.name
        readings = tuple(self._readings())
        timestamps = tuple(self._timestamps())
        cursor = self._cursor(timestamps)
        zoned = any(self._kinds[column.name] is Kind.INSTANT for column in timestamps)
        return Source(
            table=table,
            relation=self._dialect.relation(name) if name else f"({self._settings.query}\n)",
            partitions=tuple(partitions_of(name, catalog)) if name else (QUERY_PARTITION,),
            topic=self._topic(),
            readings=readings,
            key=self._key(readings),
            cursor=cursor,
            timestamps=timestamps,
            zone=None if zoned else self._settings.zone,
            is_wall=bool(timestamps) and not zoned,
            unit=max((unit_of(column, self._kinds[column.name]) for column in timestamps), default=1),
        )

    def _topic(self) -> str:
        topic: str = self._settings.values["topic.prefix"] + (self._table.name.name if self._table.name else "")
        # Where there are transformations, they can still give it another name.
        if (message := check_topic_name(topic)) and "transforms" not in self._settings.props:
            self._problems.add(
                "topic.prefix",
                f"table {self._table.text} would get a topic with an invalid name: {message}; exclude the table, or"
                " rename the topic with a transformation such as RegexRouter",
            )
        return topic

    def _readings(self) -> Iterator[Reading]:
        how = self._settings.values["unsupported.columns"]
        for column in self._table.columns:
            kind = self._kinds[column.name]
            if kind is not None:
                term, wire = self._dialect.select(column, kind)
                yield reading_of(column, kind, term, wire, self._settings.granularity)
            elif how == "string":
                text = as_text(column)
                yield reading_of(text, Kind.STRING, self._dialect.text(column), None, self._settings.granularity)
            elif how == "fail":
                self._problems.add(
                    "unsupported.columns",
                    f"{self._table.text}.{column.name} is {column.type_text}, for which Connect has no counterpart:"
                    f" read such columns as texts (`string`) or leave them out (`skip`), see {_TYPES}",
                )

    def _key(self, readings: Sequence[Reading]) -> tuple[str, ...]:
        if not self._settings.values["key.from.primary.key"]:
            return ()
        if not self._table.primary_key:
            self._problems.add("key.from.primary.key", f"{self._table.text} has no primary key")
        read = {reading.name for reading in readings}
        if missing := [name for name in self._table.primary_key if name not in read]:
            text = f"{self._table.text} has a primary key of {', '.join(missing)}, which is not read"
            self._problems.add("key.from.primary.key", text)
        return tuple(name for name in self._table.primary_key if name in read)

    # Cursor

    def _timestamps(self) -> Iterator[Column]:
        if not self._settings.mode.timestamp:
            return
        values = self._settings.values
        names = values["timestamp.column.name"] or columns_for(self._table.text, values["timestamp.columns.mapping"])
        for name in names or [""]:
            column = self._column("timestamp.column.name", name)
            if column is None:
                continue
            kind = self._kinds[column.name]
            if kind not in (Kind.WALL, Kind.INSTANT, Kind.DATE):
                # SQL Server calls a number of eight bytes `timestamp`.
                read = f" (read as {kind.name})" if kind else ""
                self._problems.add(
                    "timestamp.column.name", f"{self._table.text}.{name} is {column.type_text}{read}, not a timestamp"
                )
                continue
            yield column

    def _incrementing(self) -> Column | None:
        if not self._settings.mode.incrementing:
            return None
        values = self._settings.values
        key = "incrementing.column.name"
        mapped = columns_for(self._table.text, values["incrementing.column.mapping"]) or [""]
        name = values[key] or mapped[0]
        if not name:
            counted = [column for column in self._table.columns if column.auto_increment]
            if len(counted) != 1:
                what = "no column" if not counted else f"{len(counted)} columns"
                self._problems.add(
                    key, f"is needed for {self._table.text}: the database numbers {what} of that table itself"
                )
                return None
            return counted[0]
        column = self._column(key, name)
        if column is not None and not self._is_whole(column):
            self._problems.add(key, f"{self._table.text}.{name} is {column.type_text}, not a whole number")
        return column

    def _is_whole(self, column: Column) -> bool:
        kind = self._kinds[column.name]
        return kind in INTEGERS or (kind is Kind.DECIMAL and column.scale == 0)

    def _column(self, key: str, name: str) -> Column | None:
        column = self._table.column(name) if name else None
        if column is None:
            names = [column.name for column in self._table.columns]
            what = f"has no column {name}" if name else "matches no expression"
            self._problems.add(key, f"{self._table.text} {what}; its columns: {', '.join(names)}")
        return column

    def _cursor(self, timestamps: tuple[Column, ...]) -> Cursor:
        incrementing = self._incrementing()
        self._check_nulls(timestamps, incrementing)
        number = incrementing or self._row_number()
        exact = number is not None and number.name in self._table.unique
        if timestamps and not incrementing and not exact:
            number = None
        return Cursor(
            timestamp=self._dialect.cursor_timestamp(timestamps) if timestamps else None,
            id=self._dialect.quote(number.name) if number else None,
            id_name=number.name if number else None,
            literal=lambda nanoseconds: self._dialect.literal(timestamps, nanoseconds),
            exact=exact,
            id_is_offset=incrementing is not None or not timestamps,
        )

    def _row_number(self) -> Column | None:
        """The primary key, if it is one whole number that each row has: it breaks ties, and splits a table."""
        key = self._table.primary_key
        column = self._table.column(key[0]) if len(key) == 1 else None
        if column is None or column.nullable or column.name not in self._table.unique:
            return None
        return column if self._kinds[column.name] in INTEGERS else None

    def _check_nulls(self, timestamps: tuple[Column, ...], incrementing: Column | None) -> None:
        if not self._settings.values["validate.non.null"]:
            return
        cure = "add NOT NULL, or set the key to false: rows with null in it are then never read"
        if incrementing is not None and incrementing.nullable:
            self._problems.add("validate.non.null", f"{self._table.text}.{incrementing.name} can be null: {cure}")
        if timestamps and all(column.nullable for column in timestamps):
            names = ", ".join(column.name for column in timestamps)
            self._problems.add("validate.non.null", f"{self._table.text}.{names} can be null: {cure}")
