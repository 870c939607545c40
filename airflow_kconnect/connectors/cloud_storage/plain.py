"""Rows for the writer out of payloads that were parsed where they were read, by Arrow alone.

They are the rows of `rendering.rows`. A batch with anything that would differ, or that is wrong, is left to it as a
whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.sink import BatchRenderer, ParsedPart
from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connectors.cloud_storage.columns import FOLDER, MOMENT, PARTS
from airflow_kconnect.connectors.cloud_storage.keys.classes import Format
from airflow_kconnect.connectors.cloud_storage.keys.settings import Settings
from airflow_kconnect.connectors.cloud_storage.rules.layout import Part
from airflow_kconnect.connectors.cloud_storage.rules.partitions import (
    FIRST_MS,
    LAST_MS,
    LONGEST_PATH,
    NOT_A_FOLDER,
    ByFields,
    ByKafka,
    ByTime,
    Extractor,
)
from airflow_kconnect.converters.json.values import string_keys
from airflow_kconnect.converters.types import is_misnamed, logical_name

if TYPE_CHECKING:
    import pyarrow as pa

_INTEGERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)


class PlainRows(BatchRenderer):
    """Pickled into the tasks.

    :param inner: makes texts or structs of values. :param schemas: of the shapes, by their numbers.
    """

    def __init__(
        self, settings: Settings, inner: BatchRenderer, schemas: Sequence[ConnectSchema | None], now_ms: int
    ) -> None:
        self._settings, self._inner, self._schemas, self._now_ms = settings, inner, schemas, now_ms

    def render(self, offsets: pa.Array, key: ParsedPart | None, value: ParsedPart) -> pa.RecordBatch | None:
        import pyarrow as pa

        number, values = value
        if values.null_count or (rows := self._inner.render(offsets, None, value)) is None:
            return None
        columns = {PARTS[Part.VALUES]: _texts_or_rows(rows)}
        match self._settings.partitioning:
            case ByFields() as fields:
                columns[FOLDER] = _folders(fields, self._schemas[number], values)
            case ByTime(extractor=Extractor.WALLCLOCK):
                columns[MOMENT] = pa.repeat(pa.scalar(self._now_ms, pa.int64()), len(offsets))
            case ByTime() as by_time:
                columns[MOMENT] = _moments(by_time, self._schemas[number], values)
        if any(column is None for column in columns.values()):
            return None
        return pa.record_batch({**columns, "kafka_offset": offsets, "error": pa.nulls(len(offsets), pa.string())})


def plain_rows(settings: Settings, shapes: Sequence[Shape], now_ms: int) -> PlainRows | None:
    """The renderer for values of these shapes; None if Catalyst has to render them all."""
    by_record = isinstance(settings.partitioning, ByTime) and settings.partitioning.extractor is Extractor.RECORD
    if [*settings.kinds] != [Part.VALUES] or by_record:
        return None
    schemas = [shape.schema for shape in shapes]
    if not isinstance(settings.partitioning, ByKafka) and None in schemas and not _by_wallclock(settings):
        return None
    inner: BatchRenderer | None = None
    match settings.kinds[Part.VALUES].format:
        case Format.JSON:
            from airflow_kconnect.connectors.directory.plain_json import plain_json

            inner = plain_json(shapes) if all(map(_is_same_json, schemas)) else None
        case Format.PARQUET | Format.AVRO:
            from airflow_kconnect.connectors.directory.plain_parquet import plain_parquet

            inner = plain_parquet(shapes)
    return None if inner is None else PlainRows(settings, inner, schemas, now_ms)


def _by_wallclock(settings: Settings) -> bool:
    return isinstance(settings.partitioning, ByTime) and settings.partitioning.extractor is Extractor.WALLCLOCK


def _is_same_json(schema: ConnectSchema | None) -> bool:
    """Whether the directory sink writes values as JsonConverter does."""
    if schema is None:
        return True
    if logical_name(schema) in (DATE, TIMESTAMP, DECIMAL) or is_misnamed(schema):
        return False
    if schema.type is SchemaType.MAP and not string_keys(schema):
        return False
    inner = [*(member.schema for member in schema.fields), schema.value_schema]
    return all(_is_same_json(each) for each in inner if each is not None)


def _texts_or_rows(rows: pa.RecordBatch) -> pa.Array:
    import pyarrow as pa

    from airflow_kconnect.connectors.directory.json_text import quoted

    if "row" in rows.schema.names:
        return rows.column("row")
    texts = quoted(rows.column("string")) if "string" in rows.schema.names else rows.column("line")
    return texts.cast(pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary())


def _member(schema: ConnectSchema | None, values: pa.Array, name: str) -> tuple[ConnectSchema, pa.Array] | None:
    """A field of each value; None if there is none, or if it is in another one."""
    if schema is None or schema.type is not SchemaType.STRUCT or (field := schema.field(name)) is None:
        return None
    column = values.flatten()[schema.fields.index(field)]
    return None if column.null_count else (field.schema, column)


def _folders(fields: ByFields, schema: ConnectSchema | None, values: pa.Array) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    parts: list[pa.Array | str] = []
    for name in fields.names:
        found = _member(schema, values, name)
        if found is None or logical_name(found[0]) is not None or is_misnamed(found[0]):
            return None
        if found[0].type not in (*_INTEGERS, SchemaType.BOOLEAN, SchemaType.STRING):
            return None
        parts += [fields.delim] if parts else []
        parts += [f"{name}="] if fields.labels else []
        parts.append(found[1].cast(pa.string()))
    paths = pc.binary_join_element_wise(*parts, "")
    different = pc.unique(paths)
    wrong = pc.or_(
        pc.match_substring_regex(different, NOT_A_FOLDER), pc.greater(pc.binary_length(different), LONGEST_PATH)
    )
    return None if pc.any(wrong).as_py() else paths


def _moments(by_time: ByTime, schema: ConnectSchema | None, values: pa.Array) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = _member(schema, values, by_time.field)
    if found is None or found[0].type not in _INTEGERS or logical_name(found[0]) not in (None, TIMESTAMP):
        return None
    if not pa.types.is_integer(found[1].type) or is_misnamed(found[0]):
        return None
    moments = found[1].cast(pa.int64())
    edges = pc.min_max(moments).as_py()
    return moments if edges["min"] is not None and FIRST_MS <= edges["min"] <= edges["max"] <= LAST_MS else None
