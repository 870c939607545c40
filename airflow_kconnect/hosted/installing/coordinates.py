"""Maven coordinates of plug-ins: downloaded once, each into a folder of the cache that has nothing else in it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hosted.installing import archives, contents
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.cache import CURE
from airflow_kconnect.machine.errors import SetupError, readable_os_errors
from airflow_kconnect.machine.java import Java
from airflow_kconnect.plugins.java.places import coordinates_folder

Progress = Callable[[str], None]


def provide(coordinates: Sequence[str], *, java: Java, progress: Progress | None = None) -> None:
    """Make sure that the plug-ins of Maven coordinates are in their folders of the cache (`coordinates_folder`).

    A folder that exists is complete; several processes may do this at once.

    :param coordinates: `group:artifact:version`, or `group:artifact:packaging:classifier:version` of an archive.
    :param java: the Java that downloads.
    :raises RetriableError: the download failed or the disk is full.
    :raises SetupError: there is no such artifact, it has no plug-in, or the cache is not writable.
    """
    for each in coordinates:
        if not coordinates_folder(each).is_dir():
            _provide(each, java, progress)


def resolved_jars(coordinates: str, *, java: Java, progress: Progress | None = None) -> list[Path]:
    """The files of an artifact with what it needs, without what Connect provides; or the archive itself.

    :raises RetriableError: the download failed or the disk is full.
    :raises SetupError: there is no such artifact, or the cache is not writable.
    """
    try:
        folder = ivy.resolve([coordinates], java=java, progress=progress)
    except RetriableError as error:
        # A file that does not exist will not exist at the next attempt either.
        if "not found" in str(error) and "Host" not in str(error):
            raise SetupError(_unknown(coordinates, str(error))) from None
        raise
    found = [file for file in folder.iterdir() if file.suffix == ".jar" or archives.is_archive(file)]
    return contents.resolved(found)


def _provide(coordinates: str, java: Java, progress: Progress | None) -> None:
    target = coordinates_folder(coordinates)
    files = resolved_jars(coordinates, java=java, progress=progress)
    with readable_os_errors(target, CURE):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=".part-"))
        try:
            _fill(part / target.name.rpartition("-")[0], files)
            contents.check(part / target.name.rpartition("-")[0], coordinates)
            try:
                part.rename(target)
            except OSError:
                # Another process was faster.
                if not target.is_dir():
                    raise
        finally:
            archives.remove(part)


def _fill(folder: Path, files: Sequence[Path]) -> None:
    folder.mkdir(mode=0o755)
    if len(files) == 1 and archives.is_archive(files[0]):
        archives.unpack(files[0], folder)
        return
    for jar in files:
        try:
            os.link(jar, folder / jar.name)
        except OSError:
            shutil.copyfile(jar, folder / jar.name)


def _unknown(coordinates: str, why: str) -> str:
    missing = why.partition(":: ")[2].partition(": not found")[0].replace("#", ":").replace(";", ":")
    of = f", which {coordinates} needs," if missing and missing != coordinates else ""
    return (
        f"There is no {missing or coordinates}{of} on Maven Central or the configured mirror: look up the coordinates "
        "with its vendor. Connectors that are only on a vendor's hub are installed from its archive: kconnect plugins "
        "install FILE.zip"
    )
