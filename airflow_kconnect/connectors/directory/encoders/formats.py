"""The formats of files, with their compressions and the endings of their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_kconnect.places.base import Output


class Encoder(Protocol):
    """Writes rows; leaves the file open. The same rows give the same bytes, however they are cut into batches."""

    def write(self, rows: pa.Array) -> None:
        """Rows: their texts or bytes with what ends them, or structs whose members become columns."""

    def finish(self) -> None:
        """There are no more."""


@dataclass(frozen=True)
class Format:
    """A format.

    :param ending: of its files' names. :param compressions: the default first.
    :param compressed_whole: the file as a whole is compressed, and its name says so; else parts within it.
    :param has_fields: a file says what fields its rows have.
    """

    ending: str
    compressions: tuple[str, ...]
    compressed_whole: bool
    has_fields: bool

    def extension(self, compression: str) -> str:
        """The ending with that of the compression."""
        return self.ending + (COMPRESSION_ENDINGS[compression] if self.compressed_whole else "")


COMPRESSION_ENDINGS = {"none": "", "gzip": ".gz", "zstd": ".zst", "snappy": ".snappy", "lz4": ".lz4"}
_WHOLE = tuple(COMPRESSION_ENDINGS)

FORMATS = {
    "json": Format("json", _WHOLE, True, True),
    "parquet": Format("parquet", ("snappy", "zstd", "gzip", "lz4", "none"), False, True),
    "avro": Format("avro", ("snappy", "zstd", "deflate", "none"), False, True),
    "text": Format("txt", _WHOLE, True, False),
    "bytes": Format("bin", _WHOLE, True, False),
}
COMPRESSIONS = tuple(dict.fromkeys(name for each in FORMATS.values() for name in each.compressions))

EXTENSION = "|".join(
    re.escape(each.extension(compression)) for each in FORMATS.values() for compression in each.compressions
)
"""Regular expression for the extensions of all formats."""


def encoder(format: str, compression: str, file: Output) -> Encoder:
    """The one that writes a file."""
    if format == "parquet":
        from airflow_kconnect.connectors.directory.encoders.parquet import ParquetEncoder

        return ParquetEncoder(file, compression)
    if format == "avro":
        from airflow_kconnect.connectors.directory.encoders.avro import AvroEncoder

        return AvroEncoder(file, compression)
    from airflow_kconnect.connectors.directory.encoders.texts import TextEncoder

    return TextEncoder(file, compression)
