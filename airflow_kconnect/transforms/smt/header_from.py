"""HeaderFrom: copies or moves fields into headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    Type,
    ValidString,
    parse_type,
)
from airflow_kconnect.connect.data import SCHEMALESS, SchemaType, Shape
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import (
    HEADERS,
    Change,
    PartTransformation,
    Rows,
    Scope,
    set_headers,
)
from airflow_kconnect.transforms.expressions.fields import (
    define_null_rule,
    member,
    no_object,
    no_struct,
    no_such_field,
    or_null,
    rows_by_shape,
    struct_of,
    value_of,
    without_members,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

    from airflow_kconnect.converters.base import Encoded


class HeaderFrom(PartTransformation):
    """``org.apache.kafka.connect.transforms.HeaderFrom``."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        values = self.config_values
        self._fields: list[str] = values["fields"]
        self._headers: list[str] = values["headers"]
        self._moves, self._purpose = values["operation"] == "move", f"header {values['operation']}"
        self._replace_null: bool = values["replace.null.with.default"]

    @classmethod
    def config(cls) -> ConfigDef:
        texts = {
            "fields": "Fields that are copied or moved into headers.",
            "headers": "Names of the headers, in the order of fields.",
        }
        not_empty = LambdaValidator(lambda key, value: None if value else "Empty list")
        config = ConfigDef()
        for key, text in texts.items():
            config.define(key, Type.LIST, importance=Importance.HIGH, documentation=text, validator=not_empty)
        config.define(
            "operation",
            Type.STRING,
            importance=Importance.HIGH,
            documentation="move takes the fields out of the key or value; copy leaves them there.",
            validator=ValidString.in_("move", "copy"),
        )
        return define_null_rule(config)

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        fields, headers = (parse_type(key, config[key], Type.LIST) for key in ("fields", "headers"))
        if len(fields) == len(headers):
            return {}
        return {"headers": ["'fields' config must have the same number of elements as 'headers' config."]}

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        from pyspark.sql import functions as F

        none = F.array().cast(HEADERS)
        headers = Rows(frame, scope).headers
        old = F.lit(None).cast(HEADERS) if headers is None else headers
        added = (
            F.when(is_shape, self._added(shape, column, scope))
            for is_shape, shape, column in rows_by_shape(frame, self.part)
        )
        new = F.concat(F.coalesce(old, none), F.coalesce(*added, none))
        # The fields, and the columns that `where` uses, are gone once they are moved.
        df = frame.df.withColumn("new_headers", new if where is None else F.when(where, new).otherwise(old))
        frame = set_headers(super().apply(frame.with_df(df), where, scope), F.col("new_headers"), None)
        return frame.with_df(frame.df.drop("new_headers"))

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        error = self._problem(shape, column, rows.scope)
        if not self._moves:
            return Change(shape, column, error)
        if shape.schema is None:
            return Change(SCHEMALESS, without_members(column, self._fields), error)
        if shape.schema.type is not SchemaType.STRUCT:
            return Change(shape, column, error)
        rest = tuple(field for field in shape.schema.fields if field.name not in self._fields)
        values = [(field.name, value_of(field, column, replace_null=self._replace_null)) for field in rest]
        moved = replace(shape.schema, fields=rest, optional=False, default=None)
        return Change(Shape(moved), struct_of(column, values), error)

    def change_nothing(self, rows: Rows) -> Change | None:
        from pyspark.sql import functions as F

        return Change(None, error=no_object(F.lit(None).cast("variant"), self._purpose))

    def _problem(self, shape: Shape, column: Column, scope: Scope) -> Column:
        from pyspark.sql import functions as F

        if shape.schema is None:
            unfit = no_object(column, self._purpose)
        else:
            unfit = no_struct(shape.schema, column, self._purpose)
            if any(shape.schema.field(name) is None for name in self._fields):
                unfit = F.coalesce(unfit, no_such_field())
        unwritable = (header.error for header in self._encoded(shape, column, scope) if header.error is not None)
        return F.coalesce(unfit, *unwritable)

    def _added(self, shape: Shape, column: Column, scope: Scope) -> Column:
        """The new headers of records with this shape; none where it lacks the fields."""
        from pyspark.sql import functions as F

        headers = (
            F.struct(F.lit(name).alias("key"), header.bytes.alias("value"))
            for name, header in zip(self._headers, self._encoded(shape, column, scope), strict=False)
        )
        return F.array(*headers).cast(HEADERS)

    def _encoded(self, shape: Shape, column: Column, scope: Scope) -> list[Encoded]:
        return [scope.header_converter.encode(*header) for header in self._values(shape, column)]

    def _values(self, shape: Shape, column: Column) -> list[tuple[Shape, Column]]:
        if shape.schema is None:
            return [(SCHEMALESS, or_null(member(column, name))) for name in self._fields]
        fields = [field for name in self._fields if (field := shape.schema.field(name))]
        if len(fields) < len(self._fields):
            return []
        return [(Shape(field.schema), value_of(field, column, replace_null=self._replace_null)) for field in fields]


class HeaderFromKey(HeaderFrom):
    """For keys."""

    part = "key"


class HeaderFromValue(HeaderFrom):
    """For values."""

    part = "value"
