"""Decodes messages with schemas of a registry: in batches where they are read, else by an Arrow function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.converters.arrow_functions import arrow_function
from airflow_kconnect.converters.base import UNKNOWN_SHAPE, Decoded, Hints, Let
from airflow_kconnect.converters.registered.compression import inflated_messages
from airflow_kconnect.converters.registered.format import PayloadDecoder
from airflow_kconnect.converters.registered.messages import (
    NEGATIVE_ID,
    KnownMessages,
    selection_problem,
)
from airflow_kconnect.converters.registered.slices import LONGEST
from airflow_kconnect.converters.types import arrow_type, spark_type
from airflow_kconnect.registry.wire import ID, framing_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column


_NEGATIVE = b"\x80"  # the first byte of a negative id, and those after it


@dataclass(frozen=True)
class ShapeParser:
    """Decodes the messages of one shape in a batch; pickled into the tasks.

    :param decoders: by the first bytes of the messages.
    :param inflates: whether messages are decompressed first, as their first bytes do not tell their type otherwise.
    """

    shape: Shape
    decoders: Mapping[bytes, PayloadDecoder]
    inflates: bool = False

    @property
    def type(self) -> pa.DataType:
        """Type of the results."""
        return arrow_type(self.shape.schema)

    def parse(self, messages: pa.Array) -> pa.Array:
        """The data of the messages that have this shape and are correct; null for all others."""
        return self.decode(messages)[0]

    def decode(self, messages: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """The data as of `parse`, and the errors; None if there are none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.inflates:
            messages = inflated_messages(messages)
        rows, data, errors = [], [], []
        for prefix, decoder in self.decoders.items():
            here = pc.fill_null(pc.starts_with(messages, prefix), False)
            count = pc.sum(here).as_py() or 0
            if not count:
                continue
            chosen = messages if count == len(messages) else messages.filter(here)
            framing = framing_of(prefix) or ID
            decoded, wrong = decoder.decode(pc.binary_slice(chosen, framing.size, LONGEST))
            if count == len(messages):
                return decoded, wrong
            rows.append(pc.indices_nonzero(here))
            data.append(decoded)
            errors.append(pa.nulls(count, pa.string()) if wrong is None else wrong)
        if not rows:
            return pa.nulls(len(messages), self.type), None
        indices = _inverted(pa.concat_arrays(rows), len(messages))
        joined = pa.concat_arrays(errors)
        return (
            pa.concat_arrays(data).take(indices),
            None if joined.null_count == len(joined) else joined.take(indices),
        )


def _inverted(rows: pa.Array, size: int) -> pa.Array:
    """For each row of a batch where it is among `rows`; null if it is not."""
    import numpy as np
    import pyarrow as pa

    indices = np.full(size, -1, np.int64)
    indices[rows.to_numpy()] = np.arange(len(rows))
    return pa.array(indices, mask=indices < 0)


def parsers(known: KnownMessages, shapes: Sequence[Shape]) -> dict[int, ShapeParser]:
    """The parser of each shape, by its index."""
    by_shape: dict[int, dict[bytes, PayloadDecoder]] = {index: {} for index in range(len(shapes))}
    for schema in known:
        if schema.shape in shapes and schema.decoder is not None:
            by_shape[shapes.index(schema.shape)][schema.prefix] = schema.decoder
    return {
        index: ShapeParser(shapes[index], decoders, known.compressed)
        for index, decoders in by_shape.items()
        if decoders
    }


def decode(raw: Column, shapes: Sequence[Shape], known: KnownMessages, let: Let, hints: Hints) -> Decoded:
    """Decode messages; those of unknown schemas have the tag `UNKNOWN_SHAPE`.

    Where messages have been decoded in batches, an Arrow function would only cost time, so there is none until a run
    has met a payload that could not be decoded: such messages are unknown ones at first.
    """
    from pyspark.sql import functions as F

    if known.compressed:
        (raw,) = let({"raw": arrow_function(inflated_messages, "binary")(raw)})
    made = parsers(known, shapes)
    here = {index: column for index, column in hints.parsed.items() if index in made}
    again = known.careful or any(index not in here for index in made)
    names = [str(index) for index in made]
    decoded = dict(zip(made, let({n: _decoded(raw, made[int(n)], here) for n in names}), strict=True)) if again else {}
    values, problems = (
        [],
        let({"selection": _selection(raw, known)}) if known.unselectable else [],
    )
    for index, shape in enumerate(shapes):
        candidates = [here[index]] if index in here else []
        if index in decoded:
            candidates.append(decoded[index]["data"])
            problems.append(decoded[index]["error"])
        values.append(F.coalesce(*candidates) if candidates else F.lit(None).cast(spark_type(shape.schema)))
    tag, wrong = _tag(raw, shapes, known), _wrong(raw, known)
    if not again:
        # Not decoded where it was read, for a reason that only an Arrow function tells.
        tag = F.when(tag.isin(list(made)), F.lit(UNKNOWN_SHAPE)).otherwise(tag)
    for index, column in here.items():
        tag = F.when(column.isNotNull(), F.lit(index)).otherwise(tag)
    return Decoded(tag, tuple(values), F.coalesce(wrong, *problems) if problems else wrong)


def _tag(raw: Column, shapes: Sequence[Shape], known: KnownMessages) -> Column:
    """The index of a message's shape, by its first bytes."""
    from pyspark.sql import functions as F

    tag: Column = F.when(raw.isNull(), F.lit(None).cast("int"))
    for schema in known:
        index = shapes.index(schema.shape) if schema.shape in shapes else UNKNOWN_SHAPE
        tag = tag.when(_begins(raw, schema.prefix), F.lit(index))
    return tag.otherwise(F.lit(UNKNOWN_SHAPE))


def _wrong(raw: Column, known: KnownMessages) -> Column:
    """What is wrong with a message whose payload is not looked at."""
    from pyspark.sql import functions as F

    framed = [_begins(raw, framing.magic) & (F.octet_length(raw) >= framing.size) for framing in known.forms]
    has_name = reduce(lambda one, other: one | other, framed)
    problem: Column = F.when(raw.isNotNull() & ~has_name, F.lit(known.unknown))
    if ID in known.forms:
        negative = _begins(raw, ID.magic) & (F.substring(raw, 2, 1) >= F.lit(_NEGATIVE))
        problem = problem.when(negative, F.lit(NEGATIVE_ID))
    for schema in known:
        if schema.problem:
            problem = problem.when(_begins(raw, schema.prefix), F.lit(schema.problem))
    return problem


def _begins(raw: Column, prefix: bytes) -> Column:
    from pyspark.sql import functions as F

    return F.substring(raw, 1, len(prefix)) == F.lit(prefix)


def _decoded(raw: Column, parser: ShapeParser, here: Mapping[int, Column]) -> Column:
    """The result of the Arrow function: a struct of data and error."""
    from pyspark.sql import types as spark

    result = spark.StructType(
        [spark.StructField("data", spark_type(parser.shape.schema)), spark.StructField("error", spark.StringType())]
    )

    def run(messages: pa.Array) -> pa.Array:
        import pyarrow as pa

        data, errors = parser.decode(messages)
        texts = pa.nulls(len(messages), pa.string()) if errors is None else errors
        return pa.StructArray.from_arrays([data, texts], ["data", "error"])

    return arrow_function(run, result)(raw)


def _selection(raw: Column, known: KnownMessages) -> Column:
    """The problems of messages that select no type within their schema."""

    forms = known.forms

    def run(messages: pa.Array) -> pa.Array:
        import pyarrow as pa

        rows = messages.to_pylist()
        problems = (None if message is None else selection_problem(forms, message) for message in rows)
        return pa.array(problems, pa.string())

    return arrow_function(run, "string")(raw)
