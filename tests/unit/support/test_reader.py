"""The reader of the newcomer tests: it must notice what a page gets wrong."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from airflow_kconnect.local.ports import LOOPBACK
from tests.support.pages import reader as reader_module
from tests.support.pages.markdown import Block, blocks
from tests.support.pages.reader import Reader

PAGE = """\
Type this:

```bash
echo hello
```

```text
hello
```

Save this as `~/notes/a.json`:

```json
{}
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


@pytest.fixture
def reader(page: Path, tmp_path: Path) -> Reader:
    return Reader([page], tmp_path / "reader", {"GIVEN": "yes"})


class TestBlocks:
    def test_kinds_in_the_order_of_the_page(self, page: Path) -> None:
        assert [block.info for block in blocks(page)] == ["bash", "text", "json"]

    def test_lines_of_the_fences(self, page: Path) -> None:
        assert [block.line for block in blocks(page)] == [3, 7, 13]

    def test_files_to_save(self, page: Path) -> None:
        assert [block.file for block in blocks(page)] == [None, None, "~/notes/a.json"]


class TestShell:
    def test_a_command_that_fails_fails_the_step(self, reader: Reader) -> None:
        with pytest.raises(AssertionError, match="exit code 1"):
            reader.type("echo before\nfalse\necho after")

    def test_nothing_is_typed_after_a_failure(self, reader: Reader) -> None:
        with pytest.raises(AssertionError):
            reader.type("echo before\nfalse\necho after")
        assert reader.printed == "before\n"

    def test_a_command_that_does_not_end_fails_the_step(self, reader: Reader) -> None:
        with pytest.raises(AssertionError, match="still running"):
            reader.type("sleep 60", timeout_s=0.2)

    def test_the_folder_and_exported_variables_stay(self, reader: Reader) -> None:
        reader.type("mkdir there\ncd there\nexport WORD='two words'")
        reader.type('basename "$PWD"\necho "$WORD"')
        assert reader.printed == "there\ntwo words\n"

    def test_it_has_a_home_of_its_own(self, reader: Reader) -> None:
        reader.type("ls -A ~ | wc -l")
        assert reader.printed == "0\n"

    def test_it_has_nothing_of_these_tests(self, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AIRFLOW_HOME", "/elsewhere")
        reader.type('echo "$GIVEN $AIRFLOW_HOME $PYTHONPATH"\nwhich kconnect || echo no kconnect')
        assert reader.printed == "yes  \nno kconnect\n"

    def test_pages_show_another_home(self, reader: Reader) -> None:
        reader.type("echo ~/.airflow_kconnect")
        assert reader.printed == "/home/you/.airflow_kconnect\n"


class TestOutput:
    def test_lines_one_after_the_other(self, reader: Reader) -> None:
        reader.type("printf 'a\\nb\\nc\\n'")
        reader.expect("b\nc\n")

    @pytest.mark.parametrize("shown", ["a\nc\n", "b\na\n", "bb\n", "d\n"])
    def test_other_lines_fail_the_step(self, shown: str, reader: Reader) -> None:
        reader.type("printf 'a\\nb\\nc\\n'")
        with pytest.raises(AssertionError, match="The page shows"):
            reader.expect(shown)

    def test_dots_stand_for_any_text_of_a_line(self, reader: Reader) -> None:
        reader.type("echo '12:00 task: 3 records in 1.5 s (task.py)'")
        reader.expect("... task: 3 records in 2.0 s ...\n")

    def test_dots_alone_stand_for_any_lines(self, reader: Reader) -> None:
        reader.type("printf 'a\\nb\\nc\\n'")
        reader.expect("a\n...\nc\n")

    def test_what_dots_do_not_stand_for_fails_the_step(self, reader: Reader) -> None:
        reader.type("printf '12:00 task: 3\\n4 records\\n'")
        with pytest.raises(AssertionError, match="The page shows"):
            reader.expect("... task: ... records\n")

    def test_process_ids_may_differ(self, reader: Reader) -> None:
        reader.type("echo 'runs (pid 17)'")
        reader.expect("runs (pid 4711)\n")


class TestWhatTheMachineHasAlready:
    def test_a_folder_in_tmp_that_exists_is_left_alone(self, page: Path, tmp_path: Path) -> None:
        theirs = Path("/tmp/kconnect-reader-test")
        theirs.mkdir()
        try:
            page.write_text(f"{PAGE}\n{theirs}/file")
            reader = Reader([page], tmp_path / "reader", {})
            reader.type(f"mkdir -p {theirs}\necho text > {theirs}/file\ncat {theirs}/file")
            assert (reader.printed, list(theirs.iterdir())) == ("text\n", [])
            reader.leave()
        finally:
            theirs.rmdir()

    def test_a_port_that_is_taken_is_replaced(
        self, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.create_server((LOOPBACK, 0)) as server:
            port = server.getsockname()[1]
            monkeypatch.setattr(reader_module, "DEFAULT_PORT", port)
            reader = Reader([page], tmp_path / "reader", {})
            reader.type(f"echo --conn-host {LOOPBACK}:{port}")
        assert str(port) not in reader.printed

    def test_files_are_saved_in_the_home(self, page: Path, reader: Reader) -> None:
        reader.type("mkdir ~/notes")
        reader.save(_file(page))
        assert (reader.home / "notes" / "a.json").read_text() == "{}\n"


def _file(page: Path) -> Block:
    (block,) = [block for block in blocks(page) if block.file]
    return block
