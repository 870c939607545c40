"""Rules between the keys of SparkTableSink, warnings about valid ones, and what a worker does not allow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connectors.changes import EVOLVE, SCHEMA_CHANGE
from airflow_kconnect.connectors.table.config import CATALOG, DEAD_LETTER_TABLE, WRITE, below, partition_terms
from airflow_kconnect.connectors.table.formats.plain.options import FILES, forbidden, has_place
from airflow_kconnect.connectors.table.formats.registry import CHANGEABLE, FORMATS, ICEBERG, WITHOUT_PERMISSION
from airflow_kconnect.connectors.table.identifiers import parts_of
from airflow_kconnect.connectors.table.settings import (
    KAFKA,
    NONE,
    RECORD_KEY,
    RECORD_VALUE,
    ROUTE,
    TABLE,
    TOPIC,
    UPSERT,
)
from airflow_kconnect.variables.syntax import has_reference
from airflow_kconnect.worker_config.keys import TABLE_FORMATS

Problem = tuple[str, str]
"""A key, and what is wrong with it."""


def rule_errors(definition: ConfigDef, props: Mapping[str, str]) -> dict[str, list[str]]:
    """What is wrong between keys that are right on their own."""
    values = {value.name: value.value for value in definition.validate(props) if not value.errors}
    errors: dict[str, list[str]] = {}
    for rule in (
        _format_problems,
        _catalog_problems,
        _naming_problems,
        _location_problems,
        _key_problems,
        _change_problems,
    ):
        for key, text in rule(values, props):
            errors.setdefault(key, []).append(text)
    return errors


def rule_warnings(props: Mapping[str, str]) -> list[str]:
    """What a valid configuration may not do as expected."""
    table_format = format_of(props)
    if table_format in FORMATS or has_reference(table_format):
        return []
    return [
        f"`table.format` {table_format}: records are written at least once. A run that is repeated after a failure may"
        f" write some of them again; {', '.join(FORMATS)} are written exactly once"
    ]


def forbidden_formats(props: Mapping[str, str], allowed: list[str]) -> dict[str, list[str]]:
    """What the worker does not allow: formats and options may load code, and reach whatever the job does."""
    table_format = format_of(props)
    if table_format in WITHOUT_PERMISSION or not table_format:
        return {}
    found = forbidden(table_format, below(WRITE, props), allowed)
    hint = f", and the worker's `{TABLE_FORMATS}` does not name {table_format}: add it there"
    return {WRITE + name if name else "table.format": [f"{text}{hint}"] for name, text in found}


def format_of(props: Mapping[str, str]) -> str:
    """The format that a configuration names, as the sink compares it."""
    return props.get("table.format", "").strip().lower()


def _format_problems(values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[Problem]:
    if format_of(props) in CHANGEABLE or not format_of(props) or has_reference(format_of(props)):
        return
    if str(values.get("insert.mode")).lower() == UPSERT:
        yield "insert.mode", f"is upsert, but rows are only appended to {format_of(props)}: set append"
    if values.get("delete.enabled"):
        yield "delete.enabled", f"rows are only appended to {format_of(props)}: leave it out"
    if str(values.get(SCHEMA_CHANGE)).lower() == EVOLVE or values.get("auto.evolve"):
        key = SCHEMA_CHANGE if values.get(SCHEMA_CHANGE) else "auto.evolve"
        yield key, f"tables of {format_of(props)} are not changed: set fail or ignore, and change them yourself"
    has_place_ = has_place(values.get("table.location"), below(WRITE, props))
    if format_of(props) in FILES and not has_place_ and not values.get("table.catalog"):
        yield "table.location", f"is not set: files of {format_of(props)} need a place, such as /data/{TABLE}, or" \
                                " `table.catalog` a catalog that keeps their tables"  # fmt: skip
    if any("(" in term for term in partition_terms(values.get("table.partition.by") or "")):
        yield "table.partition.by", f"has a transform: {format_of(props)} is partitioned by columns"


def _catalog_problems(values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[Problem]:
    catalog, conf = values.get("table.catalog"), below(CATALOG, props)
    if conf and not catalog:
        yield "table.catalog", f"is not set, but `{CATALOG}{next(iter(conf))}` is: name the catalog that it is for"
    if conf and catalog and format_of(props) != ICEBERG and format_of(props):
        key = CATALOG + next(iter(conf))
        yield key, f"only catalogs of {ICEBERG} are configured here: configure the catalog {catalog} in Spark itself"
    if catalog and not re.fullmatch(r"\w+", catalog, re.ASCII):
        yield "table.catalog", f"{catalog!r} is not the name of a catalog: it has letters, digits and _"
    if conf and catalog == "spark_catalog":
        yield "table.catalog", "is spark_catalog, which is Spark's own: choose another name for the one configured here"


def _naming_problems(values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[Problem]:
    given, name_format = props.get("table.name.format"), str(values.get("table.name.format") or "")
    if given:
        try:
            parts_of(given)
        except ValueError as error:
            yield "table.name.format", f"{given!r} is not the name of a table: {error}"
    routes = [key for key in ("table.route.field", "table.route.header") if values.get(key)]
    if len(routes) > 1:
        yield routes[1], f"is set together with `{routes[0]}`: one of them says which table a record goes to"
    if given and routes and ROUTE not in name_format:
        yield (
            "table.name.format",
            f"has no {ROUTE}, so `{routes[0]}` has no effect: put it where the found text is to be",
        )
    if given and not routes and ROUTE in name_format:
        yield "table.name.format", f"has {ROUTE}, but neither `table.route.field` nor `table.route.header` is set"
    if routes and not values.get("table.catalog") and (not given or given.startswith(ROUTE)):
        key = "table.catalog" if not given else "table.name.format"
        yield key, f"records could name tables of any catalog by `{routes[0]}`: set `table.catalog`, or let" \
                   f" `table.name.format` begin with a namespace, such as lake.{ROUTE}"  # fmt: skip


def _location_problems(values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[Problem]:
    location = values.get("table.location")
    if not location or TABLE in location:
        return
    several = "," in props.get("topics", "") or props.get("topics.regex")
    if any(values.get(key) for key in ("table.route.field", "table.route.header", DEAD_LETTER_TABLE)) or (
        several and TOPIC in str(values.get("table.name.format"))
    ):
        yield "table.location", f"is the same for several tables: put {TABLE} where their names are to be"


def _key_problems(values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[Problem]:
    pk_mode, upserts = str(values.get("pk.mode")).lower(), str(values.get("insert.mode")).lower() == UPSERT
    if values.get("delete.enabled") and pk_mode not in (RECORD_KEY, RECORD_VALUE):
        yield "delete.enabled", f"needs `pk.mode` record_key or record_value (it is {pk_mode}): rows are deleted by key"
    if values.get("delete.enabled") and not upserts:
        yield "delete.enabled", "needs `insert.mode` upsert: rows that are only added have no keys"
    if values.get("table.cdc.field") and not values.get("delete.enabled"):
        yield "table.cdc.field", "has no effect without `delete.enabled`: it says which rows are deleted"
    if upserts and pk_mode == NONE:
        yield "pk.mode", "is none, but `insert.mode` upsert needs a key: set record_key, record_value or kafka"
    fields = [name for name in values.get("pk.fields") or () if name]
    if upserts and pk_mode == RECORD_VALUE and not fields:
        yield "pk.fields", "is empty: name the fields of the value that identify a row"
    if pk_mode == KAFKA and len(fields) not in (0, 3):
        yield "pk.fields", f"has {len(fields)} names; with `pk.mode` kafka it is empty or names three columns: topic," \
                           " partition, offset"  # fmt: skip
    if values.get(DEAD_LETTER_TABLE) and props.get("errors.tolerance", "none").lower() != "all":
        yield DEAD_LETTER_TABLE, "has no effect without `errors.tolerance` all: set it, or a bad record ends the run"


def _change_problems(values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[Problem]:
    evolves, changes = props.get("auto.evolve"), str(values.get(SCHEMA_CHANGE) or "").lower()
    if evolves is not None and changes and values.get("auto.evolve") != (changes == EVOLVE):
        yield SCHEMA_CHANGE, f"is {changes}, but `auto.evolve` is {evolves}: leave `auto.evolve` out"
    if values.get("auto.create") is False and values.get("table.partition.by"):
        yield "table.partition.by", "has no effect without `auto.create`: tables that are there keep their partitions"
