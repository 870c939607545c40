"""JSON lines: an object for each line, parsed by Arrow in batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from airflow_kconnect.connect.data import STRING_SCHEMA, ConnectSchema
from airflow_kconnect.connectors.record_files.config import AS_TEXT, GIVEN, NONE
from airflow_kconnect.connectors.record_files.formats.base import Columns, RecordFormat, Rows
from airflow_kconnect.connectors.record_files.formats.json_objects import objects_of
from airflow_kconnect.connectors.record_files.formats.lines import lines_of
from airflow_kconnect.connectors.record_files.types import Description, arrow_of, described, schema_of
from airflow_kconnect.connectors.record_files.values import ROW, Errors, isolated, quoted, typed
from airflow_kconnect.converters.json.batches import has_no_number

_SAMPLE = 1024 * 1024
_INTEGERS = pa.decimal128(38, 0)
_CURE = "give their types in `schema.types`, or set `schema.inference` to none"
_CURE_GIVEN = "give it another type in `value.schema`"


class JsonFormat(RecordFormat):
    """Its positions are bytes."""

    def columns(self, known: Mapping[str, Description]) -> Columns | None:
        """The members that are known, and those of a sample."""
        if self.settings.inference in (NONE, AS_TEXT):
            return None
        if self.settings.inference == GIVEN:
            return dict(self.settings.types)
        filled = map(_filled, lines_of(self.source, 0, None, _SAMPLE))
        if (sample := next((lines for lines in filled if len(lines)), None)) is None:
            return {}
        try:
            found = _found(sample, _read_fields(known))
        except pa.ArrowTypeError as error:
            raise self.source.unreadable(
                f"has members with values of several types ({_line(error)}): {_CURE}"
            ) from error
        if not known and not len(found):  # what has no columns would pass for an empty file
            raise self.source.unreadable(
                f"has no line that is a JSON object with members at its beginning: {quoted(sample[0].as_py())}"
            )
        new = [field for field in found if field.name not in known]
        exact = _with_large_integers(pa.struct(new), sample)
        return {**known, **{field.name: described(field.type, texts_only=True) for field in exact}}

    def schema(self, columns: Columns | None) -> ConnectSchema | None:
        if columns is None:
            return STRING_SCHEMA if self.settings.inference == AS_TEXT else None
        return schema_of(pa.schema([(name, arrow_of(each)) for name, each in columns.items()]), self.source.name)

    def cuts(self, begin: int) -> list[int]:
        return self.source.line_starts(begin)

    def rows(self, columns: Columns | None, begin: int, end: int) -> Iterator[Rows]:
        are_given = self.settings.inference == GIVEN
        for lines in lines_of(self.source, begin, end):
            if len(given := _filled(lines)):
                made = objects_of(given) if columns is None else _structs_of(given, columns, are_given=are_given)
                yield Rows(*made)


def _filled(lines: pa.Array) -> pa.Array:
    """Without empty lines."""
    return lines.filter(pc.greater(pc.binary_length(lines), 0))


def _structs_of(lines: pa.Array, columns: Columns, *, are_given: bool) -> tuple[pa.Array, Errors]:
    """:param are_given: the types of all members that are not to be left out."""
    others, cure = ("ignore", _CURE_GIVEN) if are_given else ("error", _CURE)
    fields = [pa.field(name, arrow_of(each)) for name, each in columns.items()]

    def parse(given: pa.Array) -> pa.Array:
        table = _read(_stripped(given), _read_fields(columns), others)
        members = [typed(table.column(field.name).combine_chunks(), field.type) for field in fields]
        return pa.StructArray.from_arrays(members, fields=fields)

    def why(given: pa.Array, error: Exception) -> str:
        return _why(given[0].as_py(), error, cure)

    return isolated(lines, parse, pa.struct(fields), why)


def _read(lines: pa.Array, fields: Sequence[pa.Field], others: str) -> pa.Table:
    """:raises ValueError: a line is not one object, or not UTF-8, or does not fit the fields."""
    lines.cast(pa.string())  # Arrow's parser takes any bytes for texts
    if not pc.all(_look_like_objects(lines)).as_py():
        raise ValueError("a line is not an object")
    whole = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), b"\n")[0].as_buffer()
    table = pj.read_json(
        pa.BufferReader(whole),
        read_options=pj.ReadOptions(use_threads=False, block_size=whole.size + 1),
        parse_options=pj.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior=others),
    )
    if table.num_rows != len(lines):
        raise ValueError("a line has several objects")
    if has_no_number(whole.to_pybytes()) and not all(map(_is_object, lines.to_pylist())):
        raise ValueError("a line has NaN or an infinity, which JSON has not")
    return table


def _look_like_objects(lines: pa.Array) -> pa.Array:
    """With these brackets a line cannot continue the one before, so that as many objects as lines are one for each."""
    first, last = pc.binary_slice(lines, 0, 1), pc.binary_slice(lines, -1, 2**31 - 1)
    return pc.and_(pc.equal(first, b"{"), pc.equal(last, b"}"))


def _stripped(lines: pa.Array) -> pa.Array:
    """A line alone may have spaces around it."""
    return pa.array([lines[0].as_py().strip()], pa.binary()) if len(lines) == 1 else lines


def _found(sample: pa.Array, fields: Sequence[pa.Field]) -> pa.Schema:
    """The members of a sample, without the lines that are bad.

    :raises pa.ArrowTypeError: a member has values of several types.
    """
    try:
        return _read(_stripped(sample), fields, "infer").schema
    except ValueError:
        if len(sample) < 2:
            return pa.schema(fields)
    half = len(sample) // 2
    parts = [_with_texts(_found(part, fields)) for part in (sample[:half], sample[half:])]
    return pa.unify_schemas(parts, promote_options="permissive")


def _with_texts(members: pa.Schema) -> pa.Schema:
    """What looks like a time in one half of a sample may be any text in the other one."""
    return pa.schema([field.with_type(_text_for_time(field.type)) for field in members])


def _text_for_time(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_text_for_time(field.type)) for field in type_])
    if pa.types.is_list(type_):
        return pa.list_(_text_for_time(type_.value_type))
    return pa.string() if pa.types.is_temporal(type_) else type_


def _with_large_integers(type_: pa.StructType, sample: pa.Array) -> pa.StructType:
    """The type of objects, with decimals where Arrow takes integers for doubles: they have more than 64 bits."""
    if not pc.any(pc.match_substring_regex(sample, "[0-9]{19}")).as_py():
        return type_
    return _of_integers(type_, [json.loads(line) for line in sample.to_pylist() if _is_object(line)])


def _of_integers(type_: pa.DataType, values: Sequence[Any]) -> pa.DataType:
    """A type that was found for values, which may be others where they are in bad lines."""
    if pa.types.is_struct(type_):
        objects = [each for each in values if isinstance(each, dict)]
        return pa.struct([f.with_type(_of_integers(f.type, [each.get(f.name) for each in objects])) for f in type_])
    if pa.types.is_list(type_):
        return pa.list_(_of_integers(type_.value_type, [v for each in values if isinstance(each, list) for v in each]))
    given = [each for each in values if each is not None]
    if not given or not pa.types.is_floating(type_) or not all(type(each) is int for each in given):
        return type_
    return _INTEGERS if max(map(abs, given)) < 10**_INTEGERS.precision else type_


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line, parse_constant=_refused), dict)
    except ValueError:
        return False


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read_fields(columns: Mapping[str, Description]) -> list[pa.Field]:
    """As Arrow reads them: times are texts first."""
    types = {name: arrow_of(each) for name, each in columns.items()}
    return [pa.field(name, pa.string() if pa.types.is_temporal(type_) else type_) for name, type_ in types.items()]


def _why(text: bytes, error: Exception, cure: str) -> str:
    if not _is_utf_8(text):
        return f"is not in UTF-8 (see `file.charset`): {quoted(text, ROW)}"
    if not _is_object(text):
        return f"is not a JSON object: {quoted(text, ROW)}"
    what = f"does not have the expected members and types ({_line(error)})"
    return f"{what}: {quoted(text, ROW)}. If it is right, {cure}"


def _line(error: Exception) -> str:
    return str(error).splitlines()[0].removeprefix("JSON parse error: ")
