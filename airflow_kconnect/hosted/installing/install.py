"""Installs plug-ins into a folder of `plugin.path`: Maven coordinates, an archive, a folder or a jar.

What is installed is complete: it is prepared elsewhere, checked, and then renamed. Nothing of it is executed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.installing import archives, contents
from airflow_kconnect.hosted.installing.coordinates import resolved_jars
from airflow_kconnect.machine.cache import CURE, cache_folder
from airflow_kconnect.machine.errors import SetupError, readable_os_errors
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.plugins.java import JavaPlugin
from airflow_kconnect.plugins.java.places import coordinates_problem

Progress = Callable[[str], None]

RECORD = ".kconnect.json"
_HUB = "manifest.json"
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,199}")


@dataclass(frozen=True)
class Installed:
    """A plug-in's folder after an installation.

    :param folder: below `plugin.path`.
    :param plugins: what is in it.
    :param already: whether it was there before.
    """

    folder: Path
    plugins: tuple[JavaPlugin, ...]
    already: bool = False


def install(what: str, into: Path, *, replace: bool = False, progress: Progress | None = None) -> Installed:
    """Install a plug-in.

    :param what: Maven coordinates, or the path of an archive, a folder or a jar.
    :param into: the folder of plug-ins, created if missing.
    :param replace: whether a folder of the same name may be replaced.
    :param progress: called with lines of text while files arrive.
    :raises SetupError: it is not a plug-in, or a folder of its name is there and is another one.
    :raises RetriableError: the download failed or the disk is full.
    :raises ConfigError: this is neither a path nor coordinates.
    """
    path = Path(what).expanduser()
    with _preparing() as work:
        if path.exists():
            prepared = _from_path(path.absolute(), work)
        elif problem := coordinates_problem(what):
            raise ConfigError({"PLUGIN": [_neither(what, problem)]})
        else:
            prepared = _from_coordinates(what, work, progress)
        plugins = contents.check(prepared, what)
        _record(prepared, what, plugins)
        return _placed(prepared, into, what, replace)


def remove(folder: Path) -> None:
    """Remove a plug-in's folder, or a single jar.

    :raises SetupError: it cannot be removed.
    """
    with readable_os_errors(folder):
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        else:
            # Renamed first: what is left after a failure must not look like a plug-in.
            shutil.rmtree(folder.rename(_beside(folder.parent, f".{folder.name}.{os.getpid()}.removed")))


def record_of(folder: Path) -> dict[str, Any]:
    """What is known about the installation of a folder; empty if it came by another way."""
    for name in (RECORD, _HUB):
        try:
            found = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(found, dict):
            return {key: found[key] for key in ("from", "name", "version") if isinstance(found.get(key), str)}
    return {}


@contextmanager
def _preparing() -> Iterator[Path]:
    """A folder in the cache: one below `plugin.path` would be seen as a plug-in, half as it is."""
    parent = cache_folder() / "installing"
    with readable_os_errors(parent, CURE):
        parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=parent))
    try:
        with readable_os_errors(work, CURE):
            yield work
    finally:
        archives.remove(work)


def _from_coordinates(coordinates: str, work: Path, progress: Progress | None) -> Path:
    _, artifact, *_, version = coordinates.split(":")
    jars = resolved_jars(coordinates, java=find_java(), progress=progress)
    if len(jars) == 1 and archives.is_archive(jars[0]):
        return _from_path(jars[0], work)
    folder = work / "plugin" / f"{artifact}-{version}"
    folder.mkdir(parents=True)
    for jar in jars:
        shutil.copyfile(jar, folder / jar.name)
    return folder


def _from_path(path: Path, work: Path) -> Path:
    if path.is_dir():
        return _copied(path, work / "plugin" / _name_of(path, path.name))
    if archives.is_archive(path):
        unpacked = work / "unpacked"
        unpacked.mkdir()
        archives.unpack(path, unpacked)
        inner = archives.single_folder(unpacked)
        stem = re.sub(r"(?i)\.(zip|tar\.gz|tgz)$", "", path.name)
        return _copied(inner, work / "plugin" / _name_of(inner, stem))
    if path.suffix.lower() == ".jar":
        folder = work / "plugin" / path.stem
        folder.mkdir(parents=True)
        shutil.copyfile(path, folder / path.name)
        return folder
    raise SetupError(f"{path} is not a plug-in: expected a folder, a .zip, a .tar.gz or a .jar.")


def _copied(source: Path, folder: Path) -> Path:
    """Jars at their places, and the hub's description; documentation and examples stay behind."""
    for jar in contents.wanted(source.rglob("*.jar")):
        target = folder / jar.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(jar, target)
    folder.mkdir(parents=True, exist_ok=True)
    if (source / _HUB).is_file():
        shutil.copyfile(source / _HUB, folder / _HUB)
    return folder


def _name_of(folder: Path, otherwise: str) -> str:
    """`owner-name-version` of the hub's description, as the hub names folders; else another name."""
    try:
        hub = json.loads((folder / _HUB).read_text(encoding="utf-8"))
        name = f"{hub['name']}-{hub['version']}"
        owner = hub.get("owner")
        if isinstance(owner, dict) and isinstance(owner.get("username"), str):
            name = f"{owner['username']}-{name}"
    except (OSError, ValueError, KeyError, TypeError):
        name = otherwise
    if not _NAME.fullmatch(name):
        raise SetupError(f"{name!r} cannot be the name of a plug-in's folder: rename it, or its entry in {_HUB}.")
    return name


def _record(folder: Path, what: str, plugins: list[JavaPlugin]) -> None:
    hub = record_of(folder)
    main = contents.own(plugins, re.sub(r"-\d.*", "", folder.name))
    source = Path(what).name if Path(what).expanduser().exists() else what
    record = {
        "from": source,
        "name": hub.get("name") or main.name,
        "version": hub.get("version") or main.version,
    }
    (folder / RECORD).write_text(json.dumps(record) + "\n", encoding="utf-8")


def _placed(prepared: Path, into: Path, what: str, replace: bool) -> Installed:
    target = into / prepared.name
    with readable_os_errors(into):
        into.mkdir(parents=True, exist_ok=True)
        if target.exists():
            if not replace and _jars(target) == _jars(prepared):
                return Installed(target, _plugins_in(target), already=True)
            if not replace:
                raise SetupError(
                    f"{target} exists, with other jars than {what} has: remove it (kconnect plugins remove "
                    f"{target.name}), or install with --replace."
                )
            remove(target)
        # Not always on the same disk as the cache: what is copied must be complete before it has its name.
        part = _beside(into, f".{target.name}.{os.getpid()}.part")
        shutil.move(prepared, part)
        part.rename(target)
    return Installed(target, _plugins_in(target))


def _beside(plugin_path: Path, name: str) -> Path:
    """A place on the same disk that is not below `plugin.path`, if there is one that this user may write to."""
    parent = plugin_path.parent if os.access(plugin_path.parent, os.W_OK | os.X_OK) else plugin_path
    return parent / name


def _jars(folder: Path) -> dict[str, int]:
    jars = (jar for jar in folder.rglob("*.jar") if jar.name != contents.SERVICES_JAR)
    return {str(jar.relative_to(folder)): jar.stat().st_size for jar in jars}


def _plugins_in(folder: Path) -> tuple[JavaPlugin, ...]:
    return tuple(contents.check(folder, str(folder)))


def _neither(what: str, problem: str) -> str:
    if "/" in what or archives.is_archive(Path(what)) or what.endswith(".jar"):
        return f"{what} does not exist"
    return f"{problem}, nor the path of a folder, a .zip, a .tar.gz or a .jar"
