"""From Kafka's bytes to a record frame: converters decode, and unknown shapes are detected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.error_cells import MESSAGE, stage_prefix
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.frame import ABSENT, ExpectedObjects, RecordFrame, Union
from airflow_kconnect.converters.base import UNKNOWN_SHAPE, BatchParser, Converter, Hints
from airflow_kconnect.converters.id_header import IdHeader, expect_ids, id_header_of, named
from airflow_kconnect.converters.types import SCHEMAS_MAX
from airflow_kconnect.java_text.json_reading import NOT_JSON
from airflow_kconnect.kafka.headers import Headers
from airflow_kconnect.runtime.conversion.schema_ids import named_column, unknown_column
from airflow_kconnect.runtime.dead_letters import REPLAYED_OFFSET
from airflow_kconnect.runtime.shortcuts import is_overridden

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SHAPES_MAX = 64
_EXPLAINED_BYTES = 65_536
_UNPARSED = "KCONNECT_UNPARSED"
_DECODING, _PARSING = {"decode", "read"}, {"plain_parsers", "batch_parsers", "parser"}


class PartDecoder:
    """Decodes keys or values; knows the shapes seen so far.

    Spark needs to know a column's type beforehand, Connect does not: a run begins with the shapes of some samples. A
    record of another shape ends its split there, its bytes are returned, and the next round knows the shape.
    """

    def __init__(self, part: str, converter: Converter) -> None:
        self._part, self._converter = part, converter
        self._stage = stage_prefix(f"{part.upper()}_CONVERTER", converter.java_name())
        self._by_id = False
        self._shapes: list[Shape] = list(converter.shapes_of([]))

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes seen so far."""
        return tuple(self._shapes)

    @property
    def parsers(self) -> dict[str, BatchParser]:
        """The additional columns of the reader for `decode`, and the parsers that make them from the part's bytes."""
        return self._named(self._converter.batch_parsers(self._shapes))

    @property
    def plain_parsers(self) -> dict[str, BatchParser]:
        """The same for rows that are rendered without Catalyst."""
        if is_overridden(type(self._converter), _DECODING, _PARSING):
            return {}
        return self._named(self._converter.plain_parsers(self._shapes))

    def _named(self, parsers: Mapping[int, BatchParser]) -> dict[str, BatchParser]:
        return {f"{self._part}_parsed_{index}": parser for index, parser in parsers.items()}

    def expecting(self, objects: ExpectedObjects) -> PartDecoder | None:
        """The decoder for such objects, if the converter has a parser for them."""
        converter = self._converter.expecting(objects)
        return None if converter is None else PartDecoder(self._part, converter)

    def parses(self, samples: Sequence[bytes | None]) -> bool:
        """Whether all shapes have parsers, which parse each of some messages: see `decoded_frame`."""
        import pyarrow as pa

        converter, parsers = self._converter, self.parsers
        if not converter.decodes_parsed or is_overridden(type(converter), _DECODING, _PARSING):
            return False
        if not parsers or len(parsers) < len(self._shapes):
            return False
        messages = pa.array([message for message in samples if message is not None], pa.binary())
        found = [parser.parse(messages) for parser in parsers.values()]
        return all(any(each[row].is_valid for each in found) for row in range(len(messages)))

    @property
    def id_headers(self) -> dict[str, IdHeader]:
        """The part, if it has one, with the header that may name its schema."""
        return {self._part: header} if (header := id_header_of(self._converter)) else {}

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the reader that are needed."""
        return frozenset({self._part, *([f"{self._part}_id"] if self._by_id else [])})

    def look_at(self, messages: Iterable[tuple[bytes | None, Headers]]) -> None:
        """Learn from messages as they are in Kafka: their bytes, and all their headers."""
        header = id_header_of(self._converter)
        ids = [(data, header.of(headers) if header else None) for data, headers in messages]
        self.learn((named(data, header_id) for data, header_id in ids), by_id=any(header_id for _, header_id in ids))

    def learn(self, samples: Iterable[bytes | None], *, by_id: bool = False) -> None:
        """Look at messages: the next decoding knows their shapes, or what is wrong with them.

        :param by_id: there are messages that begin with what a header says.
        """
        if by_id and not self._by_id:
            self._by_id = True
            expect_ids(self._converter)
        new = [shape for shape in self._converter.shapes_of(samples) if shape not in self._shapes]
        new = new[: _fitting(new)]
        # A plan has columns for each. The oldest ones are dropped, and learnt again when they reappear.
        newest = [*reversed(new), *reversed(self._shapes)]
        self._shapes = newest[: max(len(new), _fitting(newest))][::-1]

    def decode(self, rows: DataFrame, *, parsed_only: bool = False) -> tuple[DataFrame, Union, Column]:
        """Replace the bytes by one column per shape; returns the rows, the union and the error column.

        :param parsed_only: see `decoded_frame`.
        """
        from pyspark.sql import functions as F

        part = self._part
        shapes = tuple(self._shapes)
        names = tuple(f"{part}_{n}" for n in range(len(shapes)))

        def let(expressions: Mapping[str, Column]) -> list[Column]:
            nonlocal rows
            columns = {f"{part}_let_{name}": expression for name, expression in expressions.items()}
            rows = rows.withColumns(columns) if columns else rows
            return [F.col(name) for name in columns]

        parsed = {n: F.col(name) for n in range(len(shapes)) if (name := f"{part}_parsed_{n}") in rows.columns}
        raw = let({"named": named_column(F.col(part), F.col(f"{part}_id"))})[0] if self._by_id else F.col(part)
        decoded = self._converter.decode(raw, shapes, let, Hints(parsed, complete=parsed_only))
        tag, problem = f"{part}_tag", f"{part}_error"
        columns = dict(zip(names, decoded.columns, strict=True))
        rows = rows.withColumns({**columns, tag: decoded.tag, problem: decoded.error})
        if parsed_only:  # there are no bytes of messages that were parsed
            unparsed = F.when(raw.isNotNull(), F.raise_error(F.lit(_UNPARSED)).cast("string"))
            return rows, Union(shapes, names, tag), F.coalesce(F.concat(F.lit(self._stage), F.col(problem)), unparsed)
        problem_text = F.concat(F.lit(self._stage), _with_message(F.col(problem), raw))
        error = F.coalesce(problem_text, F.when(F.col(tag) == UNKNOWN_SHAPE, unknown_column(part, raw)))
        return rows, Union(shapes, names, tag), error


def _with_message(problem: Column, raw: Column) -> Column:
    """A problem, with a message that is not JSON: Spark's parsers do not say why it is not, see `record_error`."""
    from pyspark.sql import functions as F

    is_asked = problem.endswith(NOT_JSON) & (F.octet_length(raw) <= _EXPLAINED_BYTES)
    return F.when(is_asked, F.concat(problem, F.lit(MESSAGE), F.base64(raw))).otherwise(problem)


def _fitting(shapes: Sequence[Shape]) -> int:
    """How many of the shapes, from the first on, fit into a plan: at least one, whatever its size."""
    totals = accumulate(_size(shape.schema) for shape in shapes[:_SHAPES_MAX])
    return max(1, sum(total <= SCHEMAS_MAX for total in totals))


def _size(schema: ConnectSchema | None) -> int:
    if schema is None:
        return 0
    inner = (*(field.schema for field in schema.fields), schema.key_schema, schema.value_schema)
    return 1 + sum(map(_size, inner))


def decoded_frame(
    rows: DataFrame,
    key: PartDecoder | None,
    value: PartDecoder,
    carried: tuple[str, ...] = (),
    *,
    keeps_key: bool = True,
    parsed_only: bool = False,
) -> RecordFrame:
    """Rows of `sink.reader.read_splits` as a record frame; stages in Connect's order: key, then value.

    :param key: None: it is not used, and cannot be wrong.
    :param carried: other columns that are passed through.
    :param keeps_key: whether the key is used; else only its errors count.
    :param parsed_only: the plan is small, as it has nothing for values that were not parsed where they were read: one
        of them fails the job, see `is_unparsed`.
    """
    from pyspark.sql import functions as F

    errors, key_union = [F.col("error")], ABSENT
    if key is not None:
        rows, key_union, key_error = key.decode(rows)
        errors.append(key_error)
    rows, value_union, value_error = value.decode(rows, parsed_only=parsed_only)
    rows = rows.withColumn("error", F.coalesce(*errors, value_error))
    return RecordFrame(
        rows,
        value=value_union,
        key=key_union if keeps_key else ABSENT,
        timestamp="timestamp" if "timestamp" in rows.columns else None,
        headers="headers" if "headers" in rows.columns else None,
        carried=("kafka_offset", "error", *carried),
        topic="topic" if "topic" in rows.columns else None,
        partition="partition" if "partition" in rows.columns else None,
        replayed_offset=REPLAYED_OFFSET if REPLAYED_OFFSET in rows.columns else None,
    )


def is_unparsed(error: Exception) -> bool:
    """Whether a job has failed because of a value that was not parsed where it was read."""
    return _UNPARSED in str(error)


def unknown_even_then(connector: str, samples: Iterable[tuple[str, bytes]]) -> DataError:
    """The error for records whose shape the converter cannot determine."""
    part, text = next(iter(samples))
    return DataError(f"connector {connector}: a record's {part} cannot be understood: {text[:200]!r}")
