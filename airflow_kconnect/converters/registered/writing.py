"""Writes messages with schemas of a registry: an Arrow function puts the schema's id before encoded payloads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.arrow_functions import arrow_function
from airflow_kconnect.converters.base import Encoded
from airflow_kconnect.converters.registered.compression import deflated
from airflow_kconnect.converters.registered.desk import Assigned, DeskAddress, ask
from airflow_kconnect.converters.registered.format import Format, PayloadEncoder
from airflow_kconnect.converters.registered.slices import LONGEST
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.wire import GUID, framing_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

_NULL = "Invalid value: null used for required value"
_NO_TOPIC = "The record has no topic, so its schema has no subject"


@dataclass
class MessageWriter:
    """Encodes data of one shape; pickled into the tasks.

    :param number: the shape's index at the desk.
    :param own: the schema that corresponds to the shape, and its encoder: the usual ones.
    """

    desk: DeskAddress
    number: int
    shape: Shape
    form: Format
    own: tuple[RegisteredSchema, PayloadEncoder]
    _assigned: dict[str, Assigned] = field(default_factory=dict)
    _heads: dict[bytes, None] = field(default_factory=dict)
    _encoders: dict[RegisteredSchema, PayloadEncoder] = field(default_factory=dict)

    def messages(self, data: pa.Array, topics: pa.Array | str) -> tuple[pa.Array, pa.Array]:
        """The messages (BINARY) and errors (STRING) of a batch; null data are tombstones.

        :param topics: of each record, or of all.
        :raises RetriableError: the run cannot continue; the driver says why.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        optional = self.shape.schema is not None and self.shape.schema.optional
        present = data.is_valid()
        count = pc.sum(present).as_py() or 0
        null = pa.scalar(None, pa.string()) if optional else pa.scalar(_NULL)
        if not count:
            return pa.nulls(len(data), pa.binary()), pa.array([null.as_py()] * len(data), pa.string())
        chosen = data if count == len(data) else data.filter(present)
        named = topics if isinstance(topics, str) or count == len(data) else topics.filter(present)
        written, errors = self._present(chosen, named)
        if count == len(data):
            return written, errors
        indices = pc.if_else(present, pc.subtract(pc.cumulative_sum(present.cast(pa.int64())), 1), None)
        return written.take(indices), pc.if_else(present, errors.take(indices), null)

    def _present(self, data: pa.Array, topics: pa.Array | str) -> tuple[pa.Array, pa.Array]:
        import pyarrow as pa
        import pyarrow.compute as pc

        if isinstance(topics, str):
            return self._of_topic(data, topics)
        distinct = pc.unique(topics).to_pylist()
        if len(distinct) == 1:
            return self._of_topic(data, distinct[0])
        rows, parts = [], []
        for topic in distinct:
            here = pc.is_null(topics) if topic is None else pc.fill_null(pc.equal(topics, topic), False)
            rows.append(pc.indices_nonzero(here))
            parts.append(self._of_topic(data.filter(here), topic))
        order = pc.sort_indices(pa.concat_arrays(rows))
        written, errors = (pa.concat_arrays(list(column)) for column in zip(*parts, strict=True))
        return written.take(order), errors.take(order)

    def _of_topic(self, data: pa.Array, topic: str | None) -> tuple[pa.Array, pa.Array]:
        import pyarrow as pa
        import pyarrow.compute as pc

        if topic is None:
            return pa.nulls(len(data), pa.binary()), pa.array([_NO_TOPIC] * len(data), pa.string())
        if topic not in self._assigned:
            self._assigned[topic] = ask(self.desk, self.number, topic)
        assigned = self._assigned[topic]
        if assigned.name is None or assigned.schema is None:
            return pa.nulls(len(data), pa.binary()), pa.array([assigned.problem] * len(data), pa.string())
        try:
            payloads, errors = self._encoder(assigned.schema).encode(data)
        except DataError as error:
            return pa.nulls(len(data), pa.binary()), pa.array([str(error)] * len(data), pa.string())
        framing = framing_of(assigned.name)
        if framing is GUID:
            self._note_head(assigned.name, payloads)
        elif framing is not None and framing.deflated:
            payloads = deflated(payloads)
        first = pa.scalar(assigned.name, payloads.type)
        written = pc.binary_join_element_wise(first, payloads, pa.scalar(b"", payloads.type))
        return written.cast(pa.binary()), pa.nulls(len(data), pa.string()) if errors is None else errors

    def _note_head(self, name: bytes, payloads: pa.Array) -> None:
        """Note what a header will name the schema by."""
        encoded = next((payload for payload in payloads if payload.is_valid), None)
        if encoded is not None:
            self._heads[name + self.form.selector(encoded.as_py())] = None

    def split(self, messages: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Messages without what names their schemas, and that: it belongs into a header."""
        import pyarrow as pa
        import pyarrow.compute as pc

        payloads, names = pa.nulls(len(messages), pa.binary()), pa.nulls(len(messages), pa.binary())
        for head in self._heads:
            here = pc.fill_null(pc.starts_with(messages, head), False)
            payloads = pc.if_else(here, pc.binary_slice(messages, len(head), LONGEST), payloads)
            names = pc.if_else(here, pa.scalar(head, pa.binary()), names)
        return payloads, names

    def _encoder(self, schema: RegisteredSchema) -> PayloadEncoder:
        """:raises DataError: data of the shape cannot be written with the schema."""
        own, encoder = self.own
        if (schema.text, schema.references) == (own.text, own.references):
            return encoder
        if schema not in self._encoders:
            self._encoders[schema] = self.form.encoder(schema, self.shape)
        return self._encoders[schema]


def encoded(writer: MessageWriter, column: Column, topic: Column | str, *, in_header: bool = False) -> Encoded:
    """The messages of a column and their errors, by an Arrow function.

    :param in_header: what names the schema is apart.
    """
    import pyarrow as pa

    constant = topic if isinstance(topic, str) else ""

    def run(data: pa.Array, *topics: pa.Array) -> pa.Array:
        written, errors = writer.messages(data, topics[0] if topics else constant)
        if not in_header:
            return pa.StructArray.from_arrays([written, errors], ["message", "error"])
        payloads, names = writer.split(written)
        return pa.StructArray.from_arrays([payloads, errors, names], ["message", "error", "id"])

    made = arrow_function(run, "message binary, error string" + (", id binary" if in_header else ""))
    result = made(column) if isinstance(topic, str) else made(column, topic)
    return Encoded(result["message"], result["error"], result["id"] if in_header else None)


def refused(column: Column, problem: str) -> Encoded:
    """Errors instead of schemaless data (VARIANT); null data are tombstones."""
    from pyspark.sql import functions as F

    present = F.when(~F.is_variant_null(column), F.lit(problem))
    return Encoded(F.lit(None).cast("binary"), present)
