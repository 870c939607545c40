"""The keys of SparkTableSink, as settings. What the JDBC sinks have too has its names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Type,
    ValidString,
    nullable,
)
from airflow_kconnect.connectors.changes import EVOLVE, FAIL, IGNORE, SCHEMA_CHANGE, define_schema_change
from airflow_kconnect.connectors.table.catalogs.keys import define_catalog_keys
from airflow_kconnect.connectors.table.packages import define_jars_key
from airflow_kconnect.connectors.table.settings import (
    ADD,
    APPEND,
    KAFKA,
    KINDS,
    METADATA,
    NONE,
    OPTIONAL,
    RECORD_KEY,
    RECORD_VALUE,
    SCHEMALESS,
    UPSERT,
    WIDEN,
    CatalogSettings,
    Routing,
    TableSettings,
)
from airflow_kconnect.connectors.visibility import ShownWith
from airflow_kconnect.validation.connector_keys import KCONNECT

CATALOG, PROPERTIES, WRITE = "table.catalog.", "table.properties.", "table.write."
PREFIXES: tuple[str, ...] = (CATALOG, PROPERTIES, WRITE)
"""Of keys whose names the catalog and the format know."""
DEAD_LETTER_TABLE = "errors.deadletterqueue.table.enable"

_INSERT = "insert"
_TABLES, _ROWS, _COLUMNS = "Tables", "Rows", "Columns"
_CHANGES = {
    ADD: "fields for which a table has no column",
    WIDEN: "values that need a wider type than their column has, such as a LONG for an INT",
    OPTIONAL: "records that lack a column which must not be null",
}


def table_keys() -> ConfigDef:
    """All keys; those below `PREFIXES` have any names."""
    config = ConfigDef()
    _define_tables(config)
    _define_rows(config)
    _define_columns(config)
    return define_catalog_keys(config)


def _define_tables(config: ConfigDef) -> None:
    high, medium, low = Importance
    config.define("table.format", Type.STRING, importance=high, validator=NonEmptyString(), group=_TABLES,
                  documentation="`iceberg` or `delta`: exactly once. Or any other format of Spark, such as `parquet`, "
                  "that the worker allows: rows are only appended, at least once.", example="iceberg")  # fmt: skip
    config.define("table.catalog", Type.STRING, None, high,
                  "Catalog of Spark with the tables. Its settings are `table.catalog.*`; without any, Spark has to "
                  "know it. Unset: `table.name.format` may begin with one.", validator=nullable(NonEmptyString()),
                  group=_TABLES, example="lake")  # fmt: skip
    config.define("table.name.format", Type.STRING, "${topic}", high,
                  "Name of the table, after its namespaces and dots. ${topic} is replaced by the topic, ${route} by "
                  "what `table.route.field` or `table.route.header` finds in the record. A part in backticks may have "
                  "dots.", validator=NonEmptyString(), group=_TABLES, example="shop.${topic}")  # fmt: skip
    config.define("table.route.field", Type.STRING, None, medium,
                  "Field of the value, with dots if it is nested, that says which table a record goes to.",
                  validator=nullable(NonEmptyString()), group=_TABLES)  # fmt: skip
    config.define("table.route.header", Type.STRING, None, medium,
                  "Header that says which table a record goes to.",
                  validator=nullable(NonEmptyString()), group=_TABLES)  # fmt: skip
    config.define("auto.create", Type.BOOLEAN, False, high, "Whether missing tables are created, with their "
                  "namespaces.", group=_TABLES)  # fmt: skip
    config.define("table.partition.by", Type.STRING, None, medium,
                  "How tables that are created are partitioned: columns and transforms, comma-separated.",
                  group=_TABLES, example="days(created), bucket(16, id)")  # fmt: skip
    config.define("table.location", Type.STRING, None, low,
                  "Where tables that are created have their files; ${table} is replaced by the table's name, without "
                  "its namespaces. Unset: where the catalog says.", group=_TABLES,
                  example="s3://lake/${table}")  # fmt: skip
    define_jars_key(config, _TABLES)


def _define_rows(config: ConfigDef) -> None:
    high, medium, _ = Importance
    config.define("insert.mode", Type.STRING, _INSERT, high,
                  "insert (or append): rows are added. upsert: the row with the same key is replaced, the last record "
                  "of a key wins.", validator=ValidString.in_case_insensitive(_INSERT, APPEND, UPSERT),
                  group=_ROWS)  # fmt: skip
    config.define("pk.mode", Type.STRING, NONE, high,
                  "Where the key of a row is from: none, kafka (topic, partition, offset), record_key, record_value.",
                  validator=ValidString.in_case_insensitive(NONE, KAFKA, RECORD_KEY, RECORD_VALUE),
                  group=_ROWS)  # fmt: skip
    config.define("pk.fields", Type.LIST, "", medium,
                  "Columns of the key. record_key: fields of the record's key, or the one name of a key that is not a "
                  "struct; empty: all its fields. record_value: fields of the value. kafka: three names, unless given "
                  f"{', '.join(METADATA[part] for part in ('topic', 'partition', 'offset'))}.",
                  group=_ROWS, recommender=ShownWith("pk.mode", lambda mode: mode != NONE), example="id")  # fmt: skip
    config.define("delete.enabled", Type.BOOLEAN, False, medium,
                  "Whether rows are deleted: by a record without value if pk.mode is record_key, by a deletion of "
                  "Debezium, and by table.cdc.field. Otherwise records without value are skipped, and counted as "
                  "filtered.",
                  group=_ROWS, recommender=ShownWith("pk.mode", lambda mode: mode.startswith("record_")))  # fmt: skip
    config.define("table.cdc.field", Type.STRING, None, medium,
                  "Field of the value, with dots if it is nested, that says what has happened to the row. A text that "
                  "begins with D, such as delete or Debezium's d, deletes it; all others write it.",
                  validator=nullable(NonEmptyString()), group=_ROWS, example="_cdc.op")  # fmt: skip
    config.define(DEAD_LETTER_TABLE, Type.BOOLEAN, False, medium,
                  "Whether bad records become rows of a table next to the one that they were for, named with `__dlq` "
                  "at its end, in the plan of the good ones; needs errors.tolerance=all.", group=_ROWS)  # fmt: skip


def _define_columns(config: ConfigDef) -> None:
    medium, low = Importance.MEDIUM, Importance.LOW
    config.define("fields.whitelist", Type.LIST, "", medium, "Fields of values to write; empty: all.",
                  group=_COLUMNS)  # fmt: skip
    config.define("table.metadata.columns", Type.LIST, "", medium,
                  "What of a record, besides its value, has a column: some of "
                  f"{', '.join(METADATA)}, each with a name of its own after a colon, as in offset:kafka_offset.",
                  validator=LambdaValidator(_metadata_problem), group=_COLUMNS)  # fmt: skip
    config.define("table.schemaless.values", Type.STRING, "columns", medium,
                  "What happens to values without a schema. columns: each member has a column. json: the value is "
                  "a JSON text in one column. variant: a VARIANT, where the format has it. fail: it is refused.",
                  validator=ValidString.in_case_insensitive(*SCHEMALESS), group=_COLUMNS)  # fmt: skip
    config.define("string.output.value.column.name", Type.STRING, "record_value", low,
                  "Column of values that have no fields.", validator=NonEmptyString(), group=_COLUMNS)  # fmt: skip
    config.define("auto.evolve", Type.BOOLEAN, False, medium,
                  "Whether tables get columns for new fields, wider types and optional columns where records need "
                  "them. Nothing is ever dropped or renamed.", group=_COLUMNS)  # fmt: skip
    define_schema_change(
        config,
        "What happens to records that do not fit into the columns. evolve: the table is changed, as with "
        "`auto.evolve`. fail: the record is refused. ignore: fields without a column are left out, and the report "
        "names them. Unset: `auto.evolve` decides between evolve and fail.",
    )
    for kind, what in _CHANGES.items():
        words = (EVOLVE, FAIL, IGNORE) if kind == ADD else (EVOLVE, FAIL)
        config.define(f"{SCHEMA_CHANGE}.{kind}", Type.STRING, None, low, f"The same for {what}: {', '.join(words)}.",
                      validator=nullable(ValidString.in_case_insensitive(*words)), group=KCONNECT)  # fmt: skip


def settings_of(connector: str, values: Mapping[str, Any], props: Mapping[str, str]) -> TableSettings:
    """The settings for the typed values of a valid configuration."""
    catalog = values["table.catalog"]
    mode = values["insert.mode"].lower()
    pk_mode = values["pk.mode"].lower()
    metadata = metadata_of(values["table.metadata.columns"])
    keys = tuple(filter(None, values["pk.fields"]))
    if pk_mode == KAFKA:
        keys = keys or tuple(METADATA[part] for part in _COORDINATES)
        metadata |= dict(zip(_COORDINATES, keys, strict=True))
    return TableSettings(
        connector=connector,
        format=values["table.format"].strip().lower(),
        catalog=None if catalog is None else CatalogSettings(catalog, catalog_conf(values["table.format"], props)),
        routing=Routing(
            values["table.name.format"],
            values["table.route.field"],
            values["table.route.header"],
            prefix=() if catalog is None else (catalog,),
        ),
        mode=UPSERT if mode == UPSERT else APPEND,
        pk_mode=pk_mode,
        keys=keys,
        deletes=values["delete.enabled"],
        cdc_field=values["table.cdc.field"],
        creates=values["auto.create"],
        evolution=_evolution(values),
        partition_by=partition_terms(values["table.partition.by"] or ""),
        location=values["table.location"],
        properties=below(PROPERTIES, props),
        write_options=below(WRITE, props),
        metadata=metadata,
        whitelist=tuple(filter(None, values["fields.whitelist"])),
        schemaless=values["table.schemaless.values"].lower(),
        value_column=values["string.output.value.column.name"],
        dead_letter_table=values[DEAD_LETTER_TABLE],
    )


_COORDINATES = ("topic", "partition", "offset")


def below(prefix: str, props: Mapping[str, str]) -> dict[str, str]:
    """The keys below a prefix, without it; those that are defined are left out."""
    own = table_keys().keys
    return {key.removeprefix(prefix): text for key, text in props.items() if key.startswith(prefix) and key not in own}


def partition_terms(text: str) -> tuple[str, ...]:
    """Columns and transforms, split at the commas outside of parentheses."""
    return tuple(filter(None, map(str.strip, re.split(r",(?![^()]*\))", text))))


def metadata_of(entries: list[str]) -> dict[str, str]:
    """Part of a record -> column, for the entries of `table.metadata.columns`."""
    pairs = (entry.partition(":") for entry in entries if entry)
    return {part.strip(): name.strip() or METADATA[part.strip()] for part, _, name in pairs}


def _metadata_problem(name: str, entries: list[str] | None) -> str | None:
    wrong = [entry for entry in entries or () if entry and entry.partition(":")[0].strip() not in METADATA]
    return f"{wrong[0]!r} is not one of {', '.join(METADATA)}, with a colon and a name or without" if wrong else None


_CLASSES = {"iceberg": "org.apache.iceberg.spark.SparkCatalog"}
"""Of catalogs that a configuration may describe."""


def catalog_conf(table_format: str, props: Mapping[str, str]) -> dict[str, str]:
    """What a configuration says of the catalog of tables of a format, with its class."""
    given = below(CATALOG, props)
    class_name = _CLASSES.get(table_format.strip().lower())
    return {"": class_name, **given} if given and class_name else {}


def _evolution(values: Mapping[str, Any]) -> dict[str, str]:
    every = (values[SCHEMA_CHANGE] or (EVOLVE if values["auto.evolve"] else FAIL)).lower()
    own = {kind: values[f"{SCHEMA_CHANGE}.{kind}"] for kind in KINDS}
    # Only a field can be left out: what does not fit into its column otherwise is refused.
    others = FAIL if every == IGNORE else every
    return {kind: (own[kind] or (every if kind == ADD else others)).lower() for kind in KINDS}
