"""What users may rely on stays: the public names and their parameters are those of tests/golden/public-api.txt."""

from __future__ import annotations

from enum import Enum

import pytest

from airflow_kconnect.connect.connector.base import Connector
from tests.support.public_api import COMMAND, FILE, described, lines

KEPT = FILE.read_text(encoding="utf-8").splitlines()


def _changed(kept: list[str], now: list[str]) -> str:
    """What a change of the public API means, and what to do about it; empty if nothing has changed."""
    gone, new = sorted(set(kept) - set(now)), sorted(set(now) - set(kept))
    if not gone and not new:
        return ""
    parts = [
        *["Gone or changed, which may break users: deprecate it first, see docs/releasing.md"] * bool(gone),
        *(f"  - {line}" for line in gone),
        *["New"] * bool(new),
        *(f"  + {line}" for line in new),
        f"If this is meant: run `{COMMAND}`, and add a line to CHANGELOG.md",
    ]
    return "\n".join(parts)


def test_the_public_api_is_what_was_written_down() -> None:
    if changed := _changed(KEPT, lines()):
        pytest.fail(changed, pytrace=False)


@pytest.mark.parametrize("name", ["connector", "worker_config", "spark_conn_id", "deferrable", "asset_events"])
def test_parameters_of_an_operator_are_also_those_of_its_bases(name: str) -> None:
    (operator,) = [line for line in KEPT if line.startswith("airflow_kconnect.KafkaSinkOperator(")]
    assert f" {name}: " in operator and operator.endswith(", **kwargs: Any)")


def test_lines_have_parameters_defaults_and_what_a_class_inherits_here() -> None:
    class Mode(Enum):
        FAST = 1

    class Example(Connector):
        limit: int

        def run(self, what: str, *, mode: Mode = Mode.FAST, other: object = object()) -> None: ...

        @property
        def size(self) -> int:
            return 1

    Example.__module__ = "airflow_kconnect.example"
    found = set(described("x.Example", Example))
    assert found > {
        "x.Example(props: Mapping[str, str])",
        "x.Example.limit: int",
        "x.Example.run(self, what: str, *, mode: Mode = Mode.FAST, other: object = ...) -> None",
        "x.Example.size: int",
        "x.Example.validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]",
    }


def test_a_change_says_what_breaks_users_and_which_command_accepts_it() -> None:
    assert _changed(["f(a)", "g()"], ["f(b)", "g()"]).splitlines() == [
        "Gone or changed, which may break users: deprecate it first, see docs/releasing.md",
        "  - f(a)",
        "New",
        "  + f(b)",
        f"If this is meant: run `{COMMAND}`, and add a line to CHANGELOG.md",
    ]
