"""Patterns of SimpleDateFormat: their parts, and what is refused."""

from __future__ import annotations

import pytest

from airflow_kconnect.transforms.expressions.date_patterns import DatePattern, Letters, pattern_problem


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("yyyyMMdd", (Letters("y", 4), Letters("M", 2), Letters("d", 2))),
        ("H:mm", (Letters("H", 1), ":", Letters("m", 2))),
        ("yyyy'T'X", (Letters("y", 4), "T", Letters("X", 1))),
        ("'it''s'd", ("it's", Letters("d", 1))),
        ("h 'o''clock' ''a''", (Letters("h", 1), " ", "o'clock", " ", "'", Letters("a", 1), "'")),
        ("'yyyy'''", ("yyyy'",)),
        ("yyyy'年'M", (Letters("y", 4), "年", Letters("M", 1))),
        ("d.é\n", (Letters("d", 1), ".", "é", "\n")),
        ("", ()),
    ],
)
def test_quotes_and_letters(text: str, parts: tuple[str | Letters, ...]) -> None:
    assert DatePattern.parse(text).parts == parts


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("yyyy-MM-ddThh", "Illegal pattern character 'T'"),
        ("nnn", "Illegal pattern character 'n'"),
        ("XXXX", "invalid ISO 8601 format: length=4"),
        ("'", "Unterminated quote"),
        ("yyyy'T", "Unterminated quote"),
        ("GyYMLwWDdFEuaHkKhmsSzZXXX", None),
    ],
)
def test_problems_are_those_of_java(text: str, problem: str | None) -> None:
    assert pattern_problem("format", text) == problem


@pytest.mark.parametrize(
    ("text", "unreadable"),
    [
        ("YYYY-'W'ww G", "Texts can be written with G, Y, w, but not be read"),
        ("yyyy u", "Texts can be written with u, but not be read"),
        ("EEE, dd MMM yyyy HH:mm:ss.SSS a z Z X D k K h L", None),
    ],
)
def test_weeks_their_days_and_eras_are_only_written(text: str, unreadable: str | None) -> None:
    assert DatePattern.parse(text).unreadable == unreadable


@pytest.mark.parametrize(
    ("letters", "is_number"),
    [(("M", 2), True), (("M", 3), False), (("L", 3), False), (("u", 4), True), (("E", 1), False), (("S", 9), True)],
)
def test_names_and_numbers(letters: tuple[str, int], is_number: bool) -> None:
    assert Letters(*letters).is_number is is_number
