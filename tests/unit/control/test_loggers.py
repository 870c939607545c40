"""Levels of loggers."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

import pytest

from airflow_kconnect.control import loggers
from tests.support import unique


@pytest.fixture
def name() -> Iterator[str]:
    """A logger with one below it."""
    logger = unique("logger")
    logging.getLogger(f"{logger}.below")
    yield logger
    for each in (logger, f"{logger}.below"):
        logging.getLogger(each).setLevel(logging.NOTSET)


def test_a_level_counts_for_the_loggers_below(name: str) -> None:
    assert loggers.set_level(name, "debug") == [name, f"{name}.below"]


def test_a_level_that_was_set_is_listed_with_its_time(name: str) -> None:
    loggers.set_level(name, "WARN")
    level = loggers.levels()[name]
    assert (level["level"], level["last_modified"] > 1_700_000_000_000) == ("WARN", True)


def test_the_root_logger_is_always_listed() -> None:
    assert "root" in loggers.levels()


@pytest.mark.parametrize(("text", "known"), [("TRACE", True), ("off", True), ("LOUD", False)])
def test_levels_are_those_of_log4j(text: str, known: bool) -> None:
    assert loggers.is_level(text) is known


def test_a_level_for_all_processes_is_applied_once(name: str) -> None:
    later = int(time.time() * 1000) + 1_000
    loggers.follow(name, "DEBUG", (later, 7))
    loggers.set_level(name, "WARN")
    loggers.follow(name, "DEBUG", (later, 7))
    assert logging.getLogger(name).level == logging.WARNING


@pytest.mark.parametrize(("level", "moment"), [("DEBUG", 1_000), ("LOUD", 9_000_000_000_000)])
def test_old_and_unknown_levels_for_all_processes_are_ignored(level: str, moment: int, name: str) -> None:
    loggers.follow(name, level, (moment, 0))
    assert logging.getLogger(name).level == logging.NOTSET
