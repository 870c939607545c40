"""What runs on GitHub runs what is here: commands that exist, on the versions that pyproject.toml and pages name.

`make lint` checks the files by themselves: their schemas, pins, permissions.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.support.pages.markdown import REPOSITORY

GITHUB = REPOSITORY / ".github"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((GITHUB / "workflows").glob("*.yml"))}
JOBS = {f"{name}-{job}": found for name, flow in WORKFLOWS.items() for job, found in flow["jobs"].items()}
COMMANDS = [step["run"] for job in JOBS.values() for step in job.get("steps", ()) if "run" in step]
MATRIX: dict[str, Any] = WORKFLOWS["checks"]["jobs"]["test"]["strategy"]["matrix"]
TARGETS = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]


def test_what_they_make_exists() -> None:
    made = {target for command in COMMANDS for target in re.findall(r"\bmake ([a-z-]+)", command)}
    assert made | set(MATRIX["lane"]) <= TARGETS and {"lint", "docs", "package", "compare"} <= made


def test_each_lane_of_ci_runs_there() -> None:
    lanes = set(re.findall(r"^ *(?:lane|quietly) (\w+)", (REPOSITORY / ".ci" / "run").read_text(), re.MULTILINE))
    assert lanes - {"setup", "checks"} == set(MATRIX["lane"])


def test_what_lanes_of_ci_leave_out_runs_by_night() -> None:
    assert WORKFLOWS["exhaustive"]["jobs"]["test"]["strategy"]["matrix"]["lane"] == ["test", "lakes"]
    makefile = (REPOSITORY / "Makefile").read_text()
    for lane in ("test", "lakes"):
        (recipe,) = re.findall(rf"^{lane}: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
        assert "-m '$(MARKS)'" in recipe


def test_tests_run_on_each_python_that_the_package_names() -> None:
    named = {name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)}
    assert {*MATRIX["python"], *(each["python"] for each in MATRIX["include"])} == named


def test_comparisons_run_on_each_spark_that_the_page_names() -> None:
    (row,) = re.findall(r"^\| Spark \|.*$", (REPOSITORY / "docs" / "install.md").read_text(), re.MULTILINE)
    (compared,) = re.findall(r"; (\S+), (\S+) and (\S+) with comparisons with Kafka Connect", row)
    assert WORKFLOWS["checks"]["jobs"]["spark"]["strategy"]["matrix"]["spark"] == list(compared)


@pytest.mark.parametrize("job", [name for name, job in JOBS.items() if "uses" not in job])
def test_a_job_has_an_end(job: str) -> None:
    by_night = job.startswith("exhaustive")
    assert 0 < JOBS[job]["timeout-minutes"] <= (350 if by_night else 120)


def test_an_action_is_the_same_version_everywhere() -> None:
    texts = [path.read_text() for path in GITHUB.rglob("*.yml")]
    used = {use for text in texts for use in re.findall(r"uses: ([\w/-]+@.*)", text)}
    assert len(used) == len({use.partition("@")[0] for use in used}) > 5


def test_containers_are_tried_as_their_page_says() -> None:
    page = (REPOSITORY / "docker" / "README.md").read_text()
    typed = [line for line in COMMANDS if line.startswith("docker compose") and " logs" not in line]
    assert len(typed) == 4 and all(f"\n{line}\n" in page for line in typed)


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem)
def test_links_of_issue_forms_lead_to_files(path: Any) -> None:
    links = re.findall(rf"{PROJECT['urls']['Source']}/blob/main/([^)\s#]+)", path.read_text())
    assert [link for link in links if not (REPOSITORY / link).exists()] == []
