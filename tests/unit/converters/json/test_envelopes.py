"""Recognising envelopes by the bytes around their payload."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.data import OPTIONAL_STRING_SCHEMA, SCHEMALESS, STRING_SCHEMA, Shape
from airflow_kconnect.converters.json.envelopes import KnownEnvelopes, Pattern, split_envelope
from tests.support.hostile import messages


class TestSplitEnvelope:
    @pytest.mark.parametrize(
        ("message", "pattern"),
        [
            pytest.param(b'{"schema":null,"payload":1}', Pattern(b'{"schema":null,"payload":'), id="compact"),
            pytest.param(
                b' { "schema" : null , "payload" : [1, {"schema":2}] } \n',
                Pattern(b' { "schema" : null , "payload" : ', b" } \n"),
                id="white space, also at the end",
            ),
            pytest.param(
                '{"payload":"ü}\\"","schema":null}'.encode(),
                Pattern(b'{"payload":', b',"schema":null}'),
                id="payload first",
            ),
        ],
    )
    def test_pattern_is_what_surrounds_the_payload(self, message: bytes, pattern: Pattern) -> None:
        assert split_envelope(message) == (pattern, None)
        assert pattern.matches(message)

    @pytest.mark.parametrize(
        "message",
        [
            b"",
            b"{",
            b"7",
            b"[1]",
            b"{}",
            b'{"schema":null}',
            b'{"schema":null,"payload":1,"x":2}',
            b'{"schema":null,"payload":}',
            b"\xff",
            b"[" * 100_000,
            b'{"payload":' + b"[" * 100_000,
        ],
        ids=lambda message: repr(message[:40]),
    )
    def test_anything_else_is_not_an_envelope(self, message: bytes) -> None:
        assert split_envelope(message) is None


class TestKnownEnvelopes:
    def test_forms_of_one_schema_are_one_shape(self) -> None:
        known = KnownEnvelopes()
        forms = (
            b'{"schema":{"type":"string","optional":true},"payload":"a"}',
            b'{"payload": "a", "schema": {"optional": true, "type": "string"}}',
        )
        assert [known.learn(form) for form in forms] == [Shape(OPTIONAL_STRING_SCHEMA)] * 2
        assert len(known.patterns(Shape(OPTIONAL_STRING_SCHEMA), "BASE64")) == 2

    def test_the_form_that_is_written_is_known_from_the_start(self) -> None:
        own = Pattern(b'{"schema":{"type":"string","optional":false},"payload":')
        assert KnownEnvelopes().patterns(Shape(STRING_SCHEMA), "BASE64") == [own]
        assert KnownEnvelopes().canonical_texts(Shape(STRING_SCHEMA), "BASE64") == [
            '{"optional":false,"type":"string"}'
        ]

    def test_no_schema_is_schemaless(self) -> None:
        assert KnownEnvelopes().learn(b'{"schema":null,"payload":{}}') == SCHEMALESS

    def test_a_wrong_schema_is_remembered_as_a_problem(self) -> None:
        known = KnownEnvelopes()
        assert known.learn(b'{"schema":{"type":"int3"},"payload":1}') is None
        assert known.problems == {Pattern(b'{"schema":{"type":"int3"},"payload":'): "Unknown schema type: int3"}

    @pytest.mark.parametrize(
        ("schema", "problem"),
        [
            ('{"type":"array","items":' * 400 + '{"type":"int8"}' + "}" * 400, "nests more than"),
            (
                '{"type":"struct","fields":[' + ",".join(['{"type":"int8"}'] * 6_000) + "]}",
                "more than 5,000",
            ),
            ('{"type":"string","doc":"\\ud800"}', "not Unicode"),
            ('{"type":"\\ud800"}', r"Unknown schema type: \ud800"),
            ('{"type":"double","default":NaN}', "invalid numbers"),
            ('{"type":"nope' + "x" * 10_000 + '"}', "Unknown schema type: nope"),
        ],
        ids=["deep", "wide", "half a character", "in a text of ours", "NaN", "long"],
    )
    def test_why_a_schema_is_refused_can_be_reported_to_java(self, schema: str, problem: str) -> None:
        known = KnownEnvelopes()
        assert known.learn(f'{{"schema":{schema},"payload":1}}'.encode()) is None
        (text,) = known.problems.values()
        assert problem in text
        assert len(text.encode()) <= 300

    @given(st.lists(messages, max_size=5))
    def test_whatever_is_learnt_can_be_named_in_a_plan(self, batch: list[bytes]) -> None:
        known = KnownEnvelopes()
        shapes = [shape for message in batch if (shape := known.learn(message)) is not None]
        texts = [text for shape in shapes for text in known.canonical_texts(shape, "BASE64")]
        assert all(text.encode() for text in [*texts, *known.problems.values()])
        assert all(known.patterns(shape, "BASE64") for shape in shapes)

    def test_it_is_full_before_a_plan_is_too_large(self) -> None:
        known = KnownEnvelopes()
        for n in range(199):
            known.learn(f'{{"schema":{{"type":"t{n}"}},"payload":1}}'.encode())
        assert not known.full
        known.learn(b"no envelope")
        assert known.full
