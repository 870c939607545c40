"""Files of places for tests."""

from __future__ import annotations

from airflow_kconnect.places.base import Place, StagedFile
from airflow_kconnect.places.s3.staging import S3Staging

TEXT = b"0123456789"
PART = 5 * 1024 * 1024


def stage(place: Place, name: str = "t/a", text: bytes = TEXT) -> StagedFile:
    """A file that is complete, and not visible yet."""
    staging = place.stage(name, PART)
    staging.write(text)
    return staging.finish()


def write(place: Place, name: str = "t/a", text: bytes = TEXT) -> None:
    """A file that is visible."""
    place.publish(stage(place, name, text))


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
