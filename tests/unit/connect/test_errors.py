"""The errors: texts, exit codes, and their way through pickle (Spark and multiprocessing send them so)."""

from __future__ import annotations

import pickle

import pytest

from airflow_kconnect.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    FencedError,
    InternalError,
    RetriableError,
    first_line,
    in_one_line,
    named,
)
from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA, EXIT_FENCED, EXIT_INTERNAL, EXIT_RETRIABLE

TEXT_ERRORS = [DataError, RetriableError, FencedError, InternalError, ConnectError]
CONFIG_ERRORS = [
    pytest.param(ConfigError({"a": ["one"]}), id="one"),
    pytest.param(ConfigError({"a": ["one", "two"], "b": ["three"]}, "fs"), id="several, with a connector"),
    pytest.param(ConfigError({}), id="none"),
]


@pytest.mark.parametrize("cls", TEXT_ERRORS)
def test_pickle_keeps_class_and_text(cls: type[ConnectError]) -> None:
    again = pickle.loads(pickle.dumps(cls("topic-0@5: bad")))  # noqa: S301
    assert (type(again), str(again)) == (cls, "topic-0@5: bad")


@pytest.mark.parametrize("error", CONFIG_ERRORS)
def test_pickle_keeps_a_config_error(error: ConfigError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.errors, again.connector) == (str(error), error.errors, error.connector)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(ConfigError({"a": ["is bad"]}), "Configuration is invalid: `a`: is bad", id="one"),
        pytest.param(
            ConfigError({"a": ["is bad"]}, "fs"),
            "Configuration of connector fs is invalid: `a`: is bad",
            id="connector",
        ),
        pytest.param(
            ConfigError({"a": ["is bad", "is worse"], "b": ["is odd"]}),
            "Configuration is invalid, 3 errors:\n  `a`: is bad\n  `a`: is worse\n  `b`: is odd",
            id="all of several",
        ),
    ],
)
def test_the_text_of_a_config_error(error: ConfigError, text: str) -> None:
    assert str(error) == text


def test_a_config_error_does_not_change_with_the_lists_that_it_was_made_of() -> None:
    messages = ["one"]
    error = ConfigError({"a": messages})
    messages.append("two")
    assert error.errors == {"a": ["one"]}


@pytest.mark.parametrize(
    ("cls", "code"),
    [
        (ConfigError, EXIT_CONFIG_OR_DATA),
        (DataError, EXIT_CONFIG_OR_DATA),
        (RetriableError, EXIT_RETRIABLE),
        (FencedError, EXIT_FENCED),
        (InternalError, EXIT_INTERNAL),
        (ConnectError, EXIT_INTERNAL),
    ],
)
def test_exit_code(cls: type[ConnectError], code: int) -> None:
    assert cls.exit_code == code


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no table t"), "no table t"),
        (ValueError("no table t \nHINT: make one"), "no table t"),
        (ValueError("\n  no table t\nLINE 1"), "no table t"),
        (ValueError(" \n"), "ValueError"),
        (ValueError(), "ValueError"),
    ],
)
def test_first_line_is_the_text_or_the_class(error: Exception, line: str) -> None:
    assert first_line(error) == line


@pytest.mark.parametrize(("error", "text"), [(ValueError("no"), "ValueError: no"), (TimeoutError(), "TimeoutError")])
def test_an_error_without_a_text_is_named_without_a_colon(error: Exception, text: str) -> None:
    assert named(error) == in_one_line(error) == text
