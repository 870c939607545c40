"""Keys and values that the writer of a source split encodes itself, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.converters.base import BatchEncoder, Written


@dataclass(frozen=True)
class BatchEncoding:
    """Pickled into the tasks.

    :param part: ``key`` or ``value``.
    :param stage: what precedes the text of an error.
    :param encoders: one for each shape.
    :param columns: with the data of each shape; they are left out of the result.
    :param tag: column with the index of each row's shape, null for tombstones; None: there is one shape.
    """

    part: str
    stage: str
    encoders: tuple[BatchEncoder, ...]
    columns: tuple[str, ...]
    tag: str | None = None


def encoded_batch(batch: pa.RecordBatch, encodings: Sequence[BatchEncoding], topic: str | None) -> pa.RecordBatch:
    """The batch with messages instead of data; the text of the first failing stage is a row's ``error``.

    :param topic: of all records; None: the column ``topic`` has them.
    :raises RetriableError: the run cannot continue.
    """
    if not encodings or not batch.num_rows:
        return batch
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    for encoding in encodings:
        topics = columns["topic"] if topic is None else topic
        messages, errors = _encoded(encoding, columns, topics)
        columns[encoding.part] = messages
        if errors.null_count < len(errors):
            told = pc.binary_join_element_wise(encoding.stage, errors, "")
            columns["error"] = pc.coalesce(columns["error"], told) if "error" in columns else told
    return pa.record_batch(columns)


def _encoded(encoding: BatchEncoding, columns: dict[str, pa.Array], topics: pa.Array | str) -> Written:
    """Messages and errors of a part; its columns are taken away."""
    data = [columns.pop(name) for name in encoding.columns]
    if encoding.tag is None:
        return encoding.encoders[0].messages(data[0], topics)
    tags = columns.pop(encoding.tag)
    if tags.null_count == 0 and len(pc.unique(tags)) == 1:
        shape: int = tags[0].as_py()
        return encoding.encoders[shape].messages(data[shape], topics)
    messages, errors = pa.nulls(len(tags), pa.binary()), pa.nulls(len(tags), pa.string())
    for shape, encoder in enumerate(encoding.encoders):
        here = pc.fill_null(pc.equal(tags, shape), False)
        if here.true_count:
            named = topics if isinstance(topics, str) else topics.filter(here)
            some, wrong = encoder.messages(data[shape].filter(here), named)
            messages, errors = pc.replace_with_mask(messages, here, some), pc.replace_with_mask(errors, here, wrong)
    return messages, errors
