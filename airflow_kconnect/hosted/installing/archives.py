"""Unpacks archives of plug-ins, as vendors' hubs and Maven Central have them, without trusting what is in them."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from airflow_kconnect.machine.errors import SetupError

ENDINGS = (".zip", ".tar.gz", ".tgz")
# The largest plug-ins bring a software development kit of a cloud along, and have some 600 MB in 400 files.
MOST_BYTES = 4 * 1024**3
MOST_FILES = 20_000
_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class _Member:
    """A file of an archive."""

    name: str
    open: IO[bytes]


def is_archive(path: Path) -> bool:
    """Whether a file is named like an archive of a plug-in."""
    return path.name.lower().endswith(ENDINGS)


def unpack(archive: Path, into: Path) -> None:
    """Unpack the files of an archive; links and devices are left out, and modes are ordinary ones.

    :param archive: a ZIP file, or a TAR file compressed by gzip.
    :param into: an empty folder.
    :raises SetupError: the archive is broken, too large, or names files outside of the folder.
    """
    size = 0
    try:
        for count, member in enumerate(_members(archive), 1):
            if count > MOST_FILES:
                raise SetupError(_too_large(archive))
            target = into / _safe(member.name, archive)
            target.parent.mkdir(parents=True, exist_ok=True)
            with member.open as source, target.open("wb") as file:
                # Sizes in an archive's directory may be lies: what arrives is counted.
                while chunk := source.read(_CHUNK):
                    size += len(chunk)
                    if size > MOST_BYTES:
                        raise SetupError(_too_large(archive))
                    file.write(chunk)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise SetupError(f"{archive} cannot be unpacked: {error}. Download it again.") from error


def single_folder(folder: Path) -> Path:
    """The folder that an archive has its files in; the folder itself if there are several."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def remove(folder: Path) -> None:
    """Remove a folder if it is there."""
    shutil.rmtree(folder, ignore_errors=True)


def _members(archive: Path) -> Iterator[_Member]:
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                if not info.is_dir() and not _is_link(info):
                    yield _Member(info.filename, zipped.open(info))
        return
    with closing(tarfile.open(archive, "r:gz")) as tar:
        for entry in tar:
            content = tar.extractfile(entry) if entry.isreg() else None
            if content is not None:
                yield _Member(entry.name, content)


def _is_link(info: zipfile.ZipInfo) -> bool:
    return (info.external_attr >> 16) & 0o170000 == 0o120000


def _safe(name: str, archive: Path) -> Path:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name.partition("/")[0] or not path.parts or "\0" in name:
        raise SetupError(f"{archive} names a file outside of its folder ({name!r}): nothing of it is installed.")
    return Path(*path.parts)


def _too_large(archive: Path) -> str:
    return (
        f"{archive} is larger than a plug-in: more than {MOST_FILES} files or {MOST_BYTES // 1024**3} GB. "
        "Nothing of it is installed."
    )
