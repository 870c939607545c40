"""The decoding of JsonConverter: which shape a message has, and the expressions that read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import SCHEMALESS, Shape
from airflow_kconnect.converters.base import UNKNOWN_SHAPE, Decoded
from airflow_kconnect.converters.json_envelope import ENVELOPE_REQUIRED, KnownEnvelopes, Pattern
from airflow_kconnect.converters.json_read import MALFORMED, parse, read_problem, read_value
from airflow_kconnect.converters.json_rules import Rules
from airflow_kconnect.converters.types import spark_type


def decode_plain(raw: Column, shapes: Sequence[Shape]) -> Decoded:
    """Messages without envelope: all are schemaless, JSON null and empty messages are null."""
    text = raw.cast("string")
    value = F.try_parse_json(text)
    malformed = raw.isNotNull() & value.isNull() & (F.trim(text) != "")
    return _only(F.when(~F.is_variant_null(value), value), SCHEMALESS, shapes, F.when(malformed, MALFORMED))


def decode_bare(raw: Column, shape: Shape, shapes: Sequence[Shape], rules: Rules) -> Decoded:
    """Messages that are payloads of a known schema (`schema.content`)."""
    text = F.when(F.trim(raw.cast("string")) == "", F.lit(b"null")).otherwise(raw)
    parsed = parse(shape.schema, text)
    problem = F.when(raw.isNotNull(), read_problem(shape.schema, parsed, rules))
    value = F.when(raw.isNotNull(), read_value(shape.schema, parsed, rules))
    return _only(value, shape, shapes, problem, present=raw.isNotNull())


def _only(value: Column, shape: Shape, shapes: Sequence[Shape], problem: Column, present: Column | None = None) -> Decoded:
    """The answer where all messages have one shape; null values have none, unless `present` says so."""
    tag = shapes.index(shape) if shape in shapes else UNKNOWN_SHAPE
    columns = tuple(value if index == tag else _nothing(other) for index, other in enumerate(shapes))
    return Decoded(F.when(value.isNotNull() if present is None else present, tag), columns, problem)


def decode_envelopes(raw: Column, shapes: Sequence[Shape], known: KnownEnvelopes, rules: Rules) -> Decoded:
    """Messages in envelopes: the bytes around the payload tell the shape, the payload alone is parsed."""
    columns, problems, cases = [], [], [Case(raw.isNull())]
    for tag, shape in enumerate(shapes):
        patterns = known.patterns(shape, rules.decimal_format)
        parsed = parse(shape.schema, _first_true((_matches(raw, p), _slice(raw, p)) for p in patterns))
        columns.append(read_value(shape.schema, parsed, rules))
        problems.append(read_problem(shape.schema, parsed, rules))
        own_tag = F.when(columns[tag].isNotNull(), tag) if shape.schemaless else F.lit(tag)
        cases += [Case(_matches(raw, pattern), own_tag) for pattern in patterns]
    cases += [*_other_known(raw, shapes, known), *_unknown(raw)]
    problems.append(_first_true((case.condition, case.problem) for case in cases))
    # Unlike coalesce, greatest evaluates all: what columns and problems have in common is then parsed once.
    problem = F.greatest(*problems) if shapes else problems[0]
    return Decoded(_first_true((case.condition, case.tag) for case in cases), tuple(columns), problem)


class Case(NamedTuple):
    """How a message can look, and what it is then; the first case that holds counts."""

    condition: Column
    tag: Column | None = None
    problem: str | None = None


def _other_known(raw: Column, shapes: Sequence[Shape], known: KnownEnvelopes) -> Iterator[Case]:
    for pattern, shape in known.shapes.items():
        if shape not in shapes:
            yield Case(_matches(raw, pattern), F.lit(UNKNOWN_SHAPE))
    for pattern, problem in known.problems.items():
        yield Case(_matches(raw, pattern), problem=problem)


def _unknown(raw: Column) -> Iterator[Case]:
    """Messages that were never seen: only these are parsed as a whole."""
    text = raw.cast("string")
    message = F.try_parse_json(text)
    members = F.json_object_keys(F.to_json(message))
    is_envelope = F.coalesce(members == F.array(F.lit("payload"), F.lit("schema")), F.lit(False))
    yield Case(F.trim(text) == "", problem=ENVELOPE_REQUIRED)
    yield Case(message.isNull(), problem=MALFORMED)
    yield Case(~is_envelope, problem=ENVELOPE_REQUIRED)
    yield Case(F.lit(True), F.lit(UNKNOWN_SHAPE))


def _first_true(branches: Iterable[tuple[Column, Column | str | None]]) -> Column:
    first, *others = branches
    return reduce(lambda chain, branch: chain.when(*branch), others, F.when(*first))


def _matches(raw: Column, pattern: Pattern) -> Column:
    longer = F.octet_length(raw) > len(pattern.prefix) + len(pattern.suffix)
    return longer & F.startswith(raw, F.lit(pattern.prefix)) & F.endswith(raw, F.lit(pattern.suffix))


def _slice(raw: Column, pattern: Pattern) -> Column:
    around = len(pattern.prefix) + len(pattern.suffix)
    return F.substring(raw, F.lit(len(pattern.prefix) + 1), F.octet_length(raw) - F.lit(around))


def _nothing(shape: Shape) -> Column:
    return F.lit(None).cast(spark_type(shape.schema))
