"""Rules between the keys of Iceberg's sink, and what else those should know who write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airflow_kconnect.connectors.table.catalogs.keys import catalog_problem
from airflow_kconnect.connectors.table.iceberg.keys import (
    BRANCH,
    CATALOG_KEYS,
    CDC_FIELD,
    DEFAULT_BRANCH,
    DEFAULT_KEYS,
    DEFAULT_PARTITION,
    DYNAMIC,
    HOSTED_DOES,
    ID_COLUMNS,
    KAFKA_KEYS,
    OF_TABLE,
    OPTIONS,
    PARTITION_BY,
    PROPERTIES,
    ROUTE_FIELD,
    ROUTE_REGEX,
    TABLES,
    UPSERT_MODE,
    WRITE_PROPERTIES,
    below,
    catalog_settings,
    of_tables,
    split_partition,
)
from airflow_kconnect.validation.jdbc_parameters import is_refused, refused_in


def iceberg_errors(props: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Key -> messages: what Iceberg's sink refuses too, and what only its Java class can do."""
    errors: dict[str, list[str]] = {}
    for key, text in (*_routing_errors(values), *_branch_errors(props, values), *_key_errors(props, values),
                      *_partition_errors(props, values)):  # fmt: skip
        errors.setdefault(key, []).append(text)
    for key, text in (*catalog_problem(catalog_settings(props, values)), *_jdbc_errors(props)):
        errors.setdefault(key, []).append(text)
    return errors


def iceberg_warnings(props: Mapping[str, str], values: Mapping[str, Any]) -> list[str]:
    """What has no effect here; keys that are ignored as a whole have their warnings by their definition."""
    return [
        *([KAFKA_KEYS] if any(key.startswith("iceberg.kafka.") for key in props) else []),
        *_writing_warnings(props),
        *_table_warnings(props, values),
    ]


def _routing_errors(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    tables: Sequence[str] = values[TABLES] or ()
    if tables and values[DYNAMIC]:
        yield TABLES, f"is set, and so is `{DYNAMIC}`: records name their tables, or the configuration does"
    elif values[DYNAMIC] and not values[ROUTE_FIELD]:
        yield ROUTE_FIELD, f"is needed for `{DYNAMIC}`: the field that has the name of the table"
    elif not values[DYNAMIC] and not tables:
        yield TABLES, f"is missing: name the table, or set `{DYNAMIC}`"
    for table in tables:
        if len(parts := table.split(".")) < 2 or not all(parts) or "`" in table:
            yield TABLES, f"has {table}: write a namespace and a name, such as shop.orders"


def _branch_errors(props: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    branches = {DEFAULT_BRANCH: values[DEFAULT_BRANCH]}
    branches |= {f"{OF_TABLE}{table}.{BRANCH}": keys.get(BRANCH) for table, keys in of_tables(props).items()}
    for key, branch in branches.items():
        if branch not in (None, "", "main"):
            text = f"is {branch}, and records are written to main: a plan is staged before it becomes visible"
            yield key, f"{text}. {HOSTED_DOES} commit to other branches"


def _partition_errors(props: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    terms = {DEFAULT_PARTITION: values[DEFAULT_PARTITION]}
    terms |= {f"{OF_TABLE}{table}.{PARTITION_BY}": keys.get(PARTITION_BY) for table, keys in of_tables(props).items()}
    for key, text in terms.items():
        try:
            split_partition(text)
        except ValueError as error:
            yield key, str(error)


def _key_errors(props: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if values[CDC_FIELD] and not values[UPSERT_MODE]:
        yield CDC_FIELD, f"needs `{UPSERT_MODE}`: rows are deleted by their id columns"
    if not values[UPSERT_MODE] or values[DEFAULT_KEYS]:
        return
    own = of_tables(props)
    tables: Sequence[str] = values[TABLES] or ()
    missing = [table for table in tables if not own.get(table, {}).get(ID_COLUMNS)]
    if values[DYNAMIC] or missing:
        where = f" for {', '.join(missing)}" if missing else ""
        yield UPSERT_MODE, f"is true without columns that identify a row{where}: set `{DEFAULT_KEYS}`"


def _jdbc_errors(props: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """As for hosted connectors: what has a JDBC driver load code or read files."""
    for key, text in props.items():
        if not key.startswith(CATALOG_KEYS):
            continue
        found = list(refused_in(text))
        if key.startswith(f"{CATALOG_KEYS}jdbc.") and is_refused(key.removeprefix(f"{CATALOG_KEYS}jdbc.")):
            found.append(key)
        if found:
            yield key, f"has what can load code or use files in a JDBC driver: {', '.join(found)}; remove it"


def _writing_warnings(props: Mapping[str, str]) -> Iterator[str]:
    for key in below(props, WRITE_PROPERTIES):
        if key not in OPTIONS:
            yield (
                f"`{WRITE_PROPERTIES}{key}` has no effect: Spark takes it from the table; set the property there, or "
                f"`{PROPERTIES}{key}` for tables that are created"
            )


def _table_warnings(props: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[str]:
    tables, own = values[TABLES] or (), of_tables(props)
    for table in own:
        if tables and table not in tables:
            yield f"`{OF_TABLE}{table}.*` has no effect: the table is not in `{TABLES}`"
    if values[ROUTE_FIELD] and not values[DYNAMIC]:
        without = [table for table in tables if ROUTE_REGEX not in own.get(table, {})]
        for table in without:
            yield f"table {table} gets no records: it has no `{OF_TABLE}{table}.{ROUTE_REGEX}`"
    has_keys = values[DEFAULT_KEYS] or any(ID_COLUMNS in keys for keys in own.values())
    if has_keys and not values[UPSERT_MODE]:
        yield (
            f"`{ID_COLUMNS}` has no effect on rows, which are appended, as by Iceberg's own sink; `{UPSERT_MODE}` "
            "replaces those with the same columns"
        )
