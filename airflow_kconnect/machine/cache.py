"""The folder for what is downloaded or prepared only once: jars, plug-ins, Spark, Java's class archive."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from airflow_kconnect.connect.errors import SetupError

CURE = "Make it writable or set KCONNECT_CACHE to a folder that is."


def cache_folder() -> Path:
    """The cache: `$KCONNECT_CACHE`, or `airflow_kconnect` in the user's XDG cache folder.

    A user without a writable home folder gets a private folder among the temporary ones.

    :raises SetupError: that private folder belongs to another user, or other users may write to it.
    """
    setting = os.environ.get("KCONNECT_CACHE")
    if setting:
        return expanded(setting).absolute()
    folder = _in_home()
    if folder is not None and (folder.is_dir() or _can_be_made(folder)):
        return folder
    return _private(Path(tempfile.gettempdir()) / f"airflow_kconnect-{os.getuid()}")


def expanded(path: str) -> Path:
    """A path that may begin with `~`.

    :raises SetupError: it does, and this user has no home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # neither HOME nor an entry for this user in the system's list
        raise SetupError(f"{path} is below a home folder, but this user has none: set HOME.") from error


def _in_home() -> Path | None:
    try:
        return expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache").absolute() / "airflow_kconnect"
    except SetupError:
        return None


def _can_be_made(folder: Path) -> bool:
    there = next(parent for parent in folder.parents if parent.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _private(folder: Path) -> Path:
    """The folder, created if necessary. Other users know its name in advance: what they put there must not be used."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise SetupError(f"No folder for the cache: cannot create {folder}: {error.strerror}. {CURE}") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise SetupError(f"No folder for the cache: {folder} belongs to another user. Set KCONNECT_CACHE.")
    return folder
