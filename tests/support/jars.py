"""Jars of servers and connectors that only tests need, downloaded once.

``python -m tests.support.jars GROUP:ARTIFACT:VERSION ...`` has Ivy look up what these need, and lists their files in
`jars.json`, from where an empty cache is filled with several downloads at once; with `--driver` in the package's list.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.java import find_java

_FILE = Path(__file__).with_name("jars.json")


def jars(*coordinates: str) -> Path:
    """The folder with the jars of artifacts and of all that they need."""
    return ivy.resolve(coordinates, java=find_java(), released={**_released(ivy._CHECKSUMS), **_released(_FILE)})


def _released(file: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def write_down(coordinates: list[str], into: Path) -> None:
    """Add coordinates to a file, with what Ivy finds for them."""
    with tempfile.TemporaryDirectory() as folder:
        found = ivy.resolve(coordinates, java=find_java(), cache=Path(folder), progress=print, released={})
        # <group>/<artifact>/<kind>/<file>
        places = {file.name: file for file in (Path(folder) / "ivy").glob("*/*/*/*")}
        files = {_path(places[jar.name]): hashlib.sha256(jar.read_bytes()).hexdigest() for jar in found.glob("[!.]*")}
    known = {**_released(into), " ".join(coordinates): dict(sorted(files.items()))}
    into.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")


def _path(file: Path) -> str:
    group, artifact = file.parts[-4:-2]
    versions = [each.stem.removeprefix("ivy-") for each in file.parents[1].glob("ivy-*.xml")]
    # After the version there may be a classifier.
    version = max((each for each in versions if file.name.startswith(f"{artifact}-{each}")), key=len)
    return f"{group.replace('.', '/')}/{artifact}/{version}/{file.name}"


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--driver"]
    write_down(words, _FILE if words == sys.argv[1:] else ivy._CHECKSUMS)
