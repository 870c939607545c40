"""Downloads files of Maven Central whose paths and SHA-256 are known: several at once, and without Java."""

from __future__ import annotations

import hashlib
import re
import ssl
import threading
import urllib.request
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

from airflow_kconnect.machine import network

_AT_ONCE = 8
_TIMEOUT_S = 60
_CHUNK_BYTES = 1 << 20
_RESOLVER = "org/apache/ivy/plugins/resolver/IBiblioResolver.class"


def address(ivy_jar: Path) -> str:
    """Where the files are: the mirror of Maven's settings, or Maven Central as Ivy knows it.

    :raises SetupError: Maven's settings are not XML. :raises OSError: Ivy does not say it.
    """
    if mirror := network.maven_mirror():
        return mirror.rstrip("/")
    found = None
    with suppress(KeyError, zipfile.BadZipFile), zipfile.ZipFile(ivy_jar) as jar:
        found = re.search(rb"https://[\w.-]+/maven2(?=/)", jar.read(_RESOLVER))
    if found is None:
        raise OSError(f"{ivy_jar} does not name Maven Central")
    return found[0].decode()


def download(root: str, files: Mapping[str, str], folder: Path, say: Callable[[int, int], object]) -> None:
    """Download files into a folder, by their last names.

    :param root: URL, see `address`. :param files: path below it -> SHA-256, in hexadecimal digits.
    :param say: called by several threads with the number of files and of bytes so far.
    :raises OSError: a file could not be read or written, or is not what was released.
    """
    lock, sizes = threading.Lock(), list[int]()
    trusted = ssl.create_default_context()  # takes 20 ms

    def one(path: str) -> None:
        target, digest = folder / path.rpartition("/")[2], hashlib.sha256()
        url = f"{root}/{path}"
        try:
            with (
                urllib.request.urlopen(url, timeout=_TIMEOUT_S, context=trusted) as answer,
                target.open("wb") as file,
            ):
                while chunk := answer.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    file.write(chunk)
        except (HTTPException, ValueError) as error:
            raise OSError(f"{path}: {error!r}") from error
        if digest.hexdigest() != files[path]:
            raise OSError(f"{path} has another SHA-256")
        with lock:
            sizes.append(target.stat().st_size)
            say(len(sizes), sum(sizes))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            list(pool.map(one, files))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
