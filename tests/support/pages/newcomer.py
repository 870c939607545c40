"""The project as a newcomer gets it: its files as in a clone, and the packages built from them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.pages.markdown import REPOSITORY

CLONE_URL = "https://github.com/airflow-kconnect/airflow_kconnect"


def run(*command: str | Path, cwd: Path, timeout_s: float = 600.0) -> str:
    """Run a command and return its output. :raises AssertionError: it fails; the text is its output."""
    ran = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert ran.returncode == 0, f"{command} ended with {ran.returncode}:\n{ran.stdout}"
    return ran.stdout


def repository_in(folder: Path) -> Path:
    """A Git repository with the project's current files, committed or not, as one commit."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=REPOSITORY)
    for name in filter(None, listed.split("\0")):
        source = REPOSITORY / name
        if source.is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
            target.chmod(source.stat().st_mode & 0o777)
    who = ("-c", "user.name=you", "-c", "user.email=you@example.org")
    for words in (("init", "--quiet", "-b", "main"), ("add", "--all"), (*who, "commit", "--quiet", "-m", "All files")):
        run("git", *words, cwd=folder)
    return folder


def wheel_in(folder: Path, source: Path) -> Path:
    """The wheel, built from the sdist that is built from a source folder.

    The build tools are those of the tests. That `pyproject.toml` names them all, the clone shows: it is installed by
    means of what is named there.
    """
    build = (sys.executable, "-P", "-m", "hatchling", "build", "--directory", folder / "dist", "--target")
    run(*build, "sdist", cwd=source)
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    shutil.unpack_archive(sdist, folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    run(*build, "wheel", cwd=unpacked)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def install_settings(wheel: Path, *, but: str | None = None) -> dict[str, str]:
    """Settings that make `pip install airflow-kconnect` find the wheel, with the versions used by the tests.

    :param but: with what the lines of constraints begin that do not count.
    """
    constraints = wheel.with_name(f"constraints-{but or 'all'}.txt")
    version = wheel.name.split("-")[1]
    lines = (REPOSITORY / "constraints.txt").read_text().splitlines()
    kept = [line for line in lines if but is None or not line.startswith(but)]
    constraints.write_text("\n".join([*kept, f"airflow-kconnect=={version}", ""]))
    links = [*os.environ.get("PIP_FIND_LINKS", "").split(), str(wheel.parent)]
    return {"PIP_CONSTRAINT": str(constraints), "PIP_FIND_LINKS": " ".join(links), "PIP_CACHE_DIR": pip_cache()}


def make_settings() -> dict[str, str]:
    """How `make` has to install, where another program than pip does it: for who types `make`. With what it keeps."""
    flags = os.environ.get("MAKEFLAGS", "")
    if "INSTALL=" not in flags:
        return {"PIP_CACHE_DIR": pip_cache()}
    return {"MAKEFLAGS": flags, **{key: value for key, value in os.environ.items() if key == "UV_CACHE_DIR"}}


def recorded(record: str) -> set[str]:
    """The files of the package, with their checksums, in the text of a RECORD."""
    return {line for line in record.splitlines() if line.startswith("airflow_kconnect/") and "__pycache__" not in line}


def pip_cache() -> str:
    """Where pip keeps wheels that it has built; building PySpark's takes a minute."""
    return os.environ.get("PIP_CACHE_DIR") or run(sys.executable, "-m", "pip", "cache", "dir", cwd=REPOSITORY).strip()
