"""What errors of Google's and Azure's stores mean for a run."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.places import errors

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>|\(code: (\w+)\)")
_OF_MACHINE = re.compile(r"169\.254\.169\.254|metadata\.google")
"""Where machines of clouds ask who they are: asked if there is no other login."""

_EXPIRED = "says that the login has expired: renew it, then run again"
_LOGIN = "does not accept the login: check the credentials, and that they have not expired"
_TIME_FRAME = "not valid in the specified time frame"
"""Azure's words about a shared access signature, whose code is that of any wrong one."""
_NO_CONTAINER = "has no such bucket or container: check its name, the account and the endpoint, or create it"
_REFUSED = {
    "NoSuchBucket": _NO_CONTAINER,
    "ContainerNotFound": _NO_CONTAINER,
    "FilesystemNotFound": _NO_CONTAINER,
    "ContainerBeingDeleted": "is deleting the container: name another one",
    "AuthenticationFailed": "does not accept the login: check the credentials, and the clock of this machine",
    "AuthorizationFailure": _LOGIN,
    "InvalidAuthenticationInfo": _LOGIN,
    "ExpiredToken": _EXPIRED,
    "BlobImmutableDueToPolicy": "keeps it by a policy (immutable): it can be neither replaced nor removed",
    "RetentionPolicyNotMet": "keeps it by a retention policy: it can be neither replaced nor removed",
    "LeaseIdMissing": "has it under a lease of someone else: end the lease, then run again",
    "BlobArchived": "has moved it into an archive: restore it, then run again",
    "401": _LOGIN,
    "403": "refuses it: give the login the right to read, write, list and delete there",
}

_BUSY = {"PendingCopyOperation"}
"""Codes of what passes by itself, besides answers that say so by their status."""


def status_of(error: BaseException) -> int:
    """Of the last answer of the store; 0: there was none."""
    found = _STATUS.search(str(error))
    return int(found[1]) if found else 0


@contextlib.contextmanager
def errors_named(doing: str, key: str | None = None) -> Iterator[None]:
    """Errors of obstore as those of a run.

    :param doing: what is attempted, with the address. :param key: of the configuration, which is wrong if the store
        refuses.
    """
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise _error(doing, error, key) from None  # obstore's text may have the URL with its signature


def _error(doing: str, error: Exception, key: str | None) -> ConnectError:
    from obstore.exceptions import PreconditionError

    text, status = str(error), status_of(error)
    code = next((name for match in _CODE.finditer(text) for name in match.groups() if name), str(status or ""))
    if _OF_MACHINE.search(text):
        said = f"{doing}: there is no login: name an Airflow connection, or set the keys or variables of the store"
        return ConfigError({key or "directory": [said]})
    if code not in _REFUSED and isinstance(error, FileNotFoundError | PreconditionError):
        return errors.replaced(doing)
    if status in (408, 429) or status >= 500 or code in _BUSY:
        return errors.overloaded(doing, code)
    if "HTTP error" in text or "error sending request" in text:
        if "certificate" in text.lower():
            return errors.untrusted(doing)
        return RetriableError(f"{doing}: no answer; check that its endpoint is right and reachable, then run again")
    if status == 400 and "token request" in text:
        return ConfigError({key or "directory": [f"{doing}: the store {_LOGIN}"]})
    if _TIME_FRAME in text:
        code = "ExpiredToken"
    reason = _REFUSED.get(code) or _REFUSED.get(str(status)) or f"refuses it ({code or _first_line(text)})"
    if "with invalid path" in text:
        reason = f"has an object whose name has an empty part, `.` or `..`: rename it ({_first_line(text)})"
    return errors.refused(doing, f"the store {reason}", key)


def _first_line(text: str) -> str:
    return re.sub(r"\?\S*", "", text.partition("\n")[0])[:300]
