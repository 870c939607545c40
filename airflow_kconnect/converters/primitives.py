"""The converters of booleans and numbers: one byte, or a fixed number of big-endian bytes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.data import ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.base import BatchEncoder, BatchParser, Encoded
from airflow_kconnect.converters.plain_parsers import FixedParser
from airflow_kconnect.converters.same_schema import OneShapeConverter
from airflow_kconnect.converters.types import logical_name, primitive_type

if TYPE_CHECKING:
    from pyspark.sql import Column

_FALSE, _TRUE = b"\x00", b"\x01"
_PYTHON: dict[str, tuple[Any, ...]] = {"b": (bool,), "i": (int,), "f": (float, Decimal)}
_FRACTIONS = r"^(DECIMAL|DOUBLE|FLOAT)"


class PrimitiveConverter(OneShapeConverter):
    """What they have in common.

    Connect looks at the Java class of schemaless data, which is not known here: any number that fits is accepted.

    :cvar name: the type, for error texts.
    :cvar layout: numpy's name of the type of its bytes.
    :cvar kinds: pattern for the kinds of VARIANT that are such values.
    """

    name: ClassVar[str]
    layout: ClassVar[str]
    kinds: ClassVar[str]

    @property
    def type(self) -> SchemaType:
        """The type of all values."""
        assert self.shape.schema is not None
        return self.shape.schema.type

    def check(self, shape: Shape) -> None:
        if not self._takes(shape):
            raise DataError(self.refusal(shape))

    def encode(self, shape: Shape, column: Column) -> Encoded:
        from pyspark.sql import functions as F

        if not self._takes(shape):
            return Encoded(F.lit(None).cast("binary"), F.when(column.isNotNull(), self.refusal(shape)))
        if not shape.schemaless:
            return Encoded(self.write(column), None)
        kind = F.schema_of_variant(column)
        value = F.when(kind.rlike(self.kinds), F.try_variant_get(column, "$", primitive_type(self.type).simpleString()))
        return Encoded(self.write(value), F.when((kind != "VOID") & value.isNull(), self.refusal(shape)))

    def batch_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.batch_encoders import NumberEncoder, Refusal

        if not self._takes(shape):
            return Refusal(self.refusal(shape), nulls=self.type is SchemaType.BOOLEAN)
        return None if shape.schemaless else NumberEncoder(self.layout)

    def value_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.batch_encoders import EachValue

        return (
            EachValue(_Schemaless(self.layout, self.refusal(shape))) if shape.schemaless else self.batch_encoder(shape)
        )

    def _takes(self, shape: Shape) -> bool:
        schema = shape.schema
        return schema is None or (schema.type is self.type and logical_name(schema) is None)

    def refusal(self, shape: Shape) -> str:
        """Why data of a shape cannot be written."""
        kind = "schemaless data" if shape.schema is None else shape.schema.type.name
        return f"Failed to serialize to {self.name} (was {kind})"

    @abstractmethod
    def write(self, column: Column) -> Column:
        """A column of the type as bytes."""


class BooleanConverter(PrimitiveConverter):
    """``org.apache.kafka.connect.converters.BooleanConverter``."""

    shape = Shape(ConnectSchema(SchemaType.BOOLEAN, optional=True))
    name, layout, kinds = "boolean", "?", "^BOOLEAN$"

    def encode(self, shape: Shape, column: Column) -> Encoded:
        from pyspark.sql import functions as F

        encoded = super().encode(shape, column)
        # Unlike the converters of numbers, it checks the schema of null, too.
        return encoded if self._takes(shape) else encoded._replace(error=F.lit(self.refusal(shape)))

    def refusal(self, shape: Shape) -> str:
        if shape.schema is None:
            return "BooleanConverter is not compatible with schemaless data of another type"
        return f"Invalid schema type for BooleanConverter: {shape.schema.type.name}"

    def write(self, column: Column) -> Column:
        from pyspark.sql import functions as F

        return F.when(column, F.lit(_TRUE)).when(~column, F.lit(_FALSE))

    def parser(self) -> BatchParser:
        return FixedParser(self.layout)

    def read(self, raw: Column) -> tuple[Column, Column | None]:
        from pyspark.sql import functions as F

        value = F.when(raw == F.lit(_TRUE), True).when(raw == F.lit(_FALSE), False)
        wrong = raw.isNotNull() & value.isNull()
        return value, F.when(wrong, "Failed to deserialize boolean: it is not one byte, 0 or 1")


class NumberConverter(PrimitiveConverter):
    """``org.apache.kafka.connect.converters.NumberConverter``.

    :cvar size: number of bytes.
    """

    size: ClassVar[int]
    kinds = "^BIGINT$"

    def write(self, column: Column) -> Column:
        from pyspark.sql import functions as F

        digits = F.lpad(F.hex(self.to_bits(column)), 16, "0")
        return F.unhex(F.substring(digits, 17 - 2 * self.size, 2 * self.size))

    def parser(self) -> BatchParser:
        return FixedParser(self.layout)

    def read(self, raw: Column) -> tuple[Column, Column | None]:
        from pyspark.sql import functions as F

        fits = F.octet_length(raw) == self.size
        digits = F.hex(F.substring(raw, 1, self.size))
        padded = F.rpad(F.when(fits, digits), 16, "0")
        # In the upper bytes of a word the sign is where a word has it; the shift then keeps it.
        bits = F.shiftright(F.conv(padded, 16, -10).cast("bigint"), 64 - 8 * self.size)
        wrong = F.concat(F.lit(f"Failed to deserialize {self.name}: it has "), F.octet_length(raw).cast("string"))
        return self.from_bits(bits), F.when(~fits, F.concat(wrong, F.lit(f" bytes and not {self.size}")))

    def to_bits(self, column: Column) -> Column:
        """A number whose lowest bytes are those of the value."""
        return column

    def from_bits(self, bits: Column) -> Column:
        """The value whose sign-extended bytes a LONG holds."""
        return bits.cast(primitive_type(self.type))


class ShortConverter(NumberConverter):
    """``org.apache.kafka.connect.converters.ShortConverter``."""

    shape = Shape(ConnectSchema(SchemaType.INT16, optional=True))
    name, layout, size = "short", ">i2", 2


class IntegerConverter(NumberConverter):
    """``org.apache.kafka.connect.converters.IntegerConverter``."""

    shape = Shape(ConnectSchema(SchemaType.INT32, optional=True))
    name, layout, size = "integer", ">i4", 4


class LongConverter(NumberConverter):
    """``org.apache.kafka.connect.converters.LongConverter``."""

    shape = Shape(ConnectSchema(SchemaType.INT64, optional=True))
    name, layout, size = "long", ">i8", 8


class FloatConverter(NumberConverter):
    """``org.apache.kafka.connect.converters.FloatConverter``."""

    shape = Shape(ConnectSchema(SchemaType.FLOAT32, optional=True))
    name, layout, kinds, size = "float", ">f4", _FRACTIONS, 4

    def to_bits(self, column: Column) -> Column:
        return _java("Float", "floatToIntBits", column).cast("bigint")

    def from_bits(self, bits: Column) -> Column:
        return _java("Float", "intBitsToFloat", bits.cast("int")).cast("float")


class DoubleConverter(NumberConverter):
    """``org.apache.kafka.connect.converters.DoubleConverter``."""

    shape = Shape(ConnectSchema(SchemaType.FLOAT64, optional=True))
    name, layout, kinds, size = "double", ">f8", _FRACTIONS, 8

    def to_bits(self, column: Column) -> Column:
        return _java("Double", "doubleToLongBits", column).cast("bigint")

    def from_bits(self, bits: Column) -> Column:
        return _java("Double", "longBitsToDouble", bits).cast("double")


def _java(class_name: str, method: str, column: Column) -> Column:
    """The text returned by a method of a class in ``java.lang``: Spark itself cannot access the bits of floats."""
    from pyspark.sql import functions as F

    result = F.reflect(F.lit(f"java.lang.{class_name}"), F.lit(method), column)
    return F.when(column.isNotNull(), result)


@dataclass(frozen=True)
class _Schemaless:
    """Writes a JSON text of schemaless data; pickled."""

    layout: str
    refusal: str

    def __call__(self, text: str | None) -> bytes | None:
        import numpy as np

        from airflow_kconnect.converters.schemaless import parsed

        data: Any = None if text is None else parsed(text)
        if data is None:
            return None
        kind = np.dtype(self.layout)
        if not isinstance(data, _PYTHON[kind.kind]) or isinstance(data, bool) != (kind.kind == "b"):
            raise DataError(self.refusal)
        if kind.kind == "i" and not np.iinfo(kind).min <= data <= np.iinfo(kind).max:
            raise DataError(self.refusal)
        with np.errstate(over="ignore"):
            return np.array(float(data) if kind.kind == "f" else data).astype(kind).tobytes()
