"""Keys and values that the writer of a source split encodes itself, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.converters.base import BatchEncoder


@dataclass(frozen=True)
class BatchEncoding:
    """Pickled into the tasks.

    :param part: ``key`` or ``value``: the column with the data.
    :param stage: what precedes the text of an error.
    """

    part: str
    stage: str
    encoder: BatchEncoder


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
        messages, errors = encoding.encoder.messages(columns[encoding.part], topics)
        columns[encoding.part] = messages
        if errors.null_count < len(errors):
            told = pc.binary_join_element_wise(encoding.stage, errors, "")
            columns["error"] = pc.coalesce(columns["error"], told) if "error" in columns else told
    return pa.record_batch(columns)
