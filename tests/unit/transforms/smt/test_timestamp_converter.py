"""The configuration of TimestampConverter."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.timestamp_converter import TimestampConverterKey, TimestampConverterValue


def test_defaults() -> None:
    assert TimestampConverterValue({"target.type": "unix"}).config_values == {
        "field": "",
        "target.type": "unix",
        "format": "",
        "unix.precision": "milliseconds",
        "replace.null.with.default": True,
    }


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'Missing required configuration "target.type" which has no default value'),
        ({"target.type": "date"}, "String must be one of: string, unix, Date, Time, Timestamp"),
        (
            {"target.type": "unix", "unix.precision": "ms"},
            "String must be one of: nanoseconds, microseconds, milliseconds, seconds",
        ),
    ],
)
def test_values_must_be_known(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TimestampConverterValue(config)


@pytest.mark.parametrize("pattern", [{}, {"format": ""}, {"format": " \t"}])
def test_texts_need_a_format(pattern: dict[str, str]) -> None:
    text = "TimestampConverter requires format option to be specified when using string timestamps"
    assert TimestampConverterValue.validate({"target.type": "string", **pattern}) == {"format": [text]}
    assert TimestampConverterValue.validate({"target.type": "Date", **pattern}) == {}


@pytest.mark.parametrize(
    ("target", "pattern", "problem"),
    [
        ("string", "yyyyTHH", "Illegal pattern character 'T'"),
        ("unix", "yyyy'", "Unterminated quote"),
        ("unix", "YYYY-MM-dd", "Texts can be written with Y, but not be read"),
        ("string", "YYYY-MM-dd", None),
        ("unix", "yyyy-MM-dd", None),
    ],
)
def test_formats_must_be_of_use(target: str, pattern: str, problem: str | None) -> None:
    text = "TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: "
    expected = {"format": [f"{text}{pattern}: {problem}"]} if problem else {}
    assert TimestampConverterValue.validate({"target.type": target, "format": pattern}) == expected


def test_only_its_part_is_read() -> None:
    config = {"target.type": "unix"}
    assert TimestampConverterKey(config).needs == {"key"}
    assert TimestampConverterValue(config).needs == frozenset()
