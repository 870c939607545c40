"""Errors on their way from a Spark partition to the driver, as data: Spark would only pass on a traceback."""

from __future__ import annotations

import json
from typing import Any

from airflow_kconnect.connect import errors
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError

_PREFIX = "\x00"
_CLASSES = {name: cls for name, cls in vars(errors).items() if isinstance(cls, type) and issubclass(cls, ConnectError)}


def pack_error(error: ConnectError) -> dict[str, Any]:
    """An error as JSON data."""
    packed = {"class": type(error).__name__, "message": str(error)}
    return (
        {**packed, "errors": error.errors, "connector": error.connector} if isinstance(error, ConfigError) else packed
    )


def unpack_error(packed: dict[str, Any]) -> ConnectError:
    """The error again."""
    cls = _CLASSES[packed["class"]]
    if issubclass(cls, ConfigError):
        return cls(packed["errors"], packed["connector"])
    return cls(packed["message"])


def error_cell(error: ConnectError) -> str:
    """An error as the cell of an ``error`` column: ends the run with just this error."""
    return _PREFIX + json.dumps(pack_error(error))


def error_from_column(cell: str, place: str) -> ConnectError:
    """The error for a cell of an ``error`` column: one made by `error_cell`, or the text of a bad record.

    :param place: where the record is, e.g. ``topic-0@5``.
    """
    if cell.startswith(_PREFIX):
        return unpack_error(json.loads(cell[len(_PREFIX) :]))
    return DataError(f"bad record at {place}: {cell}")
