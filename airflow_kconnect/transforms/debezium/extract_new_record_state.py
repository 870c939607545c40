"""ExtractNewRecordState: replaces Debezium's change event by the row after the change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString, parse_type
from airflow_kconnect.connect.data import STRING_SCHEMA, Shape
from airflow_kconnect.connect.error_cells import DROPPED
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.converters.base import Encoded
from airflow_kconnect.transforms.base import (
    HEADERS,
    Change,
    Rows,
    Scope,
    Transformation,
    failed,
    set_headers,
    set_part,
    set_topic,
)
from airflow_kconnect.transforms.debezium.events import Events, Reference, Side, events_of
from airflow_kconnect.transforms.expressions.fields import define_null_rule, rows_by_shape

if TYPE_CHECKING:
    from pyspark.sql import Column

_MODE = "delete.tombstone.handling.mode"
_DROP, _TOMBSTONE, _TO_TOMBSTONE = "drop", "tombstone", "delete-to-tombstone"
_REWRITE, _REWRITE_WITH_TOMBSTONE = "rewrite", "rewrite-with-tombstone"
_MODES = (_DROP, _TOMBSTONE, _REWRITE, _REWRITE_WITH_TOMBSTONE, _TO_TOMBSTONE)
_NOT_HERE = {
    "drop.tombstones": f"Debezium 3 does not know it any more: set {_MODE}",
    "delete.handling.mode": f"Debezium 3 does not know it any more: set {_MODE}",
    "drop.fields.header.name": "Not supported: each record could have a schema of its own",
}
# The kind of a record, in the column of that name.
_KIND = "debezium_kind"
_ROW, _DELETION, _TRUNCATION, _NO_VALUE = "row", "deletion", "truncation", "tombstone"

_Group = tuple["Column", Events]


class ExtractNewRecordState(Transformation):
    """``io.debezium.transforms.ExtractNewRecordState`` of Debezium 3, and the same for events without schema.

    Other records pass through unchanged. Events for truncated tables are dropped.
    """

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        values = self.config_values
        self._mode = values[_MODE].strip().lower()
        self._fields = _references(values["add.fields"], values["add.fields.prefix"])
        self._headers = _references(values["add.headers"], values["add.headers.prefix"])
        self._route: str = values["route.by.field"]
        self._replace_null: bool = values["replace.null.with.default"]

    @classmethod
    def config(cls) -> ConfigDef:
        config = ConfigDef().define(
            _MODE,
            Type.STRING,
            _TOMBSTONE,
            Importance.MEDIUM,
            "What happens to deletions and to the tombstones after them. tombstone: a deletion becomes null, with the "
            "row's schema. delete-to-tombstone: it becomes a tombstone. rewrite: it becomes the row before, and all "
            "rows have a field __deleted. rewrite-with-tombstone: the same, and tombstones stay; with all others they "
            "are dropped. drop: deletions are dropped as well.",
            validator=ValidString.in_case_insensitive(*_MODES),
        )
        texts = {
            "route.by.field": "Name of a field with the topic that a row goes to; empty: topics stay.",
            "add.fields.prefix": "What names of add.fields begin with.",
            "add.fields": "Facts to add to rows: names such as op, table or source.ts_ms, each also with :new_name.",
            "add.headers.prefix": "What names of add.headers begin with.",
            "add.headers": "Facts to add as headers; see add.fields.",
        }
        for key, text in texts.items():
            is_list, default = key in ("add.fields", "add.headers"), "__" if key.endswith("prefix") else ""
            config.define(key, Type.LIST if is_list else Type.STRING, default, Importance.LOW, text)
        return define_null_rule(config)

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        errors = {key: [text] for key, text in _NOT_HERE.items() if key in config}
        for key in ("add.fields", "add.headers"):
            try:
                _references(parse_type(key, config.get(key, ""), Type.LIST), "")
            except ValueError as error:
                errors[key] = [str(error)]
        return errors

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"headers"} if self._headers else ())

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        groups = _groups(frame)
        frame = frame.with_df(frame.df.withColumn(_KIND, _kind(frame, groups, where)))
        errors = _first([*self._event_errors(groups, scope), self._dropped(), *self._row_errors(groups)])
        frame = failed(frame, errors, None)
        if self._headers:
            frame = set_headers(frame, self._with_facts(groups, Rows(frame, scope)), None)
        if self._route:
            frame = set_topic(frame, self._topic(groups, Rows(frame, scope)), None)
        drops_nulls = where is None and self._mode != _REWRITE_WITH_TOMBSTONE
        frame = set_part(frame, "value", self._branches(frame, groups, has_events=not drops_nulls))
        return frame.with_df(frame.df.drop(_KIND))

    def _dropped(self) -> Column:
        from pyspark.sql import functions as F

        kinds = [_TRUNCATION]
        if self._mode != _REWRITE_WITH_TOMBSTONE:
            kinds.append(_NO_VALUE)
        if self._mode == _DROP:
            kinds.append(_DELETION)
        return F.when(F.col(_KIND).isin(kinds), DROPPED)

    def _branches(
        self, frame: RecordFrame, groups: list[_Group], *, has_events: bool
    ) -> Iterator[tuple[Column, Shape, Column]]:
        """:param has_events: whether good rows may still have the shapes of events: nulls, or those left out."""
        from pyspark.sql import functions as F

        unchanged = F.coalesce(F.col(_KIND), F.lit(_NO_VALUE)) == _NO_VALUE
        for of_shape, shape, column in rows_by_shape(frame, "value"):
            if has_events or not _is_envelope(shape):
                yield of_shape & unchanged, shape, column
        for of_shape, events in groups:
            for side, kind in _SIDES.items():
                change = self._change(events, side)
                if change.shape is not None and change.column is not None:
                    yield of_shape & (F.col(_KIND) == kind), change.shape, change.column

    def _change(self, events: Events, side: Side) -> Change:
        """The new form of rows, or of deletions."""
        rewrites = self._mode in (_REWRITE, _REWRITE_WITH_TOMBSTONE)
        if side == "before" and not rewrites:
            return Change(*events.side("after")) if self._mode == _TOMBSTONE else Change(None)
        deleted = ("true" if side == "before" else "false") if rewrites else None
        facts, error = events.facts(self._fields)
        change = events.flat(side, facts, deleted, replace_null=self._replace_null)
        return Change(change.shape, change.column, _first([error, change.error]))

    def _row_errors(self, groups: list[_Group]) -> Iterator[Column | None]:
        for of_shape, events in groups:
            for side, kind in _SIDES.items():
                wrong_topic = events.topic(side, self._route)[1] if self._route else None
                problem = _first([wrong_topic, self._change(events, side).error])
                yield None if problem is None else _when(of_shape, kind, problem)

    def _event_errors(self, groups: list[_Group], scope: Scope) -> Iterator[Column | None]:
        from pyspark.sql import functions as F

        for of_shape, events in groups:
            facts, error = events.facts(self._headers)
            encoded = (scope.header_converter.encode(fact.shape, fact.column) for fact in facts)
            problem = _first([error, *(header.error for header in encoded), events.problem])
            if problem is not None:
                yield F.when(of_shape & F.col(_KIND).isin(_ROW, _DELETION, _TRUNCATION), problem)

    def _with_facts(self, groups: list[_Group], rows: Rows) -> Column:
        """The existing headers, and metadata; for a tombstone only that something was deleted."""
        from pyspark.sql import functions as F

        none = F.array().cast(HEADERS)
        encode: Callable[[Shape, Column], Encoded] = rows.scope.header_converter.encode
        deleted = encode(Shape(STRING_SCHEMA), F.lit("d")).bytes
        of_tombstone = [_header(fact.name, deleted) for fact in self._headers if fact.field == "op"]
        added = [F.when(F.col(_KIND) == _NO_VALUE, F.array(*of_tombstone).cast(HEADERS))]
        for of_shape, events in groups:
            headers = (
                F.when(fact.exists, _header(fact.name, encode(fact.shape, fact.column).bytes))
                for fact in events.facts(self._headers)[0]
            )
            new_headers = F.array_compact(F.array(*headers).cast(HEADERS))
            added.append(F.when(of_shape & F.col(_KIND).isNotNull(), new_headers))
        old = none if rows.headers is None else F.coalesce(rows.headers, none)
        return F.concat(old, F.coalesce(*added, none))

    def _topic(self, groups: list[_Group], rows: Rows) -> Column:
        from pyspark.sql import functions as F

        topics = [
            _when(of_shape, kind, events.topic(side, self._route)[0])
            for of_shape, events in groups
            for side, kind in _SIDES.items()
        ]
        topic = F.coalesce(*topics, F.lit(None).cast("string"))
        return F.when(F.trim(topic) != "", topic).otherwise(rows.topic)


def has_change_events(frame: RecordFrame) -> bool:
    """Whether a row can be a change event."""
    return bool(_groups(frame))


def without_events(frame: RecordFrame) -> RecordFrame:
    """A frame whose change events were all replaced, without their shapes: only nulls have them."""
    from pyspark.sql import functions as F

    union = frame.value
    kept = [n for n, shape in enumerate(union.shapes) if not _is_envelope(shape)]
    if union.tag is None or len(kept) == len(union.shapes):
        return frame
    tags = [F.when(F.col(union.tag) == n, number) for number, n in enumerate(kept)]
    columns = {union.tag: F.coalesce(*tags, F.lit(None).cast("int"))}
    dropped = [name for n, name in enumerate(union.columns) if n not in kept]
    value = Union(tuple(union.shapes[n] for n in kept), tuple(union.columns[n] for n in kept), union.tag)
    return replace(frame.with_columns(columns, without=dropped), value=value)


def _is_envelope(shape: Shape) -> bool:
    """Whether all records of a shape are events, but for nulls."""
    from pyspark.sql import functions as F

    return shape.schema is not None and events_of(shape, F.lit(None)) is not None


_SIDES: Mapping[Side, str] = {"after": _ROW, "before": _DELETION}


def _references(texts: list[str], prefix: str) -> list[Reference]:
    """:raises ValueError: one is wrong."""
    return [Reference.parse(text, prefix) for text in texts if text]


def _groups(frame: RecordFrame) -> list[_Group]:
    """Which rows have a shape that change events may have, and the events."""
    candidates = ((of_shape, events_of(shape, column)) for of_shape, shape, column in rows_by_shape(frame, "value"))
    return [(of_shape, events) for of_shape, events in candidates if events is not None]


def _kind(frame: RecordFrame, groups: list[_Group], where: Column | None) -> Column:
    """STRING, null for records that pass through unchanged."""
    from pyspark.sql import Column
    from pyspark.sql import functions as F

    present = reduce(Column.__or__, (frame.df[name].isNotNull() for name in frame.value.columns), F.lit(False))
    kind = F.when(~present, _NO_VALUE)
    for of_shape, events in groups:
        after, before = events.side("after")[1], events.side("before")[1]
        of_event = F.when(after.isNotNull(), _ROW).when(before.isNotNull(), _DELETION).otherwise(_TRUNCATION)
        kind = kind.when(of_shape & events.is_event, of_event)
    return kind if where is None else F.when(where, kind)


def _when(of_shape: Column, kind: str, column: Column) -> Column:
    from pyspark.sql import functions as F

    return F.when(of_shape & (F.col(_KIND) == kind), column)


def _header(name: str, data: Column) -> Column:
    from pyspark.sql import functions as F

    return F.struct(F.lit(name).alias("key"), data.alias("value"))


def _first(texts: list[Column | None]) -> Column | None:
    from pyspark.sql import functions as F

    present = [text for text in texts if text is not None]
    return F.coalesce(*present) if present else None
