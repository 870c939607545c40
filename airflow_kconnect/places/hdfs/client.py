"""HDFS over HTTP: a client of WebHDFS, which name nodes offer by themselves. No Hadoop is needed on this machine."""

from __future__ import annotations

import getpass
import logging
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from airflow_kconnect.places.errors import check_ca_file
from airflow_kconnect.places.hdfs.errors import HdfsError, error_of

if TYPE_CHECKING:
    import httpx

_PREFIX = "/webhdfs/v1"
_STANDBY = ("StandbyException", "ObserverRetryOnActiveException")
"""What a name node says that is not the active one."""
_NO_FILE = ("FileNotFoundException", "ParentNotDirectoryException")
_SENT_ON = ("CREATE", "APPEND", "OPEN")
"""What a name node answers with the address of a data node."""
_CONNECT_S, _READ_S = 10.0, 60.0
_PAUSE_S = 0.5


@dataclass(frozen=True)
class HdfsSettings:
    """How a file system is reached.

    :param endpoints: URLs of the name nodes, of which one is active. :param user: who asks, if no token says so.
    :param token: a delegation token, as `hdfs fetchdt` and WebHDFS give it out.
    """

    endpoints: tuple[str, ...]
    user: str | None = None
    token: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None


@dataclass(frozen=True)
class Listed:
    """An entry of a folder, or what a path is."""

    name: str
    facts: Mapping[str, Any]

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return bool(self.facts["type"] == "DIRECTORY")


class WebHdfs:
    """Can be used by several threads. Paths are absolute. Raises `HdfsError`, or httpx's errors.

    :param attempts: how often all name nodes are asked, while none is active: another one takes over within seconds.
    """

    def __init__(self, own: HdfsSettings, attempts: int = 6) -> None:
        import httpx

        self._endpoints, self._attempts, self._active = own.endpoints, attempts, 0
        self._login = {"delegation": own.token} if own.token else {"user.name": own.user or _user()}
        self._http = httpx.Client(
            timeout=httpx.Timeout(_READ_S, connect=_CONNECT_S),
            proxy=own.proxy,
            verify=_trusted(own.ca_file),
            follow_redirects=False,
            trust_env=own.proxy is None,
        )

    def close(self) -> None:
        """Close connections."""
        self._http.close()

    def status(self, path: str) -> Listed | None:
        """What a path is; None: there is nothing."""
        try:
            return _listed(_member(self._ask("GET", "GETFILESTATUS", path), "FileStatus"))
        except HdfsError as error:
            # Below a file there is nothing either.
            if error.kind in _NO_FILE or "is not a directory" in error.message:
                return None
            raise

    def entries(self, path: str) -> Iterator[Listed]:
        """What is in a folder, by pages; nothing if it is not there."""
        after: dict[str, str] = {}
        while True:
            try:
                page = _member(self._ask("GET", "LISTSTATUS_BATCH", path, **after), "DirectoryListing")
            except HdfsError as error:
                if error.kind in _NO_FILE:
                    return
                raise
            found = [_listed(each) for each in page["partialListing"]["FileStatuses"]["FileStatus"]]
            yield from (each for each in found if each.name)  # of a file, it is the file itself, without a name
            if not page["remainingEntries"] or not found:
                return
            after = {"startAfter": found[-1].name}

    def check_access(self, path: str, rights: str) -> None:
        """:param rights: such as `-wx`. :raises HdfsError: the user does not have them."""
        self._ask("GET", "CHECKACCESS", path, fsaction=rights)

    def keeps_plus(self) -> bool:
        """Whether `+` is kept in names. Some releases of Hadoop 3.1 and 3.2 decode a path twice."""
        try:
            self._ask("GET", "GETFILESTATUS", "/.kconnect+check")
        except HdfsError as error:
            return ".kconnect check" not in error.message
        return True

    def create(self, path: str) -> None:
        """An empty file, and the folders above it. :raises HdfsError: it exists."""
        self._send("PUT", "CREATE", path, b"", overwrite="false")

    def append(self, path: str, data: bytes) -> None:
        """:raises HdfsError: the file is gone. It may have taken some of the bytes, or all."""
        self._send("POST", "APPEND", path, data)

    def read(self, path: str, start: int, end: int) -> bytes:
        """The bytes of a file from a start to an end, which is not included."""
        at = self._ask("GET", "OPEN", path, offset=str(start), length=str(end - start))
        return (_checked(self._http.get(at.headers["Location"])) if at.has_redirect_location else at).content

    def rename(self, path: str, to: str) -> None:
        """Replaces what has the other name. :raises HdfsError: there is no such file."""
        self._ask("PUT", "RENAME", path, destination=to, renameoptions="OVERWRITE")

    def delete(self, path: str) -> bool:
        """Whether it was there."""
        try:
            return bool(_member(self._ask("DELETE", "DELETE", path, recursive="false"), "boolean"))
        except HdfsError as error:
            if error.kind in _NO_FILE:  # by its id
                return False
            raise

    def _send(self, method: str, op: str, path: str, data: bytes, **parameters: str) -> None:
        """In two steps: a name node says which data node takes the bytes. They are sent once."""
        at = self._ask(method, op, path, **parameters)
        if not at.has_redirect_location:
            raise HdfsError(at.status_code, "", "no data node is named")
        kind = {"Content-Type": "application/octet-stream"}
        _checked(self._http.request(method, at.headers["Location"], content=data, headers=kind))

    def _ask(self, method: str, op: str, path: str, **parameters: str) -> httpx.Response:
        """The answer of the active name node; all of them are asked in turn until there is one."""
        import httpx

        failed: Exception
        for attempt in range(self._attempts):
            time.sleep(_PAUSE_S * 2 ** (attempt - 1) if attempt else 0)
            for turn in range(len(self._endpoints)):
                node = (self._active + turn) % len(self._endpoints)
                url = f"{self._endpoints[node]}{_PREFIX}{quote(path)}"
                try:
                    answer = self._http.request(method, url, params={"op": op, **self._login, **parameters})
                    _checked(answer, sent_on=op in _SENT_ON)
                except httpx.TransportError as error:
                    failed = error
                except HdfsError as error:
                    if error.kind not in _STANDBY:
                        self._active = node
                        raise
                    failed = error
                else:
                    self._active = node
                    return answer
        raise failed


def _checked(answer: httpx.Response, *, sent_on: bool = False) -> httpx.Response:
    # Sent on for anything else, as to a page for logging in, it was not done.
    if answer.status_code >= (400 if sent_on else 300):
        raise error_of(answer.status_code, answer.content)
    return answer


def _member(answer: httpx.Response, name: str) -> Any:
    try:
        return answer.json()[name]
    except (ValueError, KeyError, TypeError):
        raise HdfsError(answer.status_code, "", "the answer is none of WebHDFS") from None


def _listed(found: Mapping[str, Any]) -> Listed:
    return Listed(found["pathSuffix"], found)


def _user() -> str:
    """As Hadoop's own programs choose it."""
    return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()


def _trusted(ca_file: str | None) -> Any:
    import ssl

    if ca_file is None:
        return True
    check_ca_file(ca_file)
    return ssl.create_default_context(cafile=ca_file)


def endpoint_problem(url: str) -> str | None:
    """Why a URL cannot be that of a name node."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # as without the end of an IPv6 address
        is_one = False
    if not is_one:
        shown = url.rpartition("@")[2]  # no login
        return f"{shown} is not a URL of WebHDFS, expected one like http://name-node:9870"
    return None


def _is_not_webhdfs(record: logging.LogRecord) -> bool:
    # httpx logs each URL, and those of WebHDFS have the token.
    return not (isinstance(record.args, tuple) and any(_PREFIX in str(each) for each in record.args))


logging.getLogger("httpx").addFilter(_is_not_webhdfs)
