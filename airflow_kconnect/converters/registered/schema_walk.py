"""The way through a schema of a registry while it becomes one of Connect: where it is, for errors, and how large."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.types import DEPTH_MAX, SCHEMAS_MAX, decimal_scale

SMALL_INTEGERS = {"int8": SchemaType.INT8, "int16": SchemaType.INT16}
"""What is noted of the type of an integer that the format only has with 32 bits."""
_log = logging.getLogger(__name__)


def shown(node: Any) -> str:
    """A piece of a schema's JSON, for errors."""
    text = json.dumps(node)
    return text if len(text) < 100 else text[:100] + "..."


class SchemaWalk:
    """The base of what converts schemas of a format. Schemas come with records, so none may be too large for a plan."""

    language: ClassVar[str]
    """Of the schemas, for errors."""

    def __init__(self) -> None:
        self._path: list[str] = []
        self._count = 0

    @contextmanager
    def _within(self, name: str) -> Iterator[None]:
        """A block about a field, or a part of one. :raises DataError: it is too deep."""
        self._path.append(name)
        if len(self._path) > DEPTH_MAX:
            raise self._error(f"the schema nests more than {DEPTH_MAX} levels")
        yield
        self._path.pop()

    def _count_one(self) -> None:
        """Count a schema. :raises DataError: there are too many."""
        self._count += 1
        if self._count > SCHEMAS_MAX:
            raise self._error(f"the schema has more than {SCHEMAS_MAX:,} fields")

    def _error(self, problem: str) -> DataError:
        where = ".".join(self._path)
        of = f"{self.language} schema"
        return DataError(f"Field {where} of the {of}: {problem}" if where else f"The {of}: {problem}")

    def _endless(self, name: str) -> DataError:
        return self._error(
            f"{name} contains itself, and no column of Spark can hold data of unlimited depth; use "
            "ByteArrayConverter, or a schema without recursion"
        )

    def _check_scale(self, decimal: ConnectSchema) -> None:
        """:raises DataError: no column of Spark can have the scale."""
        try:
            decimal_scale(decimal)
        except DataError as error:
            raise self._error(str(error)) from error

    def _ignored(self, error: Exception) -> None:
        """Say that the field has a default that is not of its type: it is read as having none."""
        _log.warning("Ignoring invalid default of field %s: %s", ".".join(self._path), error)
