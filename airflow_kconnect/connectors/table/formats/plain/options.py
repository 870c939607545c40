"""What configurations may say about formats of Spark, and where their tables are. Pure rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from airflow_kconnect.connectors.table.identifiers import parts_of
from airflow_kconnect.connectors.table.settings import TABLE, TableSettings

FILES = ("avro", "csv", "json", "orc", "parquet")
"""Formats of files that Spark comes with."""
_SELF_DESCRIBING = ("avro", "orc", "parquet")
_HARMLESS = frozenset(
    {
        *("compression", "maxrecordsperfile", "timezone", "dateformat", "timestampformat", "timestampntzformat"),
        *("header", "sep", "delimiter", "quote", "escape", "quoteall", "escapequotes", "chartoescapequoteescaping"),
        *("encoding", "charset", "nullvalue", "emptyvalue", "linesep", "ignorenullfields", "pretty"),
        *("ignoreleadingwhitespace", "ignoretrailingwhitespace", "recordname", "recordnamespace"),
        *("orc.compress", "orc.stripe.size", "orc.bloom.filter.columns", "orc.bloom.filter.fpp"),
        *("parquet.block.size", "parquet.page.size", "parquet.enable.dictionary"),
    }
)
"""Options of `FILES`, in lower case, that say how files look. Others reach Hadoop, where some name classes."""


def forbidden(table_format: str, options: Mapping[str, str], allowed: Collection[str]) -> Iterator[tuple[str, str]]:
    """What a worker does not allow: (name of an option, or an empty text for the format itself; why).

    :param options: of the writer. :param allowed: formats that the worker names: they may have any options.
    """
    if {"*", table_format} & {entry.lower() for entry in allowed}:
        return
    if table_format not in FILES:
        yield "", f"{table_format} is not one of {', '.join(FILES)}"
        return
    for name in options:
        if name.lower() not in _HARMLESS:
            yield name, f"the option {name} is not one of those that only say how files of {table_format} look"


def describes_itself(table_format: str) -> bool:
    """Whether files say which columns they have."""
    return table_format in _SELF_DESCRIBING


def place_of(settings: TableSettings, name: str) -> str | None:
    """The folder of a table; None: it is found by its name, or by options."""
    return None if settings.location is None else settings.location.replace(TABLE, parts_of(name)[-1])


def with_table(options: Mapping[str, str], name: str) -> dict[str, str]:
    """The options of a table."""
    return {key: text.replace(TABLE, parts_of(name)[-1]) for key, text in options.items()}


def has_place(location: str | None, options: Mapping[str, str]) -> bool:
    """Whether a table is found without a catalog."""
    return location is not None or any(TABLE in text for text in options.values())
