"""Decodes and encodes batches of Protobuf messages of one type, in Spark tasks; pickled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import DataError, in_one_line
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.protobuf.pool import message_class, message_type
from airflow_kconnect.converters.registered.batches import ColumnDecoder, error_column, without_errors
from airflow_kconnect.converters.registered.slices import LONGEST

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from airflow_kconnect.converters.protobuf.decode_columns import Decode

# What readers and writers raise for values; pyarrow's errors are ValueErrors and TypeErrors too.
_BAD_VALUE = (DataError, ValueError, TypeError, ArithmeticError)


@dataclass(frozen=True)
class MessageType:
    """A message type and the schema of its data.

    :param files: the descriptors, as `sources.compiled` returns them.
    :param name: full name of the message type.
    """

    files: bytes
    name: str
    schema: ConnectSchema
    settings: ProtobufSettings

    @property
    def descriptor(self) -> Any:
        """Protobuf's descriptor of the type, in this process."""
        return message_type(self.files, self.name)


@dataclass(frozen=True)
class ProtobufDecoder(ColumnDecoder):
    """Decodes messages; a `PayloadDecoder`.

    :param skipped: length of the message indexes at the start of each payload, in bytes.
    """

    type: MessageType
    skipped: int

    def in_columns(self, payloads: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]] | None:
        """See `ColumnDecoder.in_columns`; None if there is no way without Protobuf's library."""
        import pyarrow.compute as pc

        decode = _decoder(self.type)
        if decode is None or not len(payloads):
            return None
        try:
            return decode(pc.binary_slice(payloads, self.skipped, LONGEST))
        except _BAD_VALUE:
            return None

    def one_by_one(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        errors: dict[int, str] = {}
        messages = self._parsed(payloads.to_pylist(), errors)
        column = _read(_reader(self.type), messages, 0, errors)
        return without_errors(column, errors), error_column(errors, len(payloads))

    def _parsed(self, payloads: list[bytes], errors: dict[int, str]) -> list[Any]:
        from google.protobuf.message import DecodeError

        parse, default = message_class(self.type.descriptor).FromString, message_class(self.type.descriptor)()
        skipped, messages = self.skipped, []
        for row, payload in enumerate(payloads):
            try:
                messages.append(parse(payload[skipped:]))
            except DecodeError as error:
                messages.append(default)
                errors[row] = f"Error deserializing Protobuf message {self.type.name}: {in_one_line(error)}"
        return messages


@dataclass(frozen=True)
class ProtobufEncoder:
    """Encodes data of one shape; a `PayloadEncoder`.

    :param prefix: the message indexes of the type.
    """

    type: MessageType
    prefix: bytes

    def encode(self, data: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadEncoder.encode`."""
        payloads = self._in_columns(data)
        return self._one_by_one(data) if payloads is None else (payloads, None)

    def _in_columns(self, data: pa.Array) -> pa.Array | None:
        """The payloads, if there is a way without messages in between."""
        from airflow_kconnect.converters.protobuf import wire
        from airflow_kconnect.converters.protobuf.encode_columns import Unsure

        encode = _encoder(self.type)
        if encode is None or data.null_count:
            return None
        try:
            return wire.after(self.prefix, encode(data))
        except (Unsure, *_BAD_VALUE):
            return None

    def _one_by_one(self, data: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        import pyarrow as pa

        errors: dict[int, str] = {}
        payloads = self._written(data, 0, errors)
        return pa.array(payloads, pa.binary()), error_column(errors, len(data))

    def _written(self, data: pa.Array, start: int, errors: dict[int, str]) -> list[bytes | None]:
        """The payloads. If a value is bad, rows are halved until it is found."""
        new, prefix = message_class(self.type.descriptor), self.prefix
        messages = [new() for _ in range(len(data))]
        try:
            _writer(self.type)(messages, data)
            return [prefix + message.SerializeToString(deterministic=True) for message in messages]
        except _BAD_VALUE as error:
            if len(data) == 1:
                errors[start] = _text(error)
                return [None]
        half = len(data) // 2
        return [*self._written(data[:half], start, errors), *self._written(data[half:], start + half, errors)]


def _read(read: Callable[[list[Any]], pa.Array], messages: list[Any], start: int, errors: dict[int, str]) -> pa.Array:
    """The column. If a value is bad, messages are halved until it is found."""
    import pyarrow as pa

    try:
        return read(messages)
    except _BAD_VALUE as error:
        if len(messages) == 1:
            errors.setdefault(start, _text(error))
            return read([None])
    half = len(messages) // 2
    return pa.concat_arrays(
        [_read(read, messages[:half], start, errors), _read(read, messages[half:], start + half, errors)]
    )


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, DataError) else in_one_line(error)


@lru_cache(maxsize=1000)
def _reader(type_: MessageType) -> Callable[[list[Any]], pa.Array]:
    from airflow_kconnect.converters.protobuf.read_columns import column_reader

    return column_reader(type_.descriptor, type_.schema, type_.settings)


@lru_cache(maxsize=1000)
def _writer(type_: MessageType) -> Callable[[list[Any], pa.Array], None]:
    from airflow_kconnect.converters.protobuf.write_columns import column_writer

    return column_writer(type_.descriptor, type_.schema, type_.settings)


@lru_cache(maxsize=1000)
def _encoder(type_: MessageType) -> Callable[[pa.Array], pa.Array] | None:
    from airflow_kconnect.converters.protobuf.encode_columns import Unsure, message_encoder

    try:
        return message_encoder(type_.descriptor, type_.schema, type_.settings)
    except Unsure:
        return None


@lru_cache(maxsize=1000)
def _decoder(type_: MessageType) -> Decode | None:
    from airflow_kconnect.converters.protobuf.decode_columns import message_decoder
    from airflow_kconnect.converters.protobuf.encode_columns import Unsure

    try:
        return message_decoder(type_.descriptor, type_.schema, type_.settings)
    except Unsure:
        return None
