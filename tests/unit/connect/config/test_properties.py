"""Java .properties: what java.util.Properties reads and writes."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from airflow_kconnect.connect.config.properties import dump, pairs, parse
from airflow_kconnect.connect.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a=b", {"a": "b"}, id="equals"),
        pytest.param("a:b", {"a": "b"}, id="colon"),
        pytest.param("a b", {"a": "b"}, id="blank"),
        pytest.param("a \t=\f b c ", {"a": "b c "}, id="blanks around the separator, trailing blank kept"),
        pytest.param("a==b", {"a": "=b"}, id="only one separator is taken"),
        pytest.param("a = : b", {"a": ": b"}, id="second separator belongs to the value"),
        pytest.param("a", {"a": ""}, id="key alone"),
        pytest.param("=b", {"": "b"}, id="empty key"),
        pytest.param("# c\n! c\n\n  # c\na=1", {"a": "1"}, id="comments and blank lines"),
        pytest.param("a=1#2!3", {"a": "1#2!3"}, id="no comment after a value"),
        pytest.param("a=1\\\n   2\\\r\n3", {"a": "123"}, id="continuation drops leading blanks"),
        pytest.param("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}, id="two backslashes do not continue"),
        pytest.param("a=1\\\n# 2", {"a": "1# 2"}, id="a continuation is not a comment"),
        pytest.param("a=1\\", {"a": "1"}, id="continuation at the end of the file"),
        pytest.param("a=1\rb=2\r\nc=3", {"a": "1", "b": "2", "c": "3"}, id="all line ends"),
        pytest.param(r"a\=b\:c\ d=e", {"a=b:c d": "e"}, id="escaped separators in a key"),
        pytest.param(r"a=\t\n\r\f\\\q", {"a": "\t\n\r\f\\q"}, id="escapes"),
        pytest.param(r"a=\u00e9\u0041", {"a": "éA"}, id="unicode escape"),
        pytest.param(r"a=\ud83d\ude00", {"a": "😀"}, id="two escapes are one character"),
        pytest.param("a=1\na=2", {"a": "2"}, id="the last value of a key counts"),
        pytest.param("a=é", {"a": "é"}, id="plain text beyond ASCII"),
    ],
)
def test_text_is_read_as_java_reads_it(text: str, expected: dict[str, str]) -> None:
    assert parse(text) == expected


def test_malformed_unicode_escape_names_the_line() -> None:
    with pytest.raises(ConfigError, match=r"line 2: malformed \\uXXXX"):
        parse("a=1\nb=\\u12x")


def test_pairs_keep_repeated_keys() -> None:
    assert pairs("a=1\na=2") == [("a", "1"), ("a", "2")]


@example({"\\ ": ""})
@given(st.dictionaries(st.text(), st.text()))
def test_what_is_written_is_read_again(mapping: dict[str, str]) -> None:
    assert parse(dump(mapping)) == mapping


@given(st.dictionaries(st.text(), st.text()))
def test_written_text_is_ascii(mapping: dict[str, str]) -> None:
    assert dump(mapping).isascii()


@given(st.text(alphabet="ab=: \t\f\\\n\r#!u0"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        result = parse(text)
    except ConfigError:
        return
    assert parse(dump(result)) == result
