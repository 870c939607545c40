"""What is in the wheel and in the sdist, what they say of themselves, and that what is imported is declared."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URL = "https://github.com/airflow-kconnect/airflow_kconnect"

# Modules that are used only where the package which brings them along is: Airflow, its OpenLineage provider, PySpark.
_BROUGHT_ALONG = {"jinja2", "sqlalchemy", "structlog", "yaml", "attrs", "openlineage", "py4j"}
_BROUGHT_ALONG |= {"anyio", "fastapi", "pydantic", "starlette", "uvicorn"}  # by Airflow's API server


def _requirements(*extras: str) -> Iterator[Requirement]:
    for text in PROJECT["dependencies"]:
        yield Requirement(text)
    for extra in extras:
        yield from map(Requirement, PROJECT["optional-dependencies"][extra])


@functools.cache
def _imports(folder: str) -> set[str]:
    """Names of all modules that the files of a folder import, but those of the standard library and ours."""
    ours = {"airflow_kconnect", "tests", "benchmarks"}
    modules: set[str] = set()
    for path in (REPOSITORY / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules.add(str(node.module))
    return {name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names | ours}


def _undeclared(folder: str, *extras: str) -> set[str]:
    declared = {canonicalize_name(requirement.name) for requirement in _requirements(*extras)}
    distributions = packages_distributions()

    def is_declared(module: str) -> bool:
        top = module.partition(".")[0]
        if match := re.match(r"airflow\.providers\.(apache\.\w+|common\.\w+|cncf\.\w+|\w+)", module):
            names = {f"apache-airflow-providers-{match[1].replace('.', '-')}"}
        else:
            names = {"apache-airflow"} if top == "airflow" else set(distributions.get(top, []))
        return top in _BROUGHT_ALONG or bool({canonicalize_name(name) for name in names} & declared)

    return {module for module in _imports(folder) if not is_declared(module)}


class TestDependencies:
    def test_what_the_package_imports_is_declared(self) -> None:
        undeclared = _undeclared(
            *("airflow_kconnect", "spark", "jdbc", "duckdb", "jpype", "avro", "glue", "json-schema", "protobuf"),
            *(
                "databricks",
                "dataproc",
                "emr",
                "kafka",
                "kubernetes",
                "livy",
                "openlineage",
                "demo",
                "s3",
                "gcs",
                "dlt",
                "testing",
            ),
            *("kafka-aws", "kafka-azure", "kafka-gcp"),
        )

        assert undeclared == set()

    def test_what_the_tests_import_is_declared(self) -> None:
        undeclared = _undeclared("tests", "spark", "jdbc", "kafka", "kubernetes", "openlineage", "dev")

        assert undeclared == set()

    def test_no_module_is_imported_that_the_oldest_airflow_lacks(self) -> None:
        newer = re.compile(r"airflow\.sdk\.(configuration|exceptions|log|observability|types)\b")

        assert {module for module in _imports("airflow_kconnect") if newer.match(module)} == set()

    def test_the_lowest_versions_are_the_lower_bounds(self) -> None:
        lines = (REPOSITORY / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
        pinned = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
        bounds = {
            canonicalize_name(requirement.name): specifier.version
            for requirement in _requirements("spark", "jdbc")
            for specifier in requirement.specifier
            if specifier.operator == ">="
        }

        assert len(bounds) == len(list(_requirements("spark", "jdbc")))
        assert {name: Version(pinned[name]) for name in bounds} == {n: Version(bound) for n, bound in bounds.items()}

    @pytest.mark.parametrize("name", ["constraints.txt", "constraints-lowest.txt"])
    def test_constraints_say_for_what_they_are_and_name_no_index(self, name: str) -> None:
        text = (REPOSITORY / name).read_text(encoding="utf-8")

        assert text.startswith("#")
        assert "Python 3.11 on Linux" in text
        assert "://" not in text


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Iterator[zipfile.ZipFile]:
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode("utf-8"))


class TestWheel:
    @pytest.mark.parametrize("folder", ["dags", "jobs"])
    def test_has_the_example_dags_and_the_jobs(self, wheel: zipfile.ZipFile, folder: str) -> None:
        inside = {"dags": "example_dags"}.get(folder, folder)
        prefix = f"airflow_kconnect/{inside}/"
        there = {name.removeprefix(prefix) for name in wheel.namelist() if name.startswith(prefix)}
        files = (path for path in (REPOSITORY / folder).rglob("*") if path.is_file() and path.suffix != ".pyc")

        assert there == {path.relative_to(REPOSITORY / folder).as_posix() for path in files}

    @pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
    def test_has_the_licence_and_whose_marks_it_names(self, wheel: zipfile.ZipFile, name: str) -> None:
        assert any(path.endswith(f".dist-info/licenses/{name}") for path in wheel.namelist())

    def test_has_nothing_but_the_package(self, wheel: zipfile.ZipFile) -> None:
        assert {name.partition("/")[0].partition("-")[0] for name in wheel.namelist()} == {"airflow_kconnect"}

    def test_has_nothing_of_a_connect_worker(self, wheel: zipfile.ZipFile) -> None:
        assert not [name for name in wheel.namelist() if "connect_worker" in name or "connect_rest" in name]

    def test_is_marked_as_typed(self, wheel: zipfile.ZipFile) -> None:
        assert "airflow_kconnect/py.typed" in wheel.namelist()


class TestMetadata:
    @pytest.mark.parametrize("label", ["Homepage", "Documentation", "Changelog", "Issues"])
    def test_has_links(self, metadata: Message, label: str) -> None:
        assert any(link.startswith(f"{label}, {URL}") for link in metadata.get_all("Project-URL", []))

    def test_the_readme_has_a_link_where_the_index_shows_no_diagram(self, metadata: Message) -> None:
        text = str(metadata.get_payload())

        assert "```mermaid" not in text
        assert f"[A diagram of one run]({URL}#airflow_kconnect)" in text

    def test_links_of_the_readme_are_absolute(self, metadata: Message) -> None:
        links = re.findall(r"\]\(([^)\s]+)", str(metadata.get_payload()))

        assert len(links) > 10
        assert [link for link in links if not link.startswith(("https://", "#"))] == []

    def test_links_of_the_readme_lead_to_files(self, metadata: Message) -> None:
        links = re.findall(rf"\]\({URL}/blob/main/([^)\s#]+)", str(metadata.get_payload()))

        assert links
        assert [link for link in links if not (REPOSITORY / link).exists()] == []


class TestSdist:
    @pytest.fixture(scope="class")
    def names(self, built: Path) -> set[str]:
        (path,) = built.glob("*.tar.gz")
        with tarfile.open(path) as archive:
            return {name.partition("/")[2] for name in archive.getnames()}

    @pytest.mark.parametrize(
        "name",
        [
            *("provider.yaml", "SECURITY.md", "NOTICE", "Makefile", "constraints.txt", "constraints-lowest.txt"),
            *("CONTRIBUTING.md", "mkdocs.yml", ".ci/run", ".github/workflows/checks.yml"),
            *("docker/compose.yaml", "dags/example_file_pipeline.py", "tests/conftest.py", "tests/golden/smt.jsonl"),
        ],
    )
    def test_has_what_a_distribution_needs_to_run_the_tests(self, names: set[str], name: str) -> None:
        assert name in names

    def test_has_every_test(self, names: set[str]) -> None:
        tests = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "tests").rglob("*.py")}

        assert tests - names == set()
