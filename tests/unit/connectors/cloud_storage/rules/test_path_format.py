"""Joda-Time's patterns: what they make of moments."""

from __future__ import annotations

import datetime

import pytest

from airflow_kconnect.connectors.cloud_storage.rules.path_format import PathFormat, time_zone

AT = datetime.datetime(2024, 3, 5, 13, 7, 9, 42_000, tzinfo=datetime.UTC)
NIGHT = datetime.datetime(2024, 12, 30, 0, 0, tzinfo=datetime.UTC)


def text(pattern: str, at: datetime.datetime = AT, zone: str = "UTC", locale: str = "en") -> str:
    return PathFormat(pattern, zone, locale).texts()(int(at.timestamp() * 1000))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH", "year=2024/month=03/day=05/hour=13"),
        ("yyyy-MM-dd", "2024-03-05"),
        ("YY/yy/xx", "24/24/24"),
        ("Y.M.d.H.m.s", "2024.3.5.13.7.9"),
        ("YYYYY", "02024"),
        ("D DDD", "65 065"),
        ("MMM MMMM", "Mar March"),
        ("E EEE EEEE e", "Tue Tue Tuesday 2"),
        ("h hh K k a", "1 01 1 13 PM"),
        ("mm:ss.SSS", "07:09.042"),
        ("S SS SSSSS", "0 04 04200"),
        ("C G", "20 AD"),
        ("'it''s' '' yyyy", "it's ' 2024"),
        ("", ""),
    ],
)
def test_text_of_a_moment(pattern: str, expected: str) -> None:
    assert text(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"), [("YYYY xxxx ww", "2024 2025 01"), ("h K H k a", "12 0 0 24 AM"), ("d", "30")]
)
def test_text_of_a_night_at_the_end_of_a_year(pattern: str, expected: str) -> None:
    assert text(pattern, NIGHT) == expected


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", "+0000 +00:00 UTC UTC"),
        ("Europe/Berlin", "+0100 +01:00 Europe/Berlin CET"),
        ("-03:30", "-0330 -03:30 -03:30 -03:30"),
    ],
)
def test_zones(zone: str, expected: str) -> None:
    assert text("Z ZZ ZZZ z", zone=zone) == expected


@pytest.mark.parametrize(
    ("local", "expected"),
    [("2024-03-31T02:00", "03 +0200"), ("2024-03-31T03:00", "03 +0200"), ("2024-10-27T02:00", "02 +0200")],
)
def test_a_local_time_that_clocks_skip_or_have_twice(local: str, expected: str) -> None:
    at = datetime.datetime.fromisoformat(f"{local}Z")
    assert text("HH Z", at, "Europe/Berlin") == expected


@pytest.mark.parametrize("locale", ["en", "en_US", "en-GB", "US", "UK"])
def test_words_are_english(locale: str) -> None:
    assert text("MMM", locale=locale) == "Mar"


def test_numbers_need_no_language() -> None:
    assert text("MM", locale="ko_KR") == "03"


@pytest.mark.parametrize(
    ("pattern", "locale", "words"),
    [
        ("yyyy/MMM", "de-DE", "English"),
        ("year=YYYY", "en", "single quotes"),
        ("'year=YYYY", "en", "has no end"),
        ("zzzz", "en", "use ZZZ"),
        ("b", "en", "`b`"),
    ],
)
def test_patterns_that_are_refused(pattern: str, locale: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PathFormat(pattern, "UTC", locale)


@pytest.mark.parametrize("name", ["Mars/Base", "", "../etc", "+25:99x"])
def test_zones_that_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a time zone"):
        time_zone(name)
