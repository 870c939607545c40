"""How tests are shared by several processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scheduling import rank, scope


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/integration/cli/test_dlq.py::test_a", "tests/integration/cli/test_dlq.py::test_b"),
        ("tests/airflow/test_demo.py::test_a", "tests/airflow/test_kill.py::test_b"),
        ("tests/unit/kafka/test_log.py::test_a", "tests/unit/kafka/test_admin.py::test_b"),
        ("tests/unit/hooks/test_yarn.py::test_a", "tests/unit/triggers/test_lag.py::test_b"),
        ("tests/integration/rest/page/test_list.py::test_a", "tests/integration/rest/page/test_create.py::test_b"),
    ],
)
def test_what_shares_something_stays_together(one: str, other: str) -> None:
    assert scope(one) == scope(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/integration/cli/test_dlq.py::test_a", "tests/integration/cli/test_offsets.py::test_b"),
        ("tests/airflow/test_demo.py::test_a", "tests/airflow/standalone/test_ui.py::test_b"),
        ("tests/unit/kafka/test_log.py::test_a", "tests/unit/cli/test_run.py::test_b"),
    ],
)
def test_all_else_may_be_run_by_different_processes(one: str, other: str) -> None:
    assert scope(one) != scope(other)


def test_what_takes_long_begins() -> None:
    files = ("tests/unit/a/test_b.py", "tests/integration/a/test_b.py", "tests/newcomer/test_pages.py")
    assert sorted(files, key=rank) == list(reversed(files))


def test_fixtures_for_a_package_are_in_one() -> None:
    tests = Path(__file__).parents[2]
    scoped = [path for path in tests.rglob("conftest.py") if '@pytest.fixture(scope="package"' in path.read_text()]
    assert scoped
    assert [str(path) for path in scoped if not (path.parent / "__init__.py").exists()] == []
