"""The keys of Apache Iceberg's sink for Kafka Connect, and what they mean for a table sink; pure rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type
from airflow_kconnect.connectors.table.catalogs.keys import SPARK_CATALOG, TYPES, define_catalog_keys
from airflow_kconnect.connectors.table.formats.registry import ICEBERG
from airflow_kconnect.connectors.table.packages import define_jars_key
from airflow_kconnect.connectors.table.settings import (
    APPEND,
    NONE,
    RECORD_VALUE,
    UPSERT,
    CatalogSettings,
    OwnSettings,
    Routing,
    TableSettings,
)
from airflow_kconnect.hosting.keys import HOSTED
from airflow_kconnect.validation.connector_keys import KCONNECT

CATALOG = "iceberg.catalog"
CATALOG_KEYS, HADOOP_KEYS = "iceberg.catalog.", "iceberg.hadoop."
CONF_DIR = "iceberg.hadoop-conf-dir"
TABLES, DYNAMIC, ROUTE_FIELD = "iceberg.tables", "iceberg.tables.dynamic-enabled", "iceberg.tables.route-field"
DEFAULT_KEYS, DEFAULT_PARTITION = "iceberg.tables.default-id-columns", "iceberg.tables.default-partition-by"
DEFAULT_BRANCH = "iceberg.tables.default-commit-branch"
CREATE, EVOLVE = "iceberg.tables.auto-create-enabled", "iceberg.tables.evolve-schema-enabled"
OPTIONAL, ANY_CASE = "iceberg.tables.schema-force-optional", "iceberg.tables.schema-case-insensitive"
UPSERT_MODE, CDC_FIELD = "iceberg.tables.upsert-mode-enabled", "iceberg.tables.cdc-field"
PROPERTIES, WRITE_PROPERTIES = "iceberg.tables.auto-create-props.", "iceberg.tables.write-props."
OF_TABLE = "iceberg.table."
ID_COLUMNS, PARTITION_BY, ROUTE_REGEX, BRANCH = "id-columns", "partition-by", "route-regex", "commit-branch"
_OF_TABLE = re.compile(rf"{re.escape(OF_TABLE)}(.+)\.({ID_COLUMNS}|{PARTITION_BY}|{ROUTE_REGEX}|{BRANCH})")
PREFIXES: tuple[str, ...] = (CATALOG_KEYS, HADOOP_KEYS, PROPERTIES, WRITE_PROPERTIES, OF_TABLE, "iceberg.kafka.")

_NO_COORDINATOR = "there is no coordinator and no control topic: a run's driver commits, and positions are the group's"
_IGNORED = (
    ("iceberg.control.topic", Type.STRING, "control-iceberg", _NO_COORDINATOR),
    ("iceberg.control.group-id-prefix", Type.STRING, "cg-control-", _NO_COORDINATOR),
    ("iceberg.control.commit.interval-ms", Type.INT, 300_000, "a run commits when it has read a plan"),
    ("iceberg.control.commit.timeout-ms", Type.INT, 30_000, "no tasks are waited for: a plan is written as a whole"),
    ("iceberg.control.commit.threads", Type.INT, None, _NO_COORDINATOR),
    ("iceberg.control.commit.max-consecutive-failures", Type.INT, 1, "a commit that fails ends the run, for a retry"),
    ("iceberg.coordinator.transactional.prefix", Type.STRING, "", _NO_COORDINATOR),
    ("iceberg.coordinator.transactional.suffix", Type.STRING, None, _NO_COORDINATOR),
    ("iceberg.coordinator-executor-keep-alive-timeout-ms", Type.LONG, None, _NO_COORDINATOR),
    ("iceberg.connect.group-id", Type.STRING, None, "it names the coordinator; see `consumer.override.group.id`"),
)
KAFKA_KEYS = f"`iceberg.kafka.*` has no effect: {_NO_COORDINATOR}"

_CATALOG_KEYS = (
    ("type", Type.STRING, f"{', '.join(TYPES)}; others by `iceberg.catalog.catalog-impl`."),
    ("catalog-impl", Type.STRING, "Class of the catalog, in place of a type."),
    ("uri", Type.STRING, "Where the catalog is: an address of REST, Nessie or Hive, or a JDBC URL."),
    ("warehouse", Type.STRING, "Where tables that are created have their files, or what the catalog calls it."),
    ("io-impl", Type.STRING, "Class that reads and writes files, such as org.apache.iceberg.aws.s3.S3FileIO."),
    ("credential", Type.PASSWORD, "Of REST with OAuth2: `client_id:client_secret`."),
    ("token", Type.PASSWORD, "Of REST with OAuth2, or a bearer token."),
)
"""Those that most catalogs have. All others below the prefix reach Iceberg too."""

# What Spark's writer can be told besides the properties of a table.
OPTIONS = {
    "write.format.default": "write-format",
    "write.target-file-size-bytes": "target-file-size-bytes",
    "write.distribution-mode": "distribution-mode",
    **{f"write.{name}.compression-{what}": f"compression-{what}" for name in ("parquet", "orc", "avro")
       for what in ("codec", "level")},
}  # fmt: skip
_TRANSFORM = re.compile(r"(\w+)\((.+)\)")
_OF_TIME, _WITH_NUMBER = ("years", "months", "days", "hours"), ("bucket", "truncate")
_COMMAS = re.compile(r",(?![^()]*\))")
HOSTED_DOES = f"`{HOSTED}=true` runs the Java class, which can"


def iceberg_config() -> ConfigDef:
    """The keys, with Iceberg's defaults; those that have no effect here included."""
    high, medium, low = Importance
    config = ConfigDef()
    config.define(TABLES, Type.LIST, None, high, "The table to write to, such as `shop.orders`. Of several each gets "
                  f"all records, unless there is `{ROUTE_FIELD}`.", example="shop.orders")  # fmt: skip
    config.define(CATALOG, Type.STRING, "iceberg", medium, "Name of the catalog. Without `iceberg.catalog.*` it is one "
                  "that Spark is configured with.", validator=NonEmptyString())  # fmt: skip
    config.define(DYNAMIC, Type.BOOLEAN, False, medium,
                  f"Whether the value of `{ROUTE_FIELD}` is the name of the table.")  # fmt: skip
    config.define(ROUTE_FIELD, Type.STRING, None, medium, "Field of the value by which records find their tables, such "
                  "as `meta.table`.")  # fmt: skip
    config.define(DEFAULT_KEYS, Type.STRING, None, medium,
                  f"Columns that identify a row: those of `{UPSERT_MODE}`.")  # fmt: skip
    config.define(DEFAULT_PARTITION, Type.STRING, None, medium,
                  "What tables that are created are partitioned by, such as `days(ts), bucket(id, 16)`.")  # fmt: skip
    config.define(DEFAULT_BRANCH, Type.STRING, None, medium, f"Branch of tables. Only `main`: {HOSTED_DOES} others.")
    config.define(CREATE, Type.BOOLEAN, False, medium, "Whether missing tables, and their namespaces, are created.")
    config.define(EVOLVE, Type.BOOLEAN, False, medium, "Whether tables get columns that they lack, wider types, and "
                  "optional columns. Otherwise fields without a column are left out.")  # fmt: skip
    config.define(OPTIONAL, Type.BOOLEAN, False, medium, "Whether all columns are created optional.")
    config.define(ANY_CASE, Type.BOOLEAN, False, medium, "Whether fields find their columns in any case.")
    config.define(CONF_DIR, Type.STRING, None, medium, "Folder with `core-site.xml`, `hdfs-site.xml` and "
                  "`hive-site.xml`, on the machine of the Spark driver. `iceberg.hadoop.*` wins.")  # fmt: skip
    config.define(UPSERT_MODE, Type.BOOLEAN, False, medium, "Whether a record replaces the row with the same "
                  f"`{ID_COLUMNS}`. Apache's sink only appends; the key is that of its predecessor.",
                  group=KCONNECT)  # fmt: skip
    config.define(CDC_FIELD, Type.STRING, None, medium, "Field of the value, such as `_cdc.op`, that says what has "
                  f"happened to a row: a text that begins with D deletes it. Needs `{UPSERT_MODE}`. The key is that of "
                  "the predecessor of Apache's sink.", group=KCONNECT)  # fmt: skip
    for name, type_, what in _CATALOG_KEYS:
        config.define(f"{CATALOG_KEYS}{name}", type_, None, high, what)
    for name, type_, default, why in _IGNORED:
        config.define(name, type_, default, low, without_effect=why)
    define_jars_key(config, KCONNECT)
    return define_catalog_keys(config)


def table_settings(props: Mapping[str, str], values: Mapping[str, Any]) -> TableSettings:
    """What the keys say. :param values: parsed. :raises ConfigError: see `iceberg_errors`, which is called before."""
    evolves = {"add": "evolve", "widen": "evolve", "optional": "evolve"}
    return TableSettings(
        connector=props["name"],
        format=ICEBERG,
        catalog=catalog_settings(props, values),
        routing=_routing(props, values),
        mode=UPSERT if values[UPSERT_MODE] else APPEND,
        pk_mode=RECORD_VALUE if values[UPSERT_MODE] else NONE,
        keys=split_columns(values[DEFAULT_KEYS]) if values[UPSERT_MODE] else (),
        deletes=values[CDC_FIELD] is not None,
        cdc_field=values[CDC_FIELD],
        creates=values[CREATE],
        creates_key=CREATE,
        evolution=evolves if values[EVOLVE] else {"add": "ignore", "widen": "fail", "optional": "fail"},
        partition_by=split_partition(values[DEFAULT_PARTITION]),
        properties=below(props, PROPERTIES),
        write_options={OPTIONS[key]: text for key, text in below(props, WRITE_PROPERTIES).items() if key in OPTIONS},
        own={table: _own(keys, upserts=values[UPSERT_MODE]) for table, keys in of_tables(props).items()},
        schemaless="columns",
        optional=values[OPTIONAL],
        case_insensitive=values[ANY_CASE],
    )


def catalog_settings(props: Mapping[str, str], values: Mapping[str, Any]) -> CatalogSettings:
    """The catalog of the run; without settings Spark has it."""
    own = below(props, CATALOG_KEYS)
    hadoop = {f"hadoop.{key}": text for key, text in below(props, HADOOP_KEYS).items()}
    conf = {"": SPARK_CATALOG, **hadoop, **own} if own else {}
    return CatalogSettings(values[CATALOG], conf, values[CONF_DIR], key=CATALOG)


def split_columns(text: str | None) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def split_partition(text: str | None) -> tuple[str, ...]:
    """Columns and transforms between commas, but not those in parentheses; transforms as Spark writes them.

    :raises ValueError: there is no such transform.
    """
    return tuple(_term(part.strip()) for part in _COMMAS.split(text or "") if part.strip())


def _term(text: str) -> str:
    match = _TRANSFORM.fullmatch(text)
    if match is None:
        return text
    name, arguments = match[1], [argument.strip() for argument in match[2].split(",")]
    if name in _WITH_NUMBER and len(arguments) == 2 and arguments[1].isdecimal():
        return f"{name}({arguments[1]}, {arguments[0]})"
    if (plural := f"{name.removesuffix('s')}s") in _OF_TIME and len(arguments) == 1:
        return f"{plural}({arguments[0]})"
    times = ", ".join(f"{each}(column)" for each in _OF_TIME)
    raise ValueError(f"has {text}, expected a column, {times}, bucket(column, 16) or truncate(column, 16)")


def _routing(props: Mapping[str, str], values: Mapping[str, Any]) -> Routing:
    prefix = (values[CATALOG],)
    if values[DYNAMIC]:
        return Routing(value_field=values[ROUTE_FIELD], prefix=prefix, lower_case=True)
    if values[ROUTE_FIELD] is None and len(values[TABLES]) == 1:
        return Routing(values[TABLES][0], prefix=prefix)
    if values[ROUTE_FIELD] is None:
        return Routing(patterns=dict.fromkeys(values[TABLES], ""), prefix=prefix)
    own = of_tables(props)
    regexes = {table: own.get(table, {}).get(ROUTE_REGEX) for table in values[TABLES]}
    patterns = {table: regex for table, regex in regexes.items() if regex is not None}
    return Routing(value_field=values[ROUTE_FIELD], patterns=patterns, prefix=prefix)


def _own(keys: Mapping[str, str], *, upserts: bool) -> OwnSettings:
    columns = split_columns(keys[ID_COLUMNS]) if ID_COLUMNS in keys and upserts else None
    return OwnSettings(columns, split_partition(keys[PARTITION_BY]) if PARTITION_BY in keys else None)


def of_tables(props: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Table -> what is said of it alone."""
    found: dict[str, dict[str, str]] = {}
    for key, text in props.items():
        if match := _OF_TABLE.fullmatch(key):
            found.setdefault(match[1], {})[match[2]] = text
    return found


def below(props: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): text for key, text in props.items() if key.startswith(prefix)}
