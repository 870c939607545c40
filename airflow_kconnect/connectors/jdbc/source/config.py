"""Configuration of the JDBC source: Confluent's and Aiven's keys, and kconnect's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    Range,
    Regex,
    Type,
    ValidString,
    java_pattern,
    nullable,
)
from airflow_kconnect.connectors.jdbc.driver.drivers import define_driver_keys
from airflow_kconnect.connectors.jdbc.driver.urls import url_validator
from airflow_kconnect.connectors.jdbc.driver.zones import zone_rule
from airflow_kconnect.connectors.jdbc.source.columns import GRANULARITIES
from airflow_kconnect.connectors.visibility import ShownWith
from airflow_kconnect.validation.connector_keys import KCONNECT

MODES = ("bulk", "incrementing", "timestamp", "timestamp+incrementing")
_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_IN_TIME = ShownWith("mode", lambda mode: "timestamp" in mode)
_BY_NUMBER = ShownWith("mode", lambda mode: "incrementing" in mode)
_NOT_IN_BULK = ShownWith("mode", lambda mode: mode != "bulk")
_CONNECTION, _MODE, _TABLES, _RECORDS, _IGNORED = "Database", "Mode", "Tables", "Records", "Ignored"

_NUMERIC_MAPPINGS = ("none", "precision_only", "best_fit", "best_fit_eager_double")
_ISOLATIONS = (
    "DEFAULT",
    "READ_UNCOMMITTED",
    "READ_COMMITTED",
    "REPEATABLE_READ",
    "SERIALIZABLE",
    "SQL_SERVER_SNAPSHOT",
)

_WITHOUT_EFFECT = {
    "poll.interval.ms": "a run reads what is there and ends; Airflow's schedule says how often",
    "batch.max.rows": "rows are streamed, not fetched in pages; see `split.rows`",
    "max.buffer.size": "rows are streamed, not buffered",
    "poll.linger.ms": "a run reads what is there and ends",
    "table.poll.interval.ms": "each run looks for new tables",
    "table.monitoring.startup.polling.limit.ms": "each run looks for its tables before it starts",
    "query.retry.attempts": "Airflow's retries of the task repeat a failed run, which resumes where it stopped",
    "table.names.qualify": "tables are always named with their schema",
    "dialect.name": "the URL says which database it is",
    "date.calendar.system": "dates before 1582 are always those of the proleptic Gregorian calendar",
    "jdbc.credentials.provider.class": "no class of a configuration is loaded; use `${provider:...}` in"
    " `connection.password`",
}
_QUOTING = "identifiers are always quoted: write them as the database stores them"
# What asks for nothing else than what is done anyway.
_DONE_ANYWAY = {
    "dialect.name": "",
    "quote.sql.identifiers": "always",
    "sql.quote.identifiers": "true",
    "table.names.qualify": "true",
}


def mapping_rule(name: str, value: Any) -> str | None:
    for text in _split_mapping(value):
        pattern, separator, columns = text.rpartition(":")
        if not separator or not pattern or not columns.strip("[] "):
            return f"{text!r} is not <regular expression>:<column>"
        try:
            java_pattern(pattern)
        except re.error as error:
            return f"{pattern!r} is not a regular expression: {error}"
    return None


def _split_mapping(texts: list[str] | None) -> list[str]:
    return [text.strip() for text in texts or () if text.strip()]


def source_config(initial_key: str, initial: int | None, quoting: str) -> ConfigDef:
    """The definition.

    :param initial_key: name of the key for the first timestamp.
    :param quoting: name and meaning of the key for quoting identifiers.
    """
    definition = ConfigDef()
    _define_connection(definition)
    _define_mode(definition, initial_key, initial)
    _define_tables(definition)
    _define_records(definition)
    _define_run(definition)
    for key, reason in {**_WITHOUT_EFFECT, quoting: _QUOTING}.items():
        default = _DONE_ANYWAY.get(key)
        definition.define(key, Type.STRING, default, _LOW, group=_IGNORED, without_effect=reason)
    return define_driver_keys(definition)


def _define_connection(definition: ConfigDef) -> None:
    define = definition.define
    define("connection.url", Type.STRING, importance=_HIGH, validator=LambdaValidator(url_validator),
           documentation="JDBC URL of the database, without user and password.", group=_CONNECTION,
           example="jdbc:postgresql://host:5432/database")  # fmt: skip
    define("connection.user", Type.STRING, None, _HIGH, "User of the database.", group=_CONNECTION)
    define("connection.password", Type.PASSWORD, None, _HIGH, "Password of the user.", group=_CONNECTION)
    define("connection.attempts", Type.INT, 3, _LOW, "How often to try to connect.",
           validator=Range.at_least(1), group=_CONNECTION)  # fmt: skip
    define("connection.backoff.ms", Type.LONG, 10000, _LOW, "Pause between two attempts, in ms.",
           validator=Range.at_least(0), group=_CONNECTION)  # fmt: skip
    define("transaction.isolation.mode", Type.STRING, "DEFAULT", _LOW,
           "Isolation of the reading transactions. On PostgreSQL, DEFAULT is one snapshot for the whole run.",
           validator=ValidString.in_case_insensitive(*_ISOLATIONS), group=_CONNECTION)  # fmt: skip


def _define_mode(definition: ConfigDef, initial_key: str, initial: int | None) -> None:
    define = definition.define
    define("mode", Type.STRING, importance=_HIGH, validator=ValidString.in_(*MODES), group=_MODE,
           documentation="`bulk`: all rows in each run. `incrementing`: rows with a higher number than the last one."
           " `timestamp`: rows with a later timestamp, so also changed rows. `timestamp+incrementing`: both, which"
           " tells rows with equal timestamps apart.")  # fmt: skip
    define("incrementing.column.name", Type.STRING, "", _MEDIUM,
           "The column that only grows; empty: the one that the database numbers itself.", group=_MODE,
           recommender=_BY_NUMBER, example="id")  # fmt: skip
    define("timestamp.column.name", Type.LIST, "", _MEDIUM,
           "The timestamp columns; of several, the first that is not null counts.", group=_MODE,
           recommender=_IN_TIME, example="updated_at")  # fmt: skip
    define("incrementing.column.mapping", Type.LIST, "", _MEDIUM,
           "`<regular expression>:<column>` by table, instead of `incrementing.column.name`.",
           validator=LambdaValidator(mapping_rule), group=_MODE, recommender=_BY_NUMBER)  # fmt: skip
    define("timestamp.columns.mapping", Type.LIST, "", _MEDIUM,
           "`<regular expression>:[<column>|<column>]` by table, instead of `timestamp.column.name`.",
           validator=LambdaValidator(mapping_rule), group=_MODE, recommender=_IN_TIME)  # fmt: skip
    define(initial_key, Type.LONG, initial, _LOW,
           "Where timestamps begin without an offset: ms since the epoch, -1 is now; unset is the epoch.",
           group=_MODE, recommender=_IN_TIME)  # fmt: skip
    define("incrementing.initial", Type.LONG, -1, _LOW,
           "Where numbers begin without an offset: rows above it are read. A table with lower ones is refused unless"
           " the key is set.", group=_MODE, recommender=_BY_NUMBER)  # fmt: skip
    define("timestamp.delay.interval.ms", Type.LONG, 0, _HIGH,
           "How old a timestamp must be before its rows are read, so that transactions can end.",
           validator=Range.at_least(0), group=_MODE, recommender=_IN_TIME)  # fmt: skip
    define("validate.non.null", Type.BOOLEAN, True, _LOW,
           "Whether the incrementing and timestamp columns must be NOT NULL. If not, rows with null in them are never"
           " read.",
           group=_MODE, recommender=_NOT_IN_BULK)  # fmt: skip
    define("late.commits", Type.STRING, "wait", _MEDIUM,
           "PostgreSQL, MySQL, MariaDB: `wait` reads only what no open transaction can still add to; `ignore` reads"
           " what is there, as Connect, and loses rows that are committed later. Elsewhere `ignore` turns off the"
           " warning of that.",
           validator=ValidString.in_("wait", "ignore"),
           group=KCONNECT, recommender=_NOT_IN_BULK)  # fmt: skip
    define("late.commits.wait.ms", Type.LONG, 10000, _LOW,
           "How long a run waits for open transactions; after that the table is left for the next run.",
           validator=Range.at_least(0), group=KCONNECT, recommender=_NOT_IN_BULK)  # fmt: skip
    define("on.renumbered", Type.STRING, "fail", _MEDIUM,
           "What to do when a table gives numbers again that are below its offset, as after a TRUNCATE that restarts"
           " its numbering: `fail`, `restart` from `incrementing.initial`, or `ignore`, as Connect, which never reads"
           " rows up to the offset.", validator=ValidString.in_("fail", "restart", "ignore"),
           group=KCONNECT, recommender=_BY_NUMBER)  # fmt: skip


def _define_tables(definition: ConfigDef) -> None:
    define = definition.define
    define("table.whitelist", Type.LIST, "", _MEDIUM, "Tables to read: `table` or `schema.table`.", group=_TABLES,
           example="public.orders,public.customers")  # fmt: skip
    define("table.blacklist", Type.LIST, "", _MEDIUM, "Tables to leave out.", group=_TABLES)
    define("table.include.list", Type.LIST, "", _MEDIUM,
           "Regular expressions for the full names of the tables to read.", validator=Regex(),
           group=_TABLES)  # fmt: skip
    define("table.exclude.list", Type.LIST, "", _MEDIUM,
           "Regular expressions for the full names of tables to leave out.", validator=Regex(),
           group=_TABLES)  # fmt: skip
    define("catalog.pattern", Type.STRING, None, _MEDIUM, "Catalog of the tables; unset: any.", group=_TABLES)
    define("schema.pattern", Type.STRING, None, _HIGH,
           "Schema of the tables, a pattern as of LIKE; unset: any.", group=_TABLES)  # fmt: skip
    define("table.types", Type.LIST, "TABLE", _LOW,
           "`TABLE`, `VIEW`, `PARTITIONED TABLE`, `MATERIALIZED VIEW`, `FOREIGN TABLE`.", group=_TABLES)  # fmt: skip
    define("query", Type.STRING, "", _MEDIUM,
           "A SELECT to read instead of tables. It becomes a sub-select, so it may have its own WHERE.",
           group=_TABLES)  # fmt: skip
    define("query.masked", Type.PASSWORD, None, _MEDIUM, "The same, never shown.", group=_TABLES)
    define("query.suffix", Type.STRING, "", _LOW,
           "Refused unless empty: rows are read in ranges, which a suffix such as LIMIT would break.",
           group=_TABLES)  # fmt: skip


def _define_records(definition: ConfigDef) -> None:
    define = definition.define
    define("topic.prefix", Type.STRING, "", _HIGH,
           "Prefix of the topics, followed by the table's name; with `query` it is the topic.",
           group=_RECORDS, example="shop-")  # fmt: skip
    define("numeric.mapping", Type.STRING, None, _LOW,
           "How NUMERIC becomes a field: `none` Decimal, `precision_only` integers without fraction as INT8 to INT64,"
           " `best_fit` also fractions of up to 18 digits as FLOAT64, `best_fit_eager_double` all fractions.",
           validator=nullable(ValidString.in_case_insensitive(*_NUMERIC_MAPPINGS)),
           group=_RECORDS)  # fmt: skip
    define("numeric.precision.mapping", Type.BOOLEAN, False, _LOW,
           "Deprecated: true is `numeric.mapping=precision_only`.", group=_RECORDS)  # fmt: skip
    define("timestamp.granularity", Type.STRING, "connect_logical", _LOW,
           "How timestamps become fields: Connect's Timestamp (ms), or micro- or nanoseconds as number or text.",
           validator=ValidString.in_case_insensitive(*GRANULARITIES), group=_RECORDS)  # fmt: skip
    define("db.timezone", Type.STRING, "UTC", _MEDIUM,
           "Zone of timestamps that do not know theirs.", validator=LambdaValidator(zone_rule),
           group=_RECORDS)  # fmt: skip
    define("key.from.primary.key", Type.BOOLEAN, False, _MEDIUM,
           "Whether records have the primary key as their key (a struct); else the key is null, as in Connect.",
           group=KCONNECT)  # fmt: skip
    define("unsupported.columns", Type.STRING, "fail", _MEDIUM,
           "Columns of types without a counterpart in Connect: `fail`, read as `string`, or `skip`.",
           validator=ValidString.in_("fail", "string", "skip"), group=KCONNECT)  # fmt: skip
    define("schema.change", Type.STRING, "evolve", _MEDIUM,
           "When a table's columns differ from the last run: `evolve` continues with the new schema, `fail` stops.",
           validator=ValidString.in_("evolve", "fail"), group=KCONNECT)  # fmt: skip


def _define_run(definition: ConfigDef) -> None:
    definition.define(
        "split.rows", Type.LONG, 250_000, _LOW,
        "A run reads a table in parallel pieces of about this many rows. Within one, rows keep their order;"
        " `kconnect.splits.max=1` keeps the order of the whole table.",
        validator=Range.at_least(1), group=KCONNECT,
    )  # fmt: skip


@dataclass(frozen=True)
class Mode:
    """Which columns a mode needs."""

    timestamp: bool
    incrementing: bool

    @classmethod
    def of(cls, name: str) -> Mode:
        return cls("timestamp" in name, "incrementing" in name)

    @property
    def bulk(self) -> bool:
        return not (self.timestamp or self.incrementing)


def columns_for(table: str, mapping: list[str] | None) -> list[str] | None:
    """The columns that a mapping has for a table; None if no expression matches its name."""
    for text in _split_mapping(mapping):
        pattern, _, columns = text.rpartition(":")
        if java_pattern(pattern).fullmatch(table):
            return [column.strip() for column in columns.strip("[]").split("|")]
    return None
