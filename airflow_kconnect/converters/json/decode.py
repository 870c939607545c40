"""Decoding for JsonConverter: which shape a message has, and the expressions that read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, SchemaType, Shape
from airflow_kconnect.converters.base import UNKNOWN_SHAPE, Decoded, Hints, Let
from airflow_kconnect.converters.json.envelopes import ENVELOPE_REQUIRED, UNREADABLE, KnownEnvelopes, Pattern
from airflow_kconnect.converters.json.numbers import has_integers, parsed_json
from airflow_kconnect.converters.json.read import (
    MALFORMED_JSON,
    list_of,
    of_strings,
    parse,
    parse_again,
    parse_strings,
    read_problem,
    read_struct,
    read_value,
    struct_problem,
    with_doubles,
)
from airflow_kconnect.converters.json.rules import Rules
from airflow_kconnect.converters.types import spark_type


def decode_plain(raw: Column, shapes: Sequence[Shape], let: Let) -> Decoded:
    """Decode messages without envelopes: all are schemaless; JSON null and empty messages are null."""
    [text] = let({"text": raw.cast("string")})
    [value] = let({"parsed": F.when(F.is_valid_utf8(text), parsed_json(with_doubles(text)))})
    malformed = raw.isNotNull() & value.isNull() & (F.trim(text) != "")
    return _only(F.when(~F.is_variant_null(value), value), SCHEMALESS, shapes, F.when(malformed, MALFORMED_JSON))


def decode_bare(raw: Column, shape: Shape, shapes: Sequence[Shape], rules: Rules, let: Let) -> Decoded:
    """Decode messages that are payloads of a known schema (`schema.content`)."""
    text = F.when(F.trim(raw.cast("string")) == "", F.lit(b"null")).otherwise(raw)
    [first] = let({"first": parse(shape.schema, text)})
    [parsed] = let({"parsed": parse_again(shape.schema, text, first)})
    problem = F.when(raw.isNotNull(), read_problem(shape.schema, parsed, rules))
    value = F.when(raw.isNotNull(), read_value(shape.schema, parsed, rules))
    return _only(value, shape, shapes, problem, present=raw.isNotNull())


def _only(
    value: Column, shape: Shape, shapes: Sequence[Shape], problem: Column, present: Column | None = None
) -> Decoded:
    """The result where all messages have one shape; null values have none, unless `present` says so."""
    tag = shapes.index(shape) if shape in shapes else UNKNOWN_SHAPE
    columns = tuple(value if index == tag else _nothing(other) for index, other in enumerate(shapes))
    return Decoded(F.when(value.isNotNull() if present is None else present, tag), columns, problem)


def decode_parsed(shapes: Sequence[Shape], rules: Rules, hints: Hints) -> Decoded:
    """Decode messages whose payloads were all parsed where they were read."""
    tag = _first_true((hints.parsed[index].isNotNull(), F.lit(index)) for index in range(len(shapes)))
    read = [_of_hint(shape.schema, hints.parsed[index], rules) for index, shape in enumerate(shapes) if shape.schema]
    return Decoded(tag, tuple(value for value, _ in read), F.coalesce(*(problem for _, problem in read)))


def decode_envelopes(
    raw: Column,
    shapes: Sequence[Shape],
    known: KnownEnvelopes,
    rules: Rules,
    let: Let,
    hints: Hints,
) -> Decoded:
    """Decode messages in envelopes: the bytes around the payload identify the shape, only the payload is parsed."""
    ready = [Case(column.isNotNull(), index, parsed=True) for index, column in hints.parsed.items()]
    cases = [*ready, Case(raw.isNull()), *_known(raw, shapes, known, rules), *_unknown(raw, shapes, known, rules)]
    [case] = let({"case": _first_true((case.condition, index) for index, case in enumerate(cases))})
    tag, *texts = let(
        {"shape": _of_case(case, {index: candidate.tag for index, candidate in enumerate(cases)}, "int")}
        | {f"text_{index}": _payload(raw, case, cases, index) for index in range(len(shapes))}
    )
    parsed = _parsed(shapes, texts, let)
    read = [_read(shape, parsed[index], hints.parsed.get(index), rules) for index, shape in enumerate(shapes)]
    values = let({f"value_{index}": value for index, (value, _) in enumerate(read)})
    for index, shape in enumerate(shapes):
        if shape.schemaless:
            tag = F.when((tag != index) | values[index].isNotNull(), tag)
    own = _of_case(case, {index: candidate.problem for index, candidate in enumerate(cases)}, "string")
    return Decoded(tag, tuple(values), F.coalesce(own, *(problem for _, problem in read)))


def _parsed(shapes: Sequence[Shape], texts: Sequence[Column], let: Let) -> list[Column]:
    """The payloads of each shape as `read_value` takes them."""
    of_texts = [n for n, shape in enumerate(shapes) if shape.schema is not None and of_strings(shape.schema)]
    lists = dict(zip(of_texts, let({f"list_{n}": list_of(texts[n]) for n in of_texts}), strict=True))

    def parsed(index: int, schema: ConnectSchema | None) -> Column:
        if schema is not None and index in lists:
            return parse_strings(schema, texts[index], lists[index])
        return parse(schema, texts[index])

    columns = let({f"parsed_{index}": parsed(index, shape.schema) for index, shape in enumerate(shapes)})
    again = {
        n: parse_again(shape.schema, texts[n], columns[n])
        for n, shape in enumerate(shapes)
        if has_integers(shape.schema)
    }
    whole = dict(zip(again, let({f"whole_{n}": column for n, column in again.items()}), strict=True))
    return [whole.get(n, column) for n, column in enumerate(columns)]


def _read(shape: Shape, parsed: Column, hint: Column | None, rules: Rules) -> tuple[Column, Column]:
    """The values of a shape, and what is wrong with them.

    :param hint: values that were parsed where the messages were read.
    """
    value, problem = read_value(shape.schema, parsed, rules), read_problem(shape.schema, parsed, rules)
    if shape.schema is None or hint is None:
        return value, problem
    if shape.schema.type is SchemaType.STRING:
        return F.coalesce(hint, value), problem
    here, (own, wrong) = hint.isNotNull(), _of_hint(shape.schema, hint, rules)
    return F.when(here, own).otherwise(value), F.when(here, wrong).otherwise(problem)


def _of_hint(schema: ConnectSchema, hint: Column, rules: Rules) -> tuple[Column, Column]:
    """The values that were parsed where the messages were read, and what is wrong with them."""
    if schema.type is SchemaType.STRING:
        return hint, F.lit(None).cast("string")
    value, here = read_struct(schema, hint, rules), hint.isNotNull()
    return value if value is hint else F.when(here, value), F.when(here, struct_problem(schema, hint, rules))


def _of_case(case: Column, answers: Mapping[int, int | str | None], kind: str) -> Column:
    """The value for a case; null for most cases."""
    branches = [(case == index, F.lit(answer)) for index, answer in answers.items() if answer is not None]
    return _first_true(branches) if branches else F.lit(None).cast(kind)


class Case(NamedTuple):
    """One form that a message can have, and what it then is; the first case that holds wins.

    :param pattern: the known bytes around the payload.
    :param parsed: whether the payload was parsed where the message was read.
    """

    condition: Column
    tag: int | None = None
    problem: str | None = None
    pattern: Pattern | None = None
    parsed: bool = False


def _known(raw: Column, shapes: Sequence[Shape], known: KnownEnvelopes, rules: Rules) -> Iterator[Case]:
    """Messages that look like ones seen before."""
    for tag, shape in enumerate(shapes):
        for pattern in known.patterns(shape, rules.decimal_format):
            yield Case(_matches(raw, pattern), tag, pattern=pattern)
    for pattern, shape in known.shapes.items():
        if shape not in shapes:
            yield Case(_matches(raw, pattern), UNKNOWN_SHAPE)
    for pattern, problem in known.problems.items():
        yield Case(_matches(raw, pattern), problem=problem)


def _unknown(raw: Column, shapes: Sequence[Shape], known: KnownEnvelopes, rules: Rules) -> Iterator[Case]:
    """All other messages; only these are parsed as a whole, and their schemas compared in canonical form."""
    text = raw.cast("string")
    message = parsed_json(text)
    members = F.json_object_keys(F.to_json(message))
    is_envelope = F.coalesce(members == F.array(F.lit("payload"), F.lit("schema")), F.lit(False))
    yield Case(F.trim(text) == "", problem=ENVELOPE_REQUIRED)
    yield Case(message.isNull() | ~F.is_valid_utf8(text), problem=MALFORMED_JSON)
    yield Case(~is_envelope, problem=ENVELOPE_REQUIRED)
    schema = F.to_json(_member(message, "schema"))
    for tag, shape in enumerate(shapes):
        yield Case(schema.isin(known.canonical_texts(shape, rules.decimal_format)), tag)
    if known.hopeless:
        # Otherwise such a record would be unknown again and again and could never be skipped.
        yield Case(F.sha2(raw, 256).isin(*sorted(known.hopeless)), problem=UNREADABLE)
    yield Case(F.lit(True), UNKNOWN_SHAPE)


def _payload(raw: Column, case: Column, cases: Sequence[Case], tag: int) -> Column:
    """BINARY text of the payload in messages of one shape; null for all others."""
    parsed = F.to_json(_member(parsed_json(raw.cast("string")), "payload")).cast("binary")
    of_shape = [
        (index, candidate.pattern)
        for index, candidate in enumerate(cases)
        if candidate.tag == tag and not candidate.parsed
    ]
    return _first_true((case == index, _slice(raw, pattern) if pattern else parsed) for index, pattern in of_shape)


def _member(message: Column, name: str) -> Column:
    return F.try_variant_get(message, f"$.{name}", "variant")


def _first_true(branches: Iterable[tuple[Column, Column | str | int | None]]) -> Column:
    first, *others = branches
    return reduce(lambda chain, branch: chain.when(*branch), others, F.when(*first))


def _matches(raw: Column, pattern: Pattern) -> Column:
    before, after = len(pattern.prefix), len(pattern.suffix)
    # Not startswith and endswith: below from_json, Spark would call them by reflection.
    starts = F.substring(raw, 1, before) == F.lit(pattern.prefix)
    ends = F.substring(raw, -after, after) == F.lit(pattern.suffix)
    return (F.octet_length(raw) > before + after) & starts & ends


def _slice(raw: Column, pattern: Pattern) -> Column:
    around = len(pattern.prefix) + len(pattern.suffix)
    return F.substring(raw, F.lit(len(pattern.prefix) + 1), F.octet_length(raw) - F.lit(around))


def _nothing(shape: Shape) -> Column:
    return F.lit(None).cast(spark_type(shape.schema))
