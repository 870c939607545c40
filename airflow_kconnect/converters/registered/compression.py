"""Payloads that are compressed with zlib, each on its own: AWS Glue's."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.registered.format import PayloadDecoder
from airflow_kconnect.registry.wire import GLUE, GLUE_ZLIB

if TYPE_CHECKING:
    import pyarrow as pa

_LONGEST = 256 * 2**20
"""A message of a few kilobytes may claim to be gigabytes."""


def deflated(payloads: pa.Array) -> pa.Array:
    """Payloads (BINARY), compressed; nulls stay."""
    import pyarrow as pa

    rows = (None if payload is None else zlib.compress(payload) for payload in payloads.to_pylist())
    return pa.array(rows, payloads.type)


def inflated(payload: bytes) -> bytes:
    """A payload as it was before it was compressed.

    :raises DataError: it is not compressed, is cut off, or has more than 256 MiB.
    """
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(payload, _LONGEST)
    except zlib.error as error:
        raise DataError(f"The payload cannot be decompressed: {error}") from error
    if stream.unconsumed_tail:
        raise DataError(f"The payload has more than {_LONGEST // 2**20} MiB when it is decompressed")
    if not stream.eof:
        raise DataError("The payload cannot be decompressed: it is cut off")
    return plain


def inflated_message(message: bytes) -> bytes:
    """A message with a compressed payload as one without. :raises DataError: as for `inflated`."""
    return GLUE.magic + message[len(GLUE_ZLIB.magic) : GLUE_ZLIB.size] + inflated(message[GLUE_ZLIB.size :])


def inflated_messages(messages: pa.Array) -> pa.Array:
    """Messages (BINARY) without compressed payloads; those that cannot be decompressed stay, and so do nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    compressed = pc.fill_null(pc.starts_with(messages, GLUE_ZLIB.magic), False)
    if not pc.any(compressed).as_py():
        return messages
    plain = []
    for message in messages.filter(compressed).to_pylist():
        try:
            plain.append(inflated_message(message) if GLUE_ZLIB.begins(message) else message)
        except DataError:
            plain.append(message)
    return pc.replace_with_mask(messages, compressed, pa.array(plain, messages.type))


@dataclass(frozen=True)
class Inflating:
    """Decodes compressed payloads; a `PayloadDecoder`.

    :param decoder: of the payloads as they were before.
    """

    decoder: PayloadDecoder

    def decode(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadDecoder.decode`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        plain: list[bytes] = []
        rows: list[int | None] = []
        problems: list[str | None] = []
        for payload in payloads.to_pylist():
            try:
                plain.append(inflated(payload))
            except DataError as error:
                rows.append(None)
                problems.append(str(error))
            else:
                rows.append(len(plain) - 1)
                problems.append(None)
        data, errors = self.decoder.decode(pa.array(plain, pa.binary()))
        if len(plain) == len(payloads):
            return data, errors
        indices = pa.array(rows, pa.int64())
        others = pa.nulls(len(payloads), pa.string()) if errors is None else errors.take(indices)
        return data.take(indices), pc.coalesce(pa.array(problems, pa.string()), others)
