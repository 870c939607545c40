"""Batches of payloads, read as whole columns; and values one by one: those that columns leave, being rare or wrong."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError, in_one_line

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class ColumnDecoder(ABC):
    """A `PayloadDecoder` that is fast for most payloads, and leaves the others to a slower way."""

    @abstractmethod
    def in_columns(self, payloads: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]] | None:
        """The data, and which payloads were left: their data have no meaning. None if the whole batch was."""

    @abstractmethod
    def one_by_one(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """As `PayloadDecoder.decode`."""

    def decode(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadDecoder.decode`."""
        import numpy as np
        import pyarrow as pa

        in_columns = self.in_columns(payloads)
        if in_columns is None:
            return self.one_by_one(payloads)
        column, left = in_columns
        rows = np.flatnonzero(left)
        if not rows.size:
            return column, None
        again, errors = self.one_by_one(payloads.take(pa.array(rows)))
        places = np.arange(len(payloads))
        places[rows] = len(payloads) + np.arange(len(rows))
        column = pa.concat_arrays([column, again]).take(pa.array(places))
        if errors is None:
            return column, None
        return column, pa.concat_arrays([pa.nulls(len(payloads), pa.string()), errors]).take(pa.array(places))


def each(rows: Iterable[Any], convert: Callable[[Any], Any], type_: pa.DataType) -> tuple[pa.Array, pa.Array | None]:
    """Rows converted one by one, and the errors.

    :param convert: makes the value of a row. What it raises for bad ones: `DataError`.
    """
    values: list[Any] = []
    errors: dict[int, str] = {}
    for number, row in enumerate(rows):
        value = None
        try:
            value = convert(row)
        except DataError as error:
            errors[number] = str(error)
        except RecursionError:
            errors[number] = "The data nest too deeply"
        values.append(value)
    return _column(values, errors, type_), error_column(errors, len(values))


def _column(values: list[Any], errors: dict[int, str], type_: pa.DataType) -> pa.Array:
    """The column of values; those that Arrow rejects, such as text that is not Unicode, get an error."""
    import pyarrow as pa

    try:
        return pa.array(values, type_)
    except (ValueError, OverflowError):  # also UnicodeError and Arrow's errors
        pass
    for row, value in enumerate(values):
        try:
            pa.array([value], type_)
        except (ValueError, OverflowError) as error:
            values[row], errors[row] = None, f"A value cannot be held in a column: {in_one_line(error)}"
    return pa.array(values, type_)


def error_column(errors: Mapping[int, str], count: int) -> pa.Array | None:
    """The errors of rows (STRING), by their indexes; None if there are none."""
    import pyarrow as pa

    return pa.array([errors.get(row) for row in range(count)], pa.string()) if errors else None


def without_errors(column: pa.Array, errors: Mapping[int, str]) -> pa.Array:
    """The column with null in rows with an error."""
    import pyarrow as pa

    if not errors:
        return column
    return column.take(pa.array([None if row in errors else row for row in range(len(column))], pa.int64()))
