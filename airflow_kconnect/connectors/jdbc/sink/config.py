"""The keys of the JDBC sinks, parsed to the types that the sink works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Password,
    Range,
    Type,
    ValidString,
)
from airflow_kconnect.connectors.changes import EVOLVE, FAIL, SCHEMA_CHANGE, define_schema_change
from airflow_kconnect.connectors.jdbc.driver.drivers import Driver, define_driver_keys, driver_of
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl, url_validator
from airflow_kconnect.connectors.jdbc.driver.zones import zone_name, zone_rule
from airflow_kconnect.connectors.jdbc.facts.registry import DATABASES, database_of
from airflow_kconnect.connectors.jdbc.sink.naming import Naming
from airflow_kconnect.connectors.visibility import ShownWith
from airflow_kconnect.validation.connector_keys import KCONNECT

INSERT, UPSERT, UPDATE = "insert", "upsert", "update"
NONE, KAFKA, RECORD_KEY, RECORD_VALUE = "none", "kafka", "record_key", "record_value"

NESTED = "kconnect.jdbc.nested.fields"
REFUSED, AS_JSON, AS_COLUMNS = "fail", "json", "columns"
"""What happens to structs, arrays and maps."""

KAFKA_COLUMNS = ("__connect_topic", "__connect_partition", "__connect_offset")
_EXAMPLES = tuple(database.example for database in DATABASES if not database.is_written_by_jdbc)

_WITHOUT_EFFECT = {
    "batch.size": "rows are written in large batches, and a run commits once per topic-partition and round",
    "max.retries": "a run that fails for a temporary reason ends with exit code 3 and is retried by Airflow",
    "retry.backoff.ms": "see `max.retries`",
    "table.types": "the database itself refuses what cannot be written to",
    "dialect.name": "the database is known from `connection.url`",
    "mssql.use.merge.holdlock": "SQL Server gets no MERGE, but updates and inserts",
    "trim.sensitive.log": "contents of records are never logged",
}
UTC = ("UTC", "Etc/UTC", "GMT", "Z")
"""Zones of `db.timezone` in which nothing needs to be converted."""


@dataclass(frozen=True)
class SinkSettings:
    """What the keys say; pickled into the tasks. Its repr shows neither URL nor password.

    :param insert_mode: ``insert``, ``upsert`` or ``update``. :param pk_mode: as the key. :param pk_fields: maybe none.
    :param whitelist: fields of values to write; empty: all.
    :param schema_changes: what happens to fields that a table lacks: ``evolve``, ``fail`` or ``ignore``.
    :param nested: what happens to structs, arrays and maps: `REFUSED`, `AS_JSON` or `AS_COLUMNS`.
    :param time_zone: of TIMESTAMP columns. :param date_zone: of DATE columns.
    :param instants: fields that hold microseconds (or nanoseconds, see `nanos`) since the epoch.
    :param null_to_default: a null in a field with a default is written as the default.
    :param text_column: the column of values that are strings.
    :param offsets_table: empty: offsets are not stored with the data.
    :param attempts: to connect. :param backoff_s: seconds between them.
    :param driver: of JDBC; None: the database has a Python driver.
    """

    connector: str
    url: JdbcUrl = field(repr=False)
    user: str | None
    password: str | None = field(repr=False)
    insert_mode: str
    pk_mode: str
    pk_fields: tuple[str, ...]
    whitelist: tuple[str, ...]
    deletes: bool
    auto_create: bool
    schema_changes: str
    nested: str
    naming: Naming
    time_zone: str
    date_zone: str
    instants: tuple[str, ...]
    nanos: bool
    null_to_default: bool
    text_column: str
    offsets_table: str
    attempts: int
    backoff_s: float
    driver: Driver | None = None

    @property
    def merges(self) -> bool:
        """Whether rows may meet rows that are there already: an insert alone never does."""
        return self.insert_mode != INSERT or self.deletes


def common_keys() -> ConfigDef:
    """The keys that both sinks have, with Confluent's defaults; those that have no effect here included."""
    high, medium, low = Importance
    config = ConfigDef()
    config.define("connection.url", Type.STRING, importance=high, validator=LambdaValidator(url_validator),
                  documentation=f"JDBC URL of the database: {', '.join(_EXAMPLES)}, or of any other one that "
                  "has a JDBC driver. Without user and password.",
                  example="jdbc:postgresql://host:5432/database")  # fmt: skip
    config.define("connection.user", Type.STRING, None, high, "User of the database.")
    config.define("connection.password", Type.PASSWORD, None, high, "Password of the user.")
    config.define("connection.attempts", Type.INT, 3, low, "How often to try to connect.", validator=Range.at_least(1))
    config.define("connection.backoff.ms", Type.LONG, 10_000, low, "Milliseconds between attempts to connect.",
                  validator=Range.at_least(0))  # fmt: skip
    _define_writing(config)
    _define_tables(config)
    config.define("offsets.table", Type.STRING, "kconnect_offsets", medium,
                  "Table in which the offsets are stored in the transaction of the data: exactly once. Created if it "
                  "is missing. Empty: no such table, at least once.", group=KCONNECT)  # fmt: skip
    for name, type_, default in _IGNORED_KEYS:
        config.define(name, type_, default, low, without_effect=_WITHOUT_EFFECT[name])
    return define_driver_keys(config)


_IGNORED_KEYS: Sequence[tuple[str, Type, Any]] = (
    ("batch.size", Type.INT, 3000),
    ("max.retries", Type.INT, 10),
    ("retry.backoff.ms", Type.INT, 3000),
    ("table.types", Type.LIST, "TABLE"),
    ("dialect.name", Type.STRING, ""),
    ("mssql.use.merge.holdlock", Type.BOOLEAN, True),
    ("trim.sensitive.log", Type.BOOLEAN, False),
)


def _define_writing(config: ConfigDef) -> None:
    high, medium, low = Importance
    config.define("insert.mode", Type.STRING, INSERT, high,
                  "insert: rows are added. upsert: the row with the same primary key is replaced, the last record of a "
                  "key wins. update: existing rows are changed, other records are ignored.",
                  validator=ValidString.in_case_insensitive(INSERT, UPSERT, UPDATE))  # fmt: skip
    config.define("delete.enabled", Type.BOOLEAN, False, medium,
                  "Whether a record without value deletes the row with its key; needs pk.mode=record_key. Otherwise "
                  "such records are skipped and counted as filtered.",
                  recommender=ShownWith("pk.mode", lambda mode: mode == RECORD_KEY))  # fmt: skip
    config.define("pk.mode", Type.STRING, NONE, high,
                  "Where the primary key is from: none, kafka (topic, partition, offset), record_key, record_value.",
                  validator=ValidString.in_case_insensitive(NONE, KAFKA, RECORD_KEY, RECORD_VALUE))  # fmt: skip
    config.define("pk.fields", Type.LIST, "", medium,
                  "Columns of the primary key. kafka: three names, unless given "
                  f"{', '.join(KAFKA_COLUMNS)}. record_key: fields of the key, or the one name of a key that is not a "
                  "struct. record_value: fields of the value. Empty: all fields.",
                  recommender=ShownWith("pk.mode", lambda mode: mode != NONE), example="id")  # fmt: skip
    config.define("fields.whitelist", Type.LIST, "", medium, "Fields of values to write; empty: all.")
    config.define("db.timezone", Type.STRING, "UTC", medium, "Zone of the texts in columns of timestamps.",
                  validator=LambdaValidator(zone_rule))  # fmt: skip
    config.define("date.timezone", Type.STRING, "DB_TIMEZONE", medium,
                  "Zone in which the midnight (UTC) of a date is taken: DB_TIMEZONE or UTC.",
                  validator=ValidString.in_case_insensitive("DB_TIMEZONE", "UTC"))  # fmt: skip
    config.define(
        "timestamp.fields.list",
        Type.LIST,
        "",
        low,
        "Fields that hold timestamps as numbers (or digits) since the epoch; see timestamp.precision.mode.",
    )
    config.define("timestamp.precision.mode", Type.STRING, "microseconds", low, "Unit of timestamp.fields.list.",
                  validator=ValidString.in_case_insensitive("microseconds", "nanoseconds"))  # fmt: skip
    config.define("replace.null.with.default", Type.BOOLEAN, True, low,
                  "Whether a null in a field that has a default is written as the default.")  # fmt: skip
    config.define("string.output.value.column.name", Type.STRING, "record_value", low,
                  "Column of values that are strings.", validator=NonEmptyString())  # fmt: skip


def _define_tables(config: ConfigDef) -> None:
    medium = Importance.MEDIUM
    config.define("table.name.format", Type.STRING, "${topic}", medium,
                  "Name of the table, optionally with its schema before a dot; ${topic} is replaced by the topic.",
                  validator=NonEmptyString())  # fmt: skip
    config.define("auto.create", Type.BOOLEAN, False, medium, "Whether missing tables are created.")
    config.define("auto.evolve", Type.BOOLEAN, False, medium,
                  "Whether missing columns are added, if they may be null or have a default. Nothing is ever dropped, "
                  "renamed, or given another type.")  # fmt: skip
    define_schema_change(
        config,
        "What happens to fields for which a table has no column. evolve: the column is added, as with "
        "`auto.evolve`. fail: the record is refused. ignore: they are left out, and the report names "
        "them. Unset: `auto.evolve` decides between evolve and fail.",
    )
    config.define(NESTED, Type.STRING, REFUSED, medium,
                  "What happens to structs, arrays and maps. fail: the record is refused, as by Confluent's sink. "
                  "json: a column of JSON texts. columns: arrays, structs and maps of the database where it has "
                  "them, else JSON.", validator=ValidString.in_case_insensitive(REFUSED, AS_JSON, AS_COLUMNS),
                  group=KCONNECT)  # fmt: skip


def confluent_keys() -> ConfigDef:
    """The keys of Confluent's sink."""
    text = "always, or never: names are then folded as the database folds names without quotes."
    return common_keys().define(
        "quote.sql.identifiers", Type.STRING, "always", Importance.MEDIUM, text,
        validator=ValidString.in_case_insensitive("always", "never"),
    )  # fmt: skip


def aiven_keys() -> ConfigDef:
    """The keys of Aiven's sink."""
    medium = Importance.MEDIUM
    config = common_keys()
    words = (INSERT, "multi", UPSERT, UPDATE)
    key = config.keys.pop("insert.mode")
    text = f"{key.documentation} multi: the same as insert."
    config.define(key.name, key.type, INSERT, key.importance, text, validator=ValidString.in_case_insensitive(*words))
    config.define("sql.quote.identifiers", Type.BOOLEAN, True, medium,
                  "false: names are folded as the database folds names without quotes.")  # fmt: skip
    config.define("topics.to.tables.mapping", Type.LIST, "", medium,
                  "Tables of single topics, as topic:table; other topics go by table.name.format.",
                  validator=LambdaValidator(_mapping_problem))  # fmt: skip
    config.define(
        "table.name.normalize",
        Type.BOOLEAN,
        False,
        medium,
        "Whether characters of topics other than letters, digits and _ become _ in names of tables.",
    )
    return config


def settings_of(connector: str, values: Mapping[str, Any]) -> SinkSettings:
    """The settings for the typed values of a valid configuration."""
    mode = values["insert.mode"].lower()
    quoted = values.get("quote.sql.identifiers", "always").lower() == "always"
    url = JdbcUrl.parse(values["connection.url"])
    database = database_of(url.subprotocol)
    password: Password | None = values["connection.password"]
    in_utc = values["date.timezone"].upper() == "UTC"
    return SinkSettings(
        connector=connector,
        url=url,
        user=values["connection.user"],
        password=None if password is None else password.value,
        insert_mode=INSERT if mode == "multi" else mode,
        pk_mode=values["pk.mode"].lower(),
        pk_fields=tuple(filter(None, values["pk.fields"])),
        whitelist=tuple(filter(None, values["fields.whitelist"])),
        deletes=values["delete.enabled"],
        auto_create=values["auto.create"],
        schema_changes=_schema_changes(values),
        nested=values[NESTED].lower(),
        naming=Naming(
            format=values["table.name.format"],
            tables=_mapping(values.get("topics.to.tables.mapping", [])),
            normalize=values.get("table.name.normalize", False),
            fold=not (quoted and values.get("sql.quote.identifiers", True)) and database.folds_names,
            mark=database.mark,
        ),
        time_zone=zone_name(values["db.timezone"]),
        date_zone="UTC" if in_utc else zone_name(values["db.timezone"]),
        instants=tuple(filter(None, values["timestamp.fields.list"])),
        nanos=values["timestamp.precision.mode"].lower() == "nanoseconds",
        null_to_default=values["replace.null.with.default"],
        text_column=values["string.output.value.column.name"],
        offsets_table=values["offsets.table"].strip(),
        attempts=values["connection.attempts"],
        backoff_s=values["connection.backoff.ms"] / 1000,
        driver=driver_of(url, values) if database.is_written_by_jdbc else None,
    )


def _schema_changes(values: Mapping[str, Any]) -> str:
    chosen: str | None = values[SCHEMA_CHANGE]
    return chosen.lower() if chosen else EVOLVE if values["auto.evolve"] else FAIL


def _mapping(entries: Sequence[str]) -> dict[str, str]:
    return {topic.strip(): table.strip() for topic, table in map(_pair, filter(None, entries))}


def _mapping_problem(name: str, value: Any) -> str | None:
    wrong = [entry for entry in value or () if entry and not all(part.strip() for part in _pair(entry))]
    return f"{wrong[0]!r} is not of the form topic:table" if wrong else None


def _pair(entry: str) -> tuple[str, str]:
    topic, _, table = entry.partition(":")
    return topic, table
