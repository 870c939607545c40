"""`kconnect new`: names, files, and that nothing is overwritten. Packages are run in tests/integration/skeletons."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.skeletons.writing import Kind, written


def _called(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["new", *arguments])


@pytest.mark.parametrize("name", ["Orders", "1st", "orders!", "a--b", "-a", "", "../orders"])
def test_a_name_that_no_package_can_have_is_an_error(name: str, tmp_path: Path) -> None:
    result = _called("source", "--into", str(tmp_path), "--", name)
    assert (result.exit_code, "expected small letters, digits and hyphens" in result.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["class", "json", "airflow", "tests", "pyarrow", "confluent-kafka"])
def test_a_name_that_something_else_has_is_an_error(name: str, tmp_path: Path) -> None:
    result = _called("sink", name, "--into", str(tmp_path))
    assert (result.exit_code, "is the name of something else in Python" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("transform", "transform"),
        ("source", "source"),
        ("sink", "sink"),
        ("source", "pytest-source"),
        ("source", "open-source"),
        ("sink", "import-sink"),
    ],
)
def test_a_name_whose_function_would_hide_another_one_is_an_error(kind: str, name: str, tmp_path: Path) -> None:
    result = _called(kind, name, "--into", str(tmp_path))
    assert (result.exit_code, "choose another" in " ".join(result.stderr.split())) == (1, True), result.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "README.md").write_text("mine")
    result = _called("source", "orders", "--into", str(tmp_path))
    assert (result.exit_code, "is there already" in result.stderr) == (1, True)
    assert [path.read_text() for path in (tmp_path / "orders").iterdir()] == ["mine"]


@pytest.mark.parametrize("kind", list(Kind))
def test_a_package_has_all_that_a_package_needs(kind: Kind, tmp_path: Path) -> None:
    names = {str(path.relative_to(tmp_path / "my-orders")) for path in written(kind, "my-orders", tmp_path)}
    assert names >= {
        ".github/workflows/ci.yml",
        ".gitignore",
        "README.md",
        "my_orders/__init__.py",
        f"my_orders/{kind}.py",
        "my_orders/py.typed",
        "pyproject.toml",
        f"tests/test_{kind}.py",
    }


@pytest.mark.parametrize(
    ("kind", "name", "group", "entry"),
    [
        (Kind.SOURCE, "orders-source", "connectors", "orders_source.orders"),
        (Kind.SINK, "lake", "connectors", "lake.lake"),
        (Kind.TRANSFORM, "cents", "transforms", "cents.cents"),
    ],
)
def test_the_entry_point_has_the_name_that_configurations_use(
    kind: Kind, name: str, group: str, entry: str, tmp_path: Path
) -> None:
    written(kind, name, tmp_path)
    project = tomllib.loads((tmp_path / name / "pyproject.toml").read_text())["project"]
    module, _, attribute = entry.rpartition(".")
    assert project["entry-points"][f"airflow_kconnect.{group}"] == {entry: f"{module}.{kind}:{attribute}"}


@pytest.mark.parametrize("name", ["a", "my-orders", "orders-of-a-very-long-name"])
def test_a_package_passes_its_own_linter(name: str, tmp_path: Path) -> None:
    for kind in Kind:
        written(kind, f"{name}-{kind}", tmp_path)
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("kind", list(Kind))
def test_a_package_is_formatted(kind: Kind, tmp_path: Path) -> None:
    written(kind, "my-orders", tmp_path)
    command = [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", "--diff", str(tmp_path)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
