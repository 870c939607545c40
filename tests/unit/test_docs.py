"""The documentation: links lead somewhere, code compiles, examples of configurations are valid."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from airflow_kconnect.connect.config import properties
from airflow_kconnect.connect.connector.task import SourceTaskContext
from airflow_kconnect.connect.record import SinkRecord, TopicPartition
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.pages.markdown import FENCE, REPOSITORY, Block, blocks
from tests.support.pages.page_steps import OTHERWISE, QUICKSTART, README, SERVERS, first_line, steps

PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(?P<title>.+?) *$", re.MULTILINE)


BLOCKS = [block for page in PAGES for block in blocks(page)]


def _of(info: str) -> list[Block]:
    return [block for block in BLOCKS if block.info == info]


def _anchors(page: Path) -> set[str]:
    """Anchors of headings as web sites make them: lower case, no punctuation, hyphens for blanks."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = (match["title"].replace("`", "") for match in _HEADING.finditer(text))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _broken_links(page: Path) -> Iterator[str]:
    for match in _LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = match["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = (page.parent / target).resolve() if target else page
        missing = not path.exists() or not path.is_relative_to(REPOSITORY)
        if missing or (anchor and anchor not in _anchors(path)):
            yield match["target"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_relative_link_resolves(page: Path) -> None:
    assert list(_broken_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_fence_is_closed(page: Path) -> None:
    assert len(re.findall(r"^```", page.read_text(encoding="utf-8"), re.MULTILINE)) % 2 == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_table_begins_with_a_header(page: Path) -> None:
    """A blank line between two rows would end it, and show the others as text."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    starts = re.findall(r"(?<=\n\n)\|.*\n.*", text)
    assert [start for start in starts if not re.search(r"\n\| ?:?-", start)] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, todo = set(), [REPOSITORY / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        targets = (match["target"].partition("#")[0] for match in _LINK.finditer(page.read_text(encoding="utf-8")))
        todo += [(page.parent / target).resolve() for target in targets if target and ":" not in target]
    assert [str(page) for page in PAGES if page not in reached] == [], "link it in docs/index.md"


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_file_that_a_map_of_the_code_names_exists(page: str) -> None:
    """By the end of its path; `<name>` and the like stand for others."""
    folders = [REPOSITORY / name for name in ("airflow_kconnect", "dags", "docs", "jobs", "tests")]
    files = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    ends = [f"/{path.relative_to(REPOSITORY)}" + "/" * path.is_dir() for path in files]
    named = set(re.findall(r"`([\w/]+(?:/|\.py|\.jsonl|\.md))`", (REPOSITORY / page).read_text(encoding="utf-8")))
    assert len(named) > 20
    assert [name for name in sorted(named) if not any(end.endswith(f"/{name}") for end in ends)] == []


def test_every_page_that_the_code_cites_exists() -> None:
    code = (path.read_text(encoding="utf-8") for path in (REPOSITORY / "airflow_kconnect").rglob("*.py"))
    cited = {page for text in code for page in re.findall(r"\bdocs/[\w/-]+\.md", text)}
    assert [page for page in sorted(cited) if not (REPOSITORY / page).exists()] == []


@pytest.mark.parametrize("block", _of("python"), ids=str)
def test_every_python_block_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec")


@pytest.mark.parametrize("block", _of("json"), ids=str)
def test_every_connector_example_is_valid(block: Block) -> None:
    assert validate_connector(connector_config(json.loads(block.text))).warnings == []


@pytest.mark.parametrize("block", _of("properties"), ids=str)
def test_every_worker_example_is_valid(block: Block) -> None:
    assert WorkerConfig.from_props(properties.parse(block.text)).warnings == ()


@pytest.fixture
def notes() -> dict[str, Any]:
    """The module of the complete example in "Writing connectors"."""
    (block,) = [block for block in _of("python") if "class NotesSourceConnector" in block.text]
    module: dict[str, Any] = {"__name__": "notes_connector"}
    exec(block.text, module)  # noqa: S102 - our own documentation
    return module


def test_the_example_connector_polls_from_its_offset_until_it_has_caught_up(
    notes: dict[str, Any], tmp_path: Path
) -> None:
    database = tmp_path / "notes.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
        connection.executemany("INSERT INTO notes VALUES (?, ?)", [(1, "a"), (2, None), (5, "c")])
    partition = {"database": str(database)}
    connector = notes["NotesSourceConnector"]({**partition, "topic": "notes"})
    (props,) = connector.task_configs(1)
    task = connector.task_class()()
    task.initialize(SourceTaskContext(props, {partition_identity(partition): {"id": 1}}))
    task.start(props)
    facts = [(record.key, record.value["text"], record.source_offset) for record in task.poll()]
    assert facts == [(2, None, {"id": 2}), (5, "c", {"id": 5})]
    assert task.poll() is None
    task.stop()
    assert {shape.schema for shape in connector.shapes().values} == {notes["ROW"]}


def test_the_example_connector_passes_its_test(
    notes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = [block for block in _of("python") if "from notes_connector import" in block.text]
    module = ModuleType("notes_connector")
    vars(module).update(notes)
    monkeypatch.setitem(sys.modules, "notes_connector", module)
    checks: dict[str, Any] = {}
    exec(block.text, checks)  # noqa: S102 - our own documentation
    checks["test_resumes_after_the_committed_row"](tmp_path)


def test_the_example_sink_task_may_be_given_records_again(tmp_path: Path) -> None:
    (block,) = [block for block in _of("python") if "class TableTask" in block.text]
    module: dict[str, Any] = {"__name__": "table_task"}
    exec(block.text, module)  # noqa: S102 - our own documentation
    database = tmp_path / "records.db"
    records = [SinkRecord("t", 0, offset, None, f"value {offset}") for offset in range(3)]
    for _ in range(2):
        task = module["TableTask"]()
        task.start({"database": str(database)})
        task.put(records)
        task.flush({TopicPartition("t", 0): 3})
        task.stop()
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT place, position, value FROM records ORDER BY position").fetchall()
    assert rows == [("t-0", offset, f"value {offset}") for offset in range(3)]


def test_the_package_of_the_example_connector_gives_it_its_name(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="the page's build backend")
    page = [block for block in BLOCKS if block.page.name == "writing-connectors.md"]
    (code,) = [block.text for block in page if "class NotesSourceConnector" in block.text]
    (project,) = [block.text for block in page if block.info == "toml"]
    (config,) = [block.text for block in page if '"connector.class": "notes.' in block.text]
    for name, text in (("notes_connector.py", code), ("pyproject.toml", project), ("notes.json", config)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    # What an editable installation leaves in the project's folder; needs no network.
    _python("-c", "import setuptools; setuptools.setup()", "egg_info", folder=tmp_path)
    _python("-m", "airflow_kconnect.cli", "validate", "notes.json", folder=tmp_path)


def _python(*arguments: str, folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(folder)])}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


EXAMPLES = sorted((REPOSITORY / "dags").rglob("*.py"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_is_on_the_page_of_examples(file: Path) -> None:
    page = (REPOSITORY / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f"`{file.relative_to(REPOSITORY)}`" in page or f"(../{file.relative_to(REPOSITORY)})" in page


def test_an_example_is_shown_as_it_is() -> None:
    shown = [block for block in _of("python") if block.page.name == "examples.md"]
    files = {file.read_text(encoding="utf-8") for file in EXAMPLES}
    assert shown and [str(block) for block in shown if block.text not in files] == []


@pytest.mark.parametrize("page", [README, QUICKSTART], ids=lambda page: page.stem)
class TestPagesForNewcomers:
    def test_every_block_is_typed_saved_or_compared(self, page: Path) -> None:
        assert steps(page)

    def test_every_output_follows_a_command(self, page: Path) -> None:
        kinds = [block.info for block in steps(page) if block.info in ("bash", "text")]
        assert kinds[0] == "bash"
        assert ("text", "text") not in list(pairwise(kinds))


def test_commands_that_are_not_typed_with_their_page_are_on_one() -> None:
    lines = {first_line(block) for page in (README, QUICKSTART) for block in steps(page)}
    assert {*OTHERWISE, *SERVERS} <= lines
