"""From items of dlt to records: topic, key and value by the hints of their resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.dlt.reading import Page
from airflow_kconnect.connectors.dlt.schemas import RowWriter
from airflow_kconnect.connectors.dlt.values import plain
from airflow_kconnect.connectors.rows import key_schema
from airflow_kconnect.runs.warnings import Kind, RunWarning

if TYPE_CHECKING:
    from dlt.extract.resource import DltResource


@dataclass(frozen=True)
class Content:
    """What a record says.

    :param key: the columns of the primary key; None if there is none.
    :param value: None: the row was deleted; an error: the record is a bad one.
    :param key_schema: None: schemaless, as with `value_schema`.
    """

    topic: str
    key: dict[str, Any] | None
    value: dict[str, Any] | DataError | None
    key_schema: ConnectSchema | None = None
    value_schema: ConnectSchema | None = None


class Table:
    """What dlt's hints say about a table.

    :param schema: `DltResource.compute_table_schema`. :param value: the schema of rows; None: schemaless.
    """

    def __init__(self, resource: str, schema: Mapping[str, Any], value: ConnectSchema | None) -> None:
        columns: Mapping[str, Mapping[str, Any]] = schema["columns"]
        self.name: str = schema["name"]
        self._resource = resource
        self._key = [name for name, hints in columns.items() if hints.get("primary_key")]
        self._value_schema, self._key_schema = value, key_schema(value, self._key)
        self._writer = None if value is None else RowWriter(resource, columns, value)
        self._delete = next((name for name, hints in columns.items() if hints.get("hard_delete")), None)

    def content(self, prefix: str, item: Any) -> Content:
        """:raises DataError: a part of its key is missing."""
        topic = f"{prefix}{self.name}"
        if self._writer is not None and isinstance(item, Mapping):
            written = self._writer.written(item)
            row: Mapping[str, Any] = item if isinstance(written, DataError) else written
            value: dict[str, Any] | DataError = written
        else:
            found = plain(item)
            row = value = found if isinstance(found, dict) else {"value": found}  # as in dlt
        key = {name: self._part(row, name) for name in self._key} or None
        if key and self._is_deleted(row):
            return Content(topic, key, None, self._key_schema)
        return Content(topic, key, value, self._key_schema, self._value_schema)

    def _part(self, row: Mapping[str, Any], name: str) -> Any:
        if row.get(name) is None:
            text = f"resource {self._resource} has yielded a record without `{name}`, which is in its primary key"
            raise DataError(f"{text}: correct the source, or the key by `dlt.hints.{self._resource}`")
        return row[name]

    def _is_deleted(self, row: Mapping[str, Any]) -> bool:
        """A column that marks deletes is a boolean, or has a value in deleted rows only."""
        mark = None if self._delete is None else row.get(self._delete)
        return mark is not None and mark is not False


def contents(resource: DltResource, page: Page, prefix: str, schema: ConnectSchema | None) -> Iterator[Content]:
    """The records of a page. Hints that came with it apply from now on.

    :param schema: of the resource's rows; None: schemaless.
    """
    meta = _merged(resource, page.meta)
    if not (resource.has_dynamic_table_name or resource.has_other_dynamic_hints):
        table = Table(resource.name, resource.compute_table_schema(meta=meta), schema)
        yield from (table.content(prefix, item) for item in page.items)
        return
    for item in page.items:
        yield Table(resource.name, resource.compute_table_schema(item, meta), None).content(prefix, item)


def disposition_warning(name: str, resource: DltResource) -> RunWarning | None:
    """What a resource does to its table in dlt, and a topic cannot do; None: records are appended, or have keys."""
    hint: Any = resource.write_disposition
    kind = hint.get("disposition") if isinstance(hint, Mapping) else hint
    if kind == "replace":
        text = f"resource {name} replaces its table in dlt (`write_disposition`), so each run writes all of its records"
        return RunWarning(Kind.DOUBLED, f"{text} again: give it a cursor, or another one by `dlt.hints.{name}`")
    if kind == "merge" and not (resource.has_other_dynamic_hints or resource.has_dynamic_table_name):
        columns = resource.compute_table_schema()["columns"].values()
        if not any(hints.get("primary_key") for hints in columns):
            text = f"resource {name} merges rows in dlt (`write_disposition`), and has no primary key: its records have"
            return RunWarning(Kind.CONFIGURATION, f"{text} no keys: set `primary_key` by `dlt.hints.{name}`")
    return None


def _merged(resource: DltResource, meta: Any) -> Any:
    """As in dlt's extractor: hints that come with data change the resource."""
    from dlt.extract.hints import HintsMeta
    from dlt.extract.items import TableNameMeta

    if not isinstance(meta, HintsMeta):
        return meta
    resource.merge_hints(meta.hints, meta.create_table_variant)
    return TableNameMeta(str(meta.hints["table_name"])) if meta.create_table_variant else meta
