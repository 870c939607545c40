"""Writes a batch of Connect data as Avro messages: each field for all rows at once; a row's parts are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.converters.avro.payloads.plans import (
    Choice,
    Items,
    Leaf,
    Member,
    Node,
    Nullable,
    Pairs,
    Raw,
    Record,
)
from airflow_kconnect.converters.avro.schemas.schema import AvroType
from airflow_kconnect.converters.json.values import DAY_MS, TIME_RANGE
from airflow_kconnect.converters.registered import numbers
from airflow_kconnect.converters.registered.slices import (
    bytes_of,
    joined,
    lengths_of,
    numpy_of,
    of_offsets,
    offsets_of,
    repeated,
    spread,
    without,
)
from airflow_kconnect.converters.types import arrow_type, logical_name

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from airflow_kconnect.converters.registered.cursor import Integers

NULL_VALUE = "Found null value for non-optional schema"
_LONG_MAX = 2**63 - 1


class ColumnWriter:
    """Writes one batch. What a column gives is a list of BINARY columns without nulls, whose bytes follow each other.

    :ivar errors: index of a row -> why it cannot be written. Its bytes have no meaning.
    """

    def __init__(self) -> None:
        self.errors: dict[int, str] = {}

    def write(self, node: Node, column: pa.Array, rows: Integers) -> list[pa.Array]:
        """The bytes of a column.

        :param rows: index in the batch of each row of the column.
        """
        if isinstance(node, Nullable):
            return self._nullable(node, column, rows)
        if isinstance(node, Choice):
            return self._choice(node, column, rows)
        if not column.null_count:
            return self._values(node, column, rows)
        given = _is_given(column)
        self._fail(rows[~given], node, _why_not_null(node))
        return spread(self._values(node, column.drop_null(), rows[given]), given)

    def _fail(self, rows: Integers, node: Node, problem: str) -> None:
        text = f"Field {node.path}: {problem}" if node.path else problem
        for row in rows.tolist():
            self.errors.setdefault(row, text)

    def _values(self, node: Node, column: pa.Array, rows: Integers) -> list[pa.Array]:
        """The bytes of a column without nulls."""
        match node:
            case Leaf():
                return self._leaf(node, column, rows)
            case Record():
                return self._record(node, column, rows)
            case Items():
                return [*self._items(column, rows, lambda values, of: self.write(node.inner, values, of))]
            case Pairs():
                return self._pairs(node, column, rows)
            case Raw():
                return [self._bytes(node, column)]
        raise AssertionError(node)

    # Primitive types

    def _leaf(self, node: Leaf, column: pa.Array, rows: Integers) -> list[pa.Array]:
        import pyarrow as pa

        match node.wire:
            case AvroType.INT | AvroType.LONG:
                return [numbers.varint_column(self._integers(node, column, rows))]
            case AvroType.FLOAT | AvroType.DOUBLE:
                type_ = pa.float32() if node.wire is AvroType.FLOAT else pa.float64()
                return [numbers.fixed_column(numpy_of(column.cast(type_, safe=False)))]
            case AvroType.BOOLEAN:
                return [numbers.fixed_column(numpy_of(column).astype("uint8"))]
            case AvroType.ENUM:
                return [self._symbols(node, column, rows)]
            case AvroType.FIXED:
                return [self._fixed(node, column, rows)]
        data = self._bytes(node, column)
        return [numbers.varint_column(lengths_of(data)), data]

    def _integers(self, node: Leaf, column: pa.Array, rows: Integers) -> Integers:
        import numpy as np
        import pyarrow as pa

        name = logical_name(node.schema)
        if name in (DATE, TIMESTAMP):
            column = column.cast(pa.int32() if name == DATE else pa.int64())
        values: Integers = numpy_of(column).astype(np.int64)
        if name == TIMESTAMP:
            # Connect's instants are milliseconds.
            values = values // 1000
        if name == TIME:
            self._fail(rows[(values < 0) | (values >= DAY_MS)], node, TIME_RANGE)
        if node.units > 1:
            self._fail(rows[np.abs(values) > _LONG_MAX // node.units], node, "Timestamp is out of range")
            values = values * node.units
        return values

    def _symbols(self, node: Leaf, column: pa.Array, rows: Integers) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        places = pc.index_in(column, pa.array(node.symbols, pa.string()))
        for row, symbol in zip(
            rows[~_is_given(places)].tolist(), column.filter(places.is_null()).to_pylist(), strict=True
        ):
            self.errors.setdefault(row, f"Field {node.path}: {symbol!r:.100} is not a symbol of the enum")
        return numbers.varint_column(numpy_of(places.fill_null(0)).astype("int64"))

    def _bytes(self, node: Node, column: pa.Array) -> pa.Array:
        import pyarrow as pa

        if logical_name(node.schema) == DECIMAL:
            return numbers.decimal_column(column)
        return column.cast(pa.binary())

    def _fixed(self, node: Leaf, column: pa.Array, rows: Integers) -> pa.Array:
        if logical_name(node.schema) == DECIMAL:
            data, odd = numbers.fixed_decimal_column(column, node.size)
            self._fail(rows[odd], node, f"the Decimal does not fit into {node.size} bytes")
            return data
        odd = lengths_of(column) != node.size
        self._fail(rows[odd], node, f"the value does not have the {node.size} bytes of the fixed type")
        return column

    # Nullable values, structs, unions

    def _nullable(self, node: Nullable, column: pa.Array, rows: Integers) -> list[pa.Array]:
        import numpy as np

        given = _is_given(column)
        if node.null_index is None or not node.schema.optional:
            self._fail(rows[~given], node, NULL_VALUE)
        branches = np.where(given, node.index, node.null_index or 0)
        tag = numbers.varint_column(branches.astype(np.int64))
        if given.all():
            return [tag, *self.write(node.inner, column, rows)]
        return [tag, *spread(self.write(node.inner, column.drop_null(), rows[given]), given)]

    def _record(self, node: Record, column: pa.Array, rows: Integers) -> list[pa.Array]:
        columns = column.flatten()
        for index, path in node.absent.items():
            problem = "the Avro schema does not have it, and its value would be lost; drop it with ReplaceField"
            for row in rows[_is_given(columns[index])].tolist():
                self.errors.setdefault(row, f"Field {path}: {problem}")
        parts: list[pa.Array] = []
        for member in node.members:
            parts += self._member(member, None if member.index is None else columns[member.index], rows)
        return parts

    def _member(self, member: Member, column: pa.Array | None, rows: Integers) -> list[pa.Array]:
        import numpy as np
        import pyarrow as pa

        if column is None or member.node is None:
            return [repeated(member.constant, len(rows))]
        if member.default is None or not column.null_count:
            return self.write(member.node, column, rows)
        given = _is_given(column)
        parts = spread(self.write(member.node, column.drop_null(), rows[given]), given)
        default = pa.array([member.default], arrow_type(member.node.schema))
        constant = joined(self.write(member.node, default, rows[~given][:1]), 1)[0].as_py()
        return [*parts, spread([repeated(constant, int(np.count_nonzero(~given)))], ~given)[0]]

    def _choice(self, node: Choice, column: pa.Array, rows: Integers) -> list[pa.Array]:
        import numpy as np

        given = _is_given(column)
        members = column.flatten()
        branches = np.full(len(column), -1)
        parts: list[pa.Array] = []
        for branch, index, member in node.branches:
            chosen = given & (branches < 0) & _is_given(members[index])
            branches[chosen] = branch
            values = members[index].filter(_mask(chosen))
            parts += spread(self.write(member, values, rows[chosen]), chosen)
        nothing = branches < 0
        if node.null_index is None or not node.schema.optional:
            self._fail(rows[nothing], node, NULL_VALUE)
        branches[nothing] = node.null_index or 0
        return [numbers.varint_column(branches.astype(np.int64)), *parts]

    # Arrays and maps

    def _items(self, column: pa.Array, rows: Integers, write: Any) -> list[pa.Array]:
        """The items of each row as one block: their number, the items, the zero after the last block."""
        import numpy as np

        offsets = numpy_of(column.offsets)
        counts = np.diff(offsets).astype(np.int64)
        values = column.values.slice(offsets[0], offsets[-1] - offsets[0])
        items = joined(write(values, np.repeat(rows, counts)), len(values))
        starts = offsets_of(items)[offsets - offsets[0]]
        blocks = of_offsets(starts - starts[0], bytes_of(items)[starts[0] :])
        sizes = without(numbers.varint_column(counts), counts == 0)
        return [sizes, blocks, repeated(b"\0", len(column))]

    def _pairs(self, node: Pairs, column: pa.Array, rows: Integers) -> list[pa.Array]:
        def entries(values: pa.Array, of: Integers) -> list[pa.Array]:
            keys, items = values.flatten()
            parts = [self.write(node.key, keys, of), self.write(node.value, items, of)]
            first, second = reversed(parts) if node.value_first else parts
            return [*first, *second]

        return self._items(column, rows, entries)


def _why_not_null(node: Node) -> str:
    return "null, which the Avro schema does not allow" if node.schema.optional else NULL_VALUE


def _is_given(column: pa.Array) -> NDArray[np.bool_]:
    """Which rows are not null."""
    return numpy_of(column.is_valid())


def _mask(chosen: NDArray[np.bool_]) -> pa.Array:
    import pyarrow as pa

    return pa.array(chosen)
