"""A body of a megabyte is validated in about a second, whatever is in it: anyone who can log in may send one."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.classes.catalogue import validation
from airflow_kconnect.rest.bodies import MAX_BYTES
from airflow_kconnect.validation.connector_keys import LONGEST_ALIAS, MOST_ALIASES
from airflow_kconnect.validation.inspection import MOST_KEYS

SOURCE = {"name": "n", "connector.class": "FileStreamSource", "file": "/f", "topic": "t"}
WORKER = {"bootstrap.servers": "localhost:9092"}
HOIST = {"type": "HoistField$Value", "field": "f"}
MATCHES = {"type": "TopicNameMatches", "pattern": "f"}


def staged(kind: str, stage: Mapping[str, str], count: int) -> dict[str, str]:
    """A source with so many stages."""
    names = [f"stage{number}" for number in range(count)]
    keys = {f"{kind}.{name}.{key}": value for name in names for key, value in stage.items()}
    return {**SOURCE, kind: ",".join(names), **keys}


def answered(config: Mapping[str, str]) -> list[str]:
    """The errors of a configuration. Fails if finding them takes long; that others use the processor does not count."""
    started = time.thread_time()
    try:
        answer = validation("FileStreamSource", config, WORKER)
        return [text for key in answer["configs"] for text in key["value"]["errors"]]
    except ConfigError as error:
        return [str(error)]
    finally:
        assert time.thread_time() - started < 5


@pytest.mark.parametrize(("kind", "stage"), [("transforms", HOIST), ("predicates", MATCHES)])
def test_as_many_stages_as_are_accepted_are_no_error(kind: str, stage: dict[str, str]) -> None:
    assert answered(staged(kind, stage, MOST_ALIASES)) == []


@pytest.mark.parametrize(("kind", "stage"), [("transforms", HOIST), ("predicates", MATCHES)])
def test_more_are_one(kind: str, stage: dict[str, str]) -> None:
    (problem,) = answered(staged(kind, stage, MOST_ALIASES + 1))
    assert f"at most {MOST_ALIASES} entries are accepted" in problem


def test_long_names_of_stages_are_one() -> None:
    (problem,) = answered({**SOURCE, "transforms": "a" * (LONGEST_ALIAS + 1)})
    assert f"an entry has at most {LONGEST_ALIAS} characters" in problem


def test_a_body_full_of_stages_is_refused() -> None:
    (problem,) = answered(staged("transforms", HOIST, MAX_BYTES // 50))
    assert f"at most {MOST_KEYS} are accepted" in problem


def test_keys_that_nothing_knows_are_compared_with_a_few(worst: dict[str, str]) -> None:
    assert answered(worst) == []


@pytest.fixture
def worst() -> dict[str, str]:
    """As many stages and as many unknown keys as are accepted."""
    config = staged("transforms", HOIST, MOST_ALIASES)
    return config | {f"transform.stage{number}.field": "f" for number in range(MOST_KEYS - len(config))}


@pytest.mark.parametrize("name", ["transforms.a.key", "transforms.a.regex", "topics.regex", "file"])
@pytest.mark.parametrize("piece", ["a,", "a.", "(", "a|", "${", "${env:X}", "(a*)*"])
def test_a_long_value_takes_no_longer(name: str, piece: str) -> None:
    plugin = {"transforms": "a", "transforms.a.type": "SQL" if name.endswith("key") else "RegexRouter"}
    answered({**SOURCE, **plugin, name: piece * (MAX_BYTES // len(piece))})
