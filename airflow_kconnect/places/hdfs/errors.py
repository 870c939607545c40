"""What errors of HDFS mean for a run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.places import errors

_UNAVAILABLE = {
    "StandbyException": "none of its name nodes is active",
    "ObserverRetryOnActiveException": "none of its name nodes is active",
    "SafeModeException": "its name node is in safe mode, in which nothing can be written",
    "RetriableException": "its name node is starting",
    "RecoveryInProgressException": "the file is being recovered",
    "BlockMissingException": "no data node has its content",
    "AlreadyBeingCreatedException": "the file is being recovered",
    "DSQuotaExceededException": "its quota of space is used up: free some or raise it",
    "NSQuotaExceededException": "its quota of names is used up: remove files or raise it",
}
_LOGIN = "asks for Kerberos or another login: set `store.delegation.token`"


class HdfsError(Exception):
    """An answer of a name node or a data node that is an error.

    :param status: of HTTP. :param kind: Java's exception, without its package; empty if it is none of HDFS.
    """

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(f"{kind or status}: {message}")
        self.status, self.kind, self.message = status, kind, message


def error_of(status: int, body: bytes) -> HdfsError:
    """Of an answer."""
    try:
        found = json.loads(body)["RemoteException"]
        lines = str(found.get("message") or "").strip().splitlines()
        return HdfsError(status, str(found["exception"]), lines[0] if lines else "")
    except (ValueError, KeyError, TypeError):
        return HdfsError(status, "", f"HTTP status {status}")


@contextlib.contextmanager
def errors_named(doing: str, key: str | None = None) -> Iterator[None]:
    """Errors of HDFS as those of a run.

    :param doing: what is attempted, with the address. :param key: of the configuration, which is wrong if it is
        refused.
    """
    import httpx

    try:
        yield
    except HdfsError as error:
        raise _answered(doing, error, key) from error
    except httpx.InvalidURL as error:
        raise ConfigError({"store.endpoint": [f"{doing}: {error}"]}) from None
    except (httpx.HTTPError, OSError) as error:
        raise _unanswered(doing, error) from None  # its request has the token


def _answered(doing: str, error: HdfsError, key: str | None) -> ConnectError:
    if reason := _UNAVAILABLE.get(error.kind):
        return RetriableError(f"{doing}: {reason}; run again later")
    if error.kind == "IOException":  # what HDFS says where machines are missing or full
        return RetriableError(f"{doing}: {error.message}; check the cluster, then run again")
    if error.kind == "FileNotFoundException":
        return errors.replaced(doing)
    if not error.kind and error.status >= 500:
        return RetriableError(f"{doing}: the store is unavailable ({error.status}); run again later")
    if error.kind in ("AccessControlException", "SecurityException", "InvalidToken") or error.status == 401:
        said = _denied(error)
    elif not error.kind:
        said = (
            f"no WebHDFS answers there (HTTP status {error.status}): check `store.endpoint` and `dfs.webhdfs.enabled`"
        )
    else:
        said = f"{error.message or 'it is refused'} ({error.kind})"
    return errors.refused(doing, said, key)


def _denied(error: HdfsError) -> str:
    if error.kind == "AccessControlException":
        return f"{error.message}: give the user of `store.user` this right"
    if error.kind in ("SecurityException", "InvalidToken"):
        return f"the login is refused ({error.message}): get a new token for `store.delegation.token`"
    return f"the store {_LOGIN}"


def _unanswered(doing: str, error: Exception) -> ConnectError:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return errors.untrusted(doing)
    text = f"{doing}: {type(error).__name__}: {error}"
    return RetriableError(f"{text}; check that name nodes and data nodes are reachable from here, then run again")
