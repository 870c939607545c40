"""The keys of SparkTableSource."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type, ValidString, nullable
from airflow_kconnect.connectors.table.catalogs.keys import define_catalog_keys
from airflow_kconnect.connectors.table.config import CATALOG, below, catalog_conf
from airflow_kconnect.connectors.table.formats.plain.options import forbidden
from airflow_kconnect.connectors.table.formats.registry import CHANGEABLE, DELTA, ICEBERG, WITHOUT_PERMISSION
from airflow_kconnect.connectors.table.packages import define_jars_key
from airflow_kconnect.connectors.table.settings import CatalogSettings
from airflow_kconnect.validation.connector_keys import KCONNECT
from airflow_kconnect.worker_config.keys import TABLE_FORMATS

CHANGES, INCREMENTING, BULK = "changes", "incrementing", "bulk"
OPTIONS = "table.read."
PREFIXES = (CATALOG, OPTIONS)
NOTHING = -1
"""The state before a table has any: states themselves may be any other number."""
DELETIONS, REWRITES = "deletions", "rewrites"
"""Kinds of commits that may be skipped: those that only delete rows, and those that write rows again."""
_SKIPPING: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    ICEBERG: {
        "streaming-skip-delete-snapshots": (DELETIONS,),
        "streaming-skip-overwrite-snapshots": (REWRITES,),
    },
    DELTA: {"skipChangeCommits": (DELETIONS, REWRITES)},
}
"""Options of the formats' streaming readers that mean the same here."""
_BOUNDS = ("kconnect.max.records", "kconnect.max.duration.ms")
_HARMLESS = frozenset({"mergeschema", "multiline", "mode", "inferschema", "recursivefilelookup", "pathglobfilter"})
"""Options of readers of files, in lower case, besides those that readers and writers have."""


@dataclass(frozen=True)
class SourceSettings:
    """What is read, and how.

    :param table: its name, with its catalog; None: `path` says where its files are.
    :param keys: columns that identify a row.
    :param column: whose values only grow (`INCREMENTING`).
    :param options: of Spark's reader. :param skipped: kinds of commits whose changes are not read.
    """

    format: str
    mode: str
    topic: str
    table: str | None = None
    path: str | None = None
    catalog: CatalogSettings | None = None
    keys: tuple[str, ...] = ()
    column: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    skipped: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """What identifies the table in offsets and messages."""
        return self.table or str(self.path)


def source_keys() -> ConfigDef:
    """All keys; those below `PREFIXES` have any names."""
    high, medium = Importance.HIGH, Importance.MEDIUM
    config = (
        ConfigDef()
        .define("table.format", Type.STRING, importance=high, validator=NonEmptyString(), example="iceberg",
                documentation="`iceberg`, `delta` or any other format that Spark reads and the worker allows.")
        .define("table.name", Type.STRING, None, high, "Name of the table, with its namespaces, as in Spark's SQL.",
                validator=nullable(NonEmptyString()), example="shop.orders")
        .define("table.path", Type.STRING, None, medium, "Where the files of a table are that no catalog has.",
                validator=nullable(NonEmptyString()), example="s3://lake/orders")
        .define("table.catalog", Type.STRING, None, medium, "Catalog of Spark with the table. Its settings are "
                "`table.catalog.*`; without any, Spark has to know it.", validator=nullable(NonEmptyString()),
                example="lake")
        .define("mode", Type.STRING, CHANGES, high, "changes: rows that were added, changed and deleted since the last "
                "run; the first one reads the table as it is. incrementing: rows whose value in "
                "`incrementing.column.name` is higher than all that were read. bulk: all rows, each time.",
                validator=ValidString.in_case_insensitive(CHANGES, INCREMENTING, BULK))
        .define("incrementing.column.name", Type.STRING, None, medium, "Column of whole numbers that only grow.",
                validator=nullable(NonEmptyString()), example="id")
        .define("pk.fields", Type.LIST, "", medium, "Columns that identify a row: the record's key, a struct of them. "
                "A deleted row becomes a tombstone. Without keys, only tables whose rows are never changed can be read "
                "by their changes.", example="id")
        .define("topic", Type.STRING, importance=high, validator=NonEmptyString(),
                documentation="Topic of the records.", example="orders")
    )  # fmt: skip
    define_jars_key(config, KCONNECT)
    return define_catalog_keys(config)


def source_problems(props: Mapping[str, str]) -> dict[str, list[str]]:
    """What keys say together that they do not say alone: key -> messages."""
    errors: dict[str, list[str]] = {}
    format_, mode = props.get("table.format", "").lower(), props.get("mode", CHANGES).lower()
    if not props.get("table.name") and not props.get("table.path"):
        errors["table.name"] = ["is missing: name the table, or set `table.path` to where its files are"]
    if props.get("table.name") and props.get("table.path"):
        errors["table.path"] = ["must not be set together with `table.name`"]
    if mode == CHANGES and format_ and format_ not in CHANGEABLE:
        errors["mode"] = [f"is changes, which {format_} does not keep: set it to incrementing or bulk"]
    if mode == INCREMENTING and not props.get("incrementing.column.name"):
        errors["incrementing.column.name"] = ["is missing, and `mode` is incrementing"]
    if props.get("table.path") and format_ == "iceberg" and mode == CHANGES:
        errors["table.path"] = ["is set, and Iceberg's changes are read by a catalog: set `table.name`"]
    for bound in _BOUNDS:
        if bound in props:
            errors[bound] = ["has no effect: what has changed is read up to a state of the table, as a whole"]
    if mode == CHANGES:
        errors |= dict(_wrong_options(format_, below(OPTIONS, props)))
    return errors


def _wrong_options(format_: str, options: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    known = _SKIPPING.get(format_, {})
    for name, text in options.items():
        if name not in known:
            yield f"{OPTIONS}{name}", [f"has no effect in the mode changes, which knows {' and '.join(known)}"]
        elif text.strip().lower() not in ("true", "false"):
            yield f"{OPTIONS}{name}", [f"is {text}: expected true or false"]


def _skipped(format_: str, options: Mapping[str, str]) -> frozenset[str]:
    known = _SKIPPING.get(format_, {})
    chosen = [kinds for name, kinds in known.items() if options.get(name, "").strip().lower() == "true"]
    return frozenset(kind for kinds in chosen for kind in kinds)


def forbidden_reading(props: Mapping[str, str], allowed: Collection[str]) -> dict[str, list[str]]:
    """Formats and options that the worker does not allow: key -> messages.

    :param allowed: formats that the worker names.
    """
    table_format = props.get("table.format", "").strip().lower()
    options = {name: text for name, text in below(OPTIONS, props).items() if name.lower() not in _HARMLESS}
    if table_format in WITHOUT_PERMISSION:
        return {}
    errors: dict[str, list[str]] = {}
    for name, why in forbidden(table_format, options, allowed):
        key = f"{OPTIONS}{name}" if name else "table.format"
        text = f"is not allowed: {why}, and the worker's `{TABLE_FORMATS}` does not name {table_format}: add it there"
        errors.setdefault(key, []).append(text)
    return errors


def settings_of(values: Mapping[str, Any], props: Mapping[str, str]) -> SourceSettings:
    """The settings for the typed values of a valid configuration."""
    catalog = values["table.catalog"]
    name = values["table.name"]
    return SourceSettings(
        format=values["table.format"].lower(),
        mode=values["mode"].lower(),
        topic=values["topic"],
        table=f"{catalog}.{name}" if catalog and name else name,
        path=values["table.path"],
        catalog=CatalogSettings(catalog, catalog_conf(values["table.format"], props)) if catalog else None,
        keys=tuple(values["pk.fields"]),
        column=values["incrementing.column.name"],
        options=below(OPTIONS, props),
        skipped=_skipped(values["table.format"].lower(), below(OPTIONS, props)),
    )
