"""Errors passed from a Spark partition to the driver as data: Spark itself would pass on only a traceback."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect import errors
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError
from airflow_kconnect.connect.printable import printable
from airflow_kconnect.java_text.json_reading import NOT_JSON, why_not_json

_QUOTED_MAX = 300
_PREFIX = "\x00"
RECORD_ERROR = "\x02"
"""The beginning of the ``error`` cell of a bad record: see `stage_prefix`."""

_STAGE, _PART, _EXCEPTION = RECORD_ERROR, "\x1e", "\x1f"

DROPPED = "\x03"
"""The ``error`` cell of a record that a filter has dropped."""

NEEDS_SPARK = "\x04"
"""The ``error`` cell of a record that no `BatchRenderer` can handle: Spark has to."""

LARGE = "\x06"
"""The ``error`` cell of a record with which batches of the current size would be too large."""

PADDING = "\x05"
"""The ``error`` cell of a row that is not a record: empty rows push records through Spark, which waits until a batch is
full.
"""

END = PADDING + "end:"
"""The beginning of the ``error`` cell of the last padding row of a task that a bound has ended: then which, see
`runs.end.Left`.
"""

MESSAGE = "\x1d"
"""Between a text that ends with `NOT_JSON` and the message in base64, from which `record_error` finds out why."""

DATA_EXCEPTION = "org.apache.kafka.connect.errors.DataException"
_CLASSES = {name: cls for name, cls in vars(errors).items() if isinstance(cls, type) and issubclass(cls, ConnectError)}


def pack_error(error: ConnectError) -> dict[str, Any]:
    """An error as JSON data. One of a class of a connector's own is one of those that callers know."""
    known = next(cls.__name__ for cls in type(error).__mro__ if cls.__name__ in _CLASSES)
    packed = {"class": known, "message": str(error)}
    return (
        {**packed, "errors": error.errors, "connector": error.connector} if isinstance(error, ConfigError) else packed
    )


def unpack_error(packed: dict[str, Any]) -> ConnectError:
    """The error that `pack_error` packed."""
    cls = _CLASSES[packed["class"]]
    if issubclass(cls, ConfigError):
        return cls(packed["errors"], packed["connector"])
    return cls(packed["message"])


def error_cell(error: ConnectError) -> str:
    """An error as the cell of an ``error`` column: ends the run with exactly this error."""
    return _PREFIX + json.dumps(pack_error(error))


@dataclass(frozen=True)
class RecordError:
    """Why a record failed, in terms of Connect's dead-letter headers.

    :param stage: ``VALUE_CONVERTER``, ``TRANSFORMATION``, ...
    :param executing: Java name of the converter or transformation.
    :param exception: Java name of the exception that Connect throws.
    """

    stage: str
    executing: str
    exception: str
    message: str

    @property
    def quoted(self) -> str:
        """The message for logs, reports and callbacks: it may quote data from a record, of any length."""
        cut = f"{self.message[:_QUOTED_MAX]}..." if len(self.message) > _QUOTED_MAX else self.message
        return printable(cut)


def stage_prefix(stage: str, executing: str) -> str:
    """The prefix that a stage adds to an error text in an ``error`` column."""
    return f"{_STAGE}{stage}{_PART}{executing}{_PART}"


def with_exception(class_name: str, message: str) -> str:
    """An error text with the Java name of its exception; without one it is a DataException."""
    return f"{class_name}{_EXCEPTION}{message}"


def record_error(cell: str) -> RecordError | None:
    """The record error in a cell of an ``error`` column; None if the cell holds something else."""
    if not cell.startswith(_STAGE):
        return None
    stage, executing, text = cell[len(_STAGE) :].split(_PART, 2)
    exception, separator, message = text.partition(_EXCEPTION)
    if not separator:
        exception, message = DATA_EXCEPTION, text
    return RecordError(stage, executing, exception, _explained(message))


def _explained(text: str) -> str:
    """The text with what is wrong with the message, if it is there; else as it is: records may hold any character."""
    problem, _, message = text.partition(MESSAGE)
    if not problem.endswith(NOT_JSON):
        return text
    try:
        return problem.removesuffix(NOT_JSON) + why_not_json(b64decode(message)) if message else problem
    except ValueError:
        return problem


def error_from_column(cell: str, record_position: str) -> ConnectError:
    """The error for a cell of an ``error`` column: one made by `error_cell`, or the text of a bad record.

    :param record_position: where the record is, e.g. ``topic-0@5``.
    """
    if cell.startswith(_PREFIX):
        return unpack_error(json.loads(cell[len(_PREFIX) :]))
    error = record_error(cell)
    if error is None:
        return DataError(f"bad record at {record_position}: {cell}")
    return DataError(f"bad record at {record_position}: {error.stage} by {error.executing}: {error.quoted}")
