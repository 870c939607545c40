"""What other programs have put into a store of Google or Azure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.places.address import address
from airflow_kconnect.places.objects.client import ObjectsSettings
from airflow_kconnect.places.objects.place import ObjectsPlace


class Listing:
    """Names as they are in the store. obstore leaves out a slash at their ends, and stops at those that it does not
    know as paths."""

    def __init__(self, objects: Mapping[str, int]) -> None:
        self._objects = objects

    def list(self, prefix: str, **_: Any) -> Iterator[list[dict[str, Any]]]:
        from obstore.exceptions import GenericError

        if any("//" in name for name in self._objects):
            raise GenericError('Encountered object with invalid path: Path "raw/a//b" contained empty path segment')
        yield [self._seen(name) for name in sorted(self._objects) if name.startswith(f"{prefix}/")]

    def head(self, path: str) -> dict[str, Any]:
        if path not in self._objects:
            raise FileNotFoundError(path)
        return self._seen(path)

    def _seen(self, name: str) -> dict[str, Any]:
        changed = datetime(2026, 11, 26, tzinfo=UTC)
        return {"path": name.rstrip("/"), "size": self._objects[name], "e_tag": "e", "last_modified": changed}


def place_with(objects: Mapping[str, int]) -> ObjectsPlace:
    place = ObjectsPlace(address("gs://lake/raw"), ObjectsSettings())
    vars(place)["_store"] = Listing(objects)
    return place


def test_folders_that_were_created_as_objects_are_no_files() -> None:
    place = place_with({"raw/": 0, "raw/a/": 0, "raw/a/b": 1, "raw/empty": 0})
    assert [file.name for file in place.files()] == ["a/b", "empty"]


def test_an_object_that_is_no_path_is_named() -> None:
    with pytest.raises(DataError, match=r"whose name has an empty part.*rename it .*raw/a//b"):
        list(place_with({"raw/a//b": 1}).files())
