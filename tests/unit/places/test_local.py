"""Folders: what is removed is what was seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.places.address import address
from airflow_kconnect.places.base import PlacedFile
from airflow_kconnect.places.local import LocalPlace
from tests.support.places import TEXT, read, write


@pytest.mark.parametrize("text", [b"newer", TEXT])
def test_what_has_replaced_a_file_since_it_was_looked_at_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    place = LocalPlace(address(str(tmp_path)))
    write(place)
    (file,) = place.files()
    has = place.has

    def replaced(file: PlacedFile) -> bool:
        found = has(file)
        write(place, text=text)
        return found

    monkeypatch.setattr(place, "has", replaced)
    assert not place.remove(file)
    assert read(place) == text
