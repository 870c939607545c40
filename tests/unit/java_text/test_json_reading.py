"""What is wrong with a text that is not JSON."""

from __future__ import annotations

import pytest

from airflow_kconnect.java_text.json_reading import NOT_JSON, why_not_json


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"this is not json", "it is not JSON: there is `this` at line 1, column 1, where a value was expected"),
        (b'{"a":', "it is not JSON: it ends at line 1, column 6, where a value was expected"),
        (b'{"a" 1}', "it is not JSON: there is `1` at line 1, column 6, where `:` was expected"),
        (
            b'{"a":1\n, ?}',
            "it is not JSON: there is `?` at line 2, column 3, where a name in double quotes was expected",
        ),
        (b'{"a":"x', "it is not JSON: there is a text without an end at line 1, column 6"),
        (b"[007 8]", "it is not JSON: there is `8` at line 1, column 6, where `,` or the end of"),
        (b"1 2", "it is not JSON: there is `2` at line 1, column 3, where the end was expected"),
        (b'{"a":NaN}', "it is not JSON: NaN is not a number in JSON"),
        (b'{"a":NaN,"b" 1}', "it is not JSON: there is `1` at line 1, column 14, where `:` was expected"),
        (b"\xef\xbb\xbf{}", "it is not JSON: there is a byte order mark at line 1, column 1"),
        (b'["\xe9"]', "it is not UTF-8: byte 0xe9 at position 2"),
        (b"[" * 100_000, "it nests too deeply"),
        (b"{}", NOT_JSON),
    ],
    ids=lambda value: str(value[:20]),
)
def test_names_what_was_found_where(message: bytes, why: str) -> None:
    assert why_not_json(message).startswith(why)


def test_quotes_one_word_of_the_text_at_most_and_not_all_of_a_long_one() -> None:
    assert "`aaaaaaaaaaaaaaaaaaaa...` " in why_not_json(b"[" + b"a" * 100 + b" secret]")
