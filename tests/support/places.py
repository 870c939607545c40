"""Files of places for tests."""

from __future__ import annotations

from airflow_kconnect.places.base import Place
from airflow_kconnect.places.s3.staging import S3Staging

TEXT = b"0123456789"
_PART = 5 * 1024 * 1024


def write(place: Place, name: str = "t/a", text: bytes = TEXT) -> None:
    """A file that is visible."""
    staging = place.stage(name, _PART)
    staging.write(text)
    place.publish(staging.finish())


def read(place: Place, name: str = "t/a") -> bytes:
    """A visible file, as a whole."""
    file = place.find(name)
    assert file is not None
    with place.read(file) as reader:
        return reader.read()


def begin_and_die(place: Place, name: str) -> None:
    """What a run does that is killed once the store knows of a file, before it was ended."""
    staging = place.stage(name)
    staging.write(b"killed meanwhile")
    if isinstance(staging, S3Staging):
        staging._begun.result()
