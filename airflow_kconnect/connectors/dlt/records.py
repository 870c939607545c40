"""From items of dlt to records: topic, key and value by the hints of their resource."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.dlt.reading import Page

if TYPE_CHECKING:
    from dlt.extract.resource import DltResource


@dataclass(frozen=True)
class Content:
    """What a record says.

    :param key: the columns of the primary key; None if there is none.
    :param value: None: the row was deleted.
    """

    topic: str
    key: dict[str, Any] | None
    value: dict[str, Any] | None


class Table:
    """What dlt's hints say about a table.

    :param schema: `DltResource.compute_table_schema`.
    """

    def __init__(self, resource: str, schema: Mapping[str, Any]) -> None:
        columns: Mapping[str, Mapping[str, Any]] = schema["columns"]
        self.name: str = schema["name"]
        self._resource = resource
        self._key = [name for name, hints in columns.items() if hints.get("primary_key")]
        self._delete = next((name for name, hints in columns.items() if hints.get("hard_delete")), None)

    def content(self, prefix: str, item: Any) -> Content:
        """:raises DataError: a part of its key is missing."""
        row = plain(item)
        row = row if isinstance(row, dict) else {"value": row}  # as in dlt
        key = {name: self._part(row, name) for name in self._key} or None
        return Content(f"{prefix}{self.name}", key, None if key and self._is_deleted(row) else row)

    def _part(self, row: Mapping[str, Any], name: str) -> Any:
        if row.get(name) is None:
            text = f"resource {self._resource} has yielded a record without `{name}`, which is in its primary key"
            raise DataError(f"{text}: correct the source, or the key by `dlt.hints.{self._resource}`")
        return row[name]

    def _is_deleted(self, row: Mapping[str, Any]) -> bool:
        """A column that marks deletes is a boolean, or has a value in deleted rows only."""
        mark = None if self._delete is None else row.get(self._delete)
        return mark is not None and mark is not False


def contents(resource: DltResource, page: Page, prefix: str) -> Iterator[Content]:
    """The records of a page. Hints that came with it apply from now on."""
    meta = _merged(resource, page.meta)
    if not (resource.has_dynamic_table_name or resource.has_other_dynamic_hints):
        table = Table(resource.name, resource.compute_table_schema(meta=meta))
        yield from (table.content(prefix, item) for item in page.items)
        return
    for item in page.items:
        yield Table(resource.name, resource.compute_table_schema(item, meta)).content(prefix, item)


def _merged(resource: DltResource, meta: Any) -> Any:
    """As in dlt's extractor: hints that come with data change the resource."""
    from dlt.extract.hints import HintsMeta
    from dlt.extract.items import TableNameMeta

    if not isinstance(meta, HintsMeta):
        return meta
    resource.merge_hints(meta.hints, meta.create_table_variant)
    return TableNameMeta(str(meta.hints["table_name"])) if meta.create_table_variant else meta


def plain(value: Any) -> Any:
    """A value as JSON knows it, in dlt's own forms: decimals and moments are texts, bytes are Base64, NaN is null."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return _plain_items(value)
    if hasattr(value, "tolist"):  # of NumPy
        return plain(value.tolist())
    from dlt.common.json import custom_encode

    return plain(custom_encode(value))


def _plain_items(values: Iterable[Any]) -> list[Any]:
    return [plain(value) for value in values]
