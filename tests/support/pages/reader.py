"""A reader who types what a page says, on a machine where nothing of this project has ever run."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from airflow_kconnect.local.broker import DEFAULT_PORT
from airflow_kconnect.local.ports import free_port, is_taken
from airflow_kconnect.machine.process_tree import kill_tree
from tests.support.pages.markdown import Block

# All that the reader's shell inherits from this process: nothing of Airflow, Python or this project. Java's options are
# those of all tests: a page has a dozen small jobs, for which its optimising compiler does not pay off.
_KEPT = re.compile(
    r"PIP_\w+|LANG|LC_\w+|TERM|TMPDIR|CI|PYENV_ROOT|JAVA_HOME|SPARK_SUBMIT_OPTS|(SSL|CURL|GIT)_\w+|\w+_(proxy|PROXY)"
)
_HOME_ON_PAGES = "/home/you"


class Reader:
    """A user with an empty home and a shell.

    Commands run as on the page, except for what the machine already has: other ports if Kafka's or Airflow's are in
    use, another folder if one of those in /tmp exists.

    :param pages: the pages, in reading order.
    :param folder: gets the home, the working folder and the state of the shell.
    :param environment: variables of the shell, besides those that every machine has.
    """

    def __init__(self, pages: Sequence[Path], folder: Path, environment: Mapping[str, str]) -> None:
        self.home, self.work, self._state = folder / "home", folder / "work", folder / "state"
        for made in (self.home, self.work, self._state):
            made.mkdir(parents=True)
        (self._state / "folder").write_text(f"{self.work}\n")
        (self._state / "variables").touch()
        self.airflow_url, other_url = _airflow_url()
        self._environment = {**_inherited(), "HOME": str(self.home), **other_url, **environment}
        folders = {name for page in pages for name in re.findall(r"/tmp/[\w-]+", page.read_text(encoding="utf-8"))}
        self._instead = {**_other_port(), **{name: _same_length(name) for name in folders if Path(name).exists()}}
        self._folders = [Path(self._here(name)) for name in folders]
        self.printed = ""
        """The output of the last command, with the home folder shown on the pages."""

    def save(self, block: Block) -> None:
        """Save a block as the file that the page names."""
        assert block.file is not None
        path = self._where() / block.file.replace("~", str(self.home), 1)
        path.write_text(self._here(block.text), encoding="utf-8")

    def type(self, commands: str, timeout_s: float = 600.0) -> None:
        """Type commands; folder and exported variables are those left by the previous commands.

        :raises AssertionError: one of them fails or does not end in time; the text is all output.
        """
        with self.typing(commands) as shell:
            try:
                code: int | str = shell.wait(timeout_s)
            except subprocess.TimeoutExpired:
                code = f"(still running after {timeout_s:.0f} s)"
        assert code == 0, f"exit code {code} of\n\n{commands}\n{self.printed}"

    @contextmanager
    def typing(self, commands: str) -> Iterator[subprocess.Popen[bytes]]:
        """Commands that run as long as the block; then Ctrl-C ends those still running."""
        output = self._state / "output"
        with output.open("wb") as log:
            shell = subprocess.Popen(
                ["bash", "--noprofile", "--norc", "-c", self._script(commands)],
                cwd=self._where(),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield shell
        finally:
            _interrupt(shell)
            self.printed = output.read_text(errors="replace").replace(str(self.home), _HOME_ON_PAGES)

    def expect(self, shown: str) -> None:
        """Compare what the page shows with the output of the last command.

        The lines must have been printed consecutively. Times and process ids may differ; `...` in a line matches any
        text, on a line of its own any lines.

        :raises AssertionError: they differ; the text shows both.
        """
        printed = "".join(f"{_comparable(line)}\n" for line in self.printed.splitlines())
        there = re.search("".join(_pattern(line) for line in self._here(shown).splitlines()), printed, re.MULTILINE)
        assert there, f"The page shows\n\n{shown}\nbut the command has printed\n\n{self.printed}"

    def leave(self) -> None:
        """Stop the broker, and remove what the pages have put into /tmp."""
        with suppress(AssertionError):
            self.type("kconnect broker stop")
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _script(self, commands: str) -> str:
        variables, folder = (shlex.quote(str(self._state / name)) for name in ("variables", "folder"))
        return f". {variables}\nset -e\n{self._here(commands)}\nset +e\nexport -p > {variables}\npwd > {folder}\n"

    def _where(self) -> Path:
        return Path((self._state / "folder").read_text().rstrip("\n"))

    def _here(self, text: str) -> str:
        """The text of the page, adapted to this machine."""
        for on_page, here in self._instead.items():
            text = text.replace(on_page, here)
        return text


def _inherited() -> dict[str, str]:
    """The environment, as if the tests' virtual environment did not exist."""
    own = Path(sys.prefix, "bin").resolve()
    path = [entry for entry in os.environ["PATH"].split(os.pathsep) if entry and Path(entry).resolve() != own]
    path.insert(0, str(Path(sys.base_prefix, "bin")))
    kept = {key: value for key, value in os.environ.items() if _KEPT.fullmatch(key)}
    return {**kept, "PATH": os.pathsep.join(path), "USER": "you"}


def _other_port() -> dict[str, str]:
    if not is_taken(DEFAULT_PORT):
        return {}
    port = free_port()
    start = "kconnect broker start"
    return {start: f"{start} --port {port}", f"127.0.0.1:{DEFAULT_PORT}": f"127.0.0.1:{port}"}


def _airflow_url() -> tuple[str, dict[str, str]]:
    """The address of `airflow standalone`, and the settings it requires."""
    if not is_taken(8080):
        return "http://localhost:8080", {}
    port = free_port()
    url = f"http://localhost:{port}"
    return url, {"AIRFLOW__API__PORT": str(port), "AIRFLOW__API__BASE_URL": url}


def _same_length(folder: str) -> str:
    """Another folder whose name has the same length, so that tables keep their widths."""
    return f"/tmp/k-{secrets.token_hex(16)}"[: len(folder)]


def _interrupt(shell: subprocess.Popen[bytes]) -> None:
    if shell.poll() is not None:
        return
    os.killpg(shell.pid, signal.SIGINT)
    try:
        shell.wait(30)
    except subprocess.TimeoutExpired:
        kill_tree(shell.pid)
        shell.wait()


def _comparable(line: str) -> str:
    return re.sub(r"\bpid \d+", "pid N", re.sub(r"\d+\.\d+ s\b", "N s", line)).rstrip()


def _pattern(shown: str) -> str:
    """A regular expression for the lines that a line of a page represents."""
    if shown.strip() == "...":
        return r"(?:.*\n)*?"
    return "^" + ".*".join(re.escape(part) for part in _comparable(shown).split("...")) + r"\n"
