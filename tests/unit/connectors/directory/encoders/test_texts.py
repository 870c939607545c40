"""Compressed texts, as other programs read them."""

from __future__ import annotations

import gzip
import io
import shutil
import subprocess

import pyarrow as pa
import pytest

from airflow_kconnect.connectors.directory.encoders.formats import COMPRESSION_ENDINGS
from airflow_kconnect.connectors.directory.encoders.texts import TextEncoder, decompressed

_LINES = pa.array([f'{{"n":{n},"text":"{"x" * (n % 70)}"}}\n'.encode() for n in range(20_000)], pa.binary())
_TEXT = b"".join(_LINES.to_pylist())


def encoded(compression: str, at_once: int = 1_000_000) -> bytes:
    file = io.BytesIO()
    encoder = TextEncoder(file, compression)
    for start in range(0, len(_LINES), at_once):
        encoder.write(_LINES.slice(start, at_once))
    encoder.finish()
    return file.getvalue()


@pytest.mark.parametrize("compression", COMPRESSION_ENDINGS)
def test_bytes_do_not_depend_on_how_rows_are_cut_into_batches(compression: str) -> None:
    assert encoded(compression, 777) == encoded(compression)


@pytest.mark.parametrize(("compression", "ending"), COMPRESSION_ENDINGS.items())
def test_a_file_is_read_again_by_its_ending(compression: str, ending: str) -> None:
    assert decompressed(io.BytesIO(encoded(compression)), f"t.json{ending}").read() == _TEXT


def test_gzip_is_one_member_without_a_time() -> None:
    assert encoded("gzip")[4:8] == bytes(4)
    assert gzip.decompress(encoded("gzip")) == _TEXT


@pytest.mark.parametrize(("compression", "program"), [("zstd", "zstd"), ("lz4", "lz4")])
def test_programs_read_what_is_compressed(compression: str, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    done = subprocess.run([program, "-dc"], input=encoded(compression), capture_output=True, check=True)
    assert done.stdout == _TEXT
