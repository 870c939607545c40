"""What Iceberg's and its catalogs' Java exceptions mean for a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RetriableError
from airflow_kconnect.connectors.table.catalogs.storage import storage_error

Chain = list[tuple[str, str]]
"""Class and text of an exception and its causes, the outermost first."""

_UNKNOWN = ("CommitStateUnknownException",)
_FASTER = ("CommitFailedException",)
_CHANGED = ("ValidationException", "DuplicateWAPCommitException", "CherrypickAncestorCommitException")
_NAMESPACE_MISSING = ("NoSuchNamespaceException", "EntityNotFoundException", "NoSuchObjectException")
_MISSING = ("NoSuchTableException", "NoSuchIcebergTableException")
_NOT_LOGGED_IN = ("NotAuthorizedException",)
_REFUSED = (
    "ForbiddenException",
    *_NOT_LOGGED_IN,
    "AccessControlException",
    "AccessDeniedException",
    "InvalidAuthorizationSpecException",
)
_NOT_CONFIGURED = (
    "ClassNotFoundException",
    "NoSuchMethodException",
    "CatalogNotFoundException",
    "NoSuchWarehouseException",
    "UnknownHostException",
    "UnsupportedFileSystemException",
)
_UNAVAILABLE = (
    "ServiceUnavailableException",
    "ServiceFailureException",
    "RESTException",
    "RuntimeIOException",
    "UncheckedIOException",
    "UncheckedSQLException",
    "UncheckedInterruptedException",
    "RuntimeMetaException",
    "LockException",
    "TException",
    "TTransportException",
    "SdkClientException",
    "SQLException",
    "PSQLException",
    "IOException",
    "ConnectException",
    "SocketException",
    "SocketTimeoutException",
    "TimeoutException",
)
_FILE_MISSING = ("NotFoundException", "FileNotFoundException")
_NOT_POSSIBLE = ("BadRequestException", "UnprocessableEntityException")

_RIGHTS = "the right to read and write the table, and to set its properties"
# In addresses: //user:password@host, and parameters.
_SECRET = re.compile(
    r"(?<=//)([^/@\s:]*:)[^/@\s]+(?=@)|((?i:password|passwd|secret|token|credential|signature)[^=&;?\s]*=)[^&;\s]+"
)
# SQL states: a wrong password, a missing right.
_REFUSED_STATES = ("28", "42501")
_AMAZON = "software.amazon.awssdk.services."
# Beginnings of statuses, and codes of answers with a status that others have too.
_REFUSED_BY_AMAZON = (
    ("401", "403"),
    ("UnrecognizedClientException", "InvalidClientTokenId", "InvalidSignatureException"),
)
_BUSY_AMAZON = (("429", "5"), ("ThrottlingException", "Throttling", "RequestLimitExceeded"))
_EXPIRED_CODES = ("ExpiredToken", "ExpiredTokenException")


def chain_of(error: BaseException) -> Chain:
    """What an error of py4j or PySpark is in Java; empty if it is of neither."""
    found: Chain = []
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and len(found) < 20:
        found.append((_class_of(cause), str(cause.getMessage() or "").strip()))
        cause = cause.getCause()
    return found


def text_of(error: BaseException) -> str:
    """The first line of what it says, without classes, traces, and what addresses in it may give away."""
    texts = [text for _, text in chain_of(error) if text]
    return _line((texts or [str(error)])[0])


def is_conflict(error: BaseException) -> bool:
    """Whether another writer has changed the table, or may have, so that a look at its new state decides."""
    return _first(chain_of(error), (*_UNKNOWN, *_FASTER, *_CHANGED)) is not None


def is_file_missing(error: BaseException) -> bool:
    """Whether a file was not there that the state of the table which was read names."""
    return _first(chain_of(error), _FILE_MISSING) is not None


def is_missing(error: BaseException) -> bool:
    """Whether there is no such table."""
    missing = (*_MISSING, "NoSuchNamespaceException", "NoSuchDatabaseException")
    return _first(chain_of(error), missing) is not None


def is_namespace_missing(error: BaseException) -> bool:
    """Whether there is no such namespace, as the catalog says it when a table is created: Glue, Hive and others."""
    return _first(chain_of(error), _NAMESPACE_MISSING) is not None


def is_there(error: BaseException) -> bool:
    """Whether something of this name is there."""
    return _first(chain_of(error), ("AlreadyExistsException", "TableAlreadyExistsException")) is not None


def is_invalid(error: BaseException) -> bool:
    """Whether a catalog says that it has no such tables, mostly because of the name: Glue, Hive."""
    return _first(chain_of(error)[:1], ("ValidationException", "IllegalArgumentException")) is not None


@contextmanager
def understood(subject: str) -> Iterator[None]:
    """Errors of py4j and PySpark within the block that are known here become those of the project.

    :param subject: what the block is about, such as ``table lake.shop.orders``.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        meaning = meaning_of(subject, chain_of(error))
        if meaning is None:
            raise
        raise meaning from error


def meaning_of(subject: str, chain: Chain) -> ConnectError | None:
    """The error for a chain of exceptions; None: none of them is known."""
    if passing := _passing(subject, chain):
        return passing
    if found := _first(chain, _REFUSED) or _refused_by_sql(chain) or _by_amazon(chain, *_REFUSED_BY_AMAZON):
        return ConfigError(
            {"table.catalog": [f"{subject}: access is refused ({found}): correct the credentials, or grant {_RIGHTS}"]}
        )
    if of_storage := storage_error(subject, "\n".join(f"{name}: {text}" for name, text in chain)):
        return of_storage
    if found := _first(chain, _NOT_CONFIGURED):
        return ConfigError(
            {"table.catalog": [f"{subject}: the catalog cannot be used ({found}): correct its settings"]}
        )
    if found := _first(chain, _FASTER):
        return RetriableError(f"{subject}: other writers were faster ({found}): run again")
    if found := _first(chain, _MISSING):
        return DataError(
            f"{subject}: it does not exist any more ({found}): create it again, then alter the connector's offsets"
            " (`kconnect offsets alter`) to where it is to resume"
        )
    if found := _first(chain, _FILE_MISSING):
        return DataError(f"{subject}: one of its files is missing ({found}): restore it, or roll the table back")
    if found := _first(chain, (*_CHANGED, *_NOT_POSSIBLE)):
        return DataError(f"{subject}: refused by Iceberg ({found}): check the table")
    if found := _by_amazon(chain, *_BUSY_AMAZON) or _first(chain, _UNAVAILABLE):
        return RetriableError(f"{subject}: catalog or storage is unavailable ({found}{_deepest(chain, found)})")
    return None


def _passing(subject: str, chain: Chain) -> RetriableError | None:
    """The error for what the next run settles."""
    if found := _first(chain, _UNKNOWN):
        return RetriableError(f"{subject}: whether it was committed is unknown ({found}): the next run finds out")
    if found := _expired(chain):
        return RetriableError(
            f"{subject}: the login has expired ({found}): the next run has a new one, unless the configuration has a"
            " token that is to be replaced"
        )
    return None


def _first(chain: Chain, names: tuple[str, ...]) -> str | None:
    """The first exception of one of these classes, as text; of packages of Java, catalogs and stores alike."""
    for class_name, text in chain:
        short = class_name.partition(" ")[0].rpartition(".")[2].rpartition("$")[2]
        if short in names:
            return f"{short}: {_line(text)}" if text else short
    return None


def _refused_by_sql(chain: Chain) -> str | None:
    for class_name, text in chain:
        state = class_name.partition(" ")[2]
        if state.startswith(_REFUSED_STATES):
            return f"SQL state {state}: {_line(text)}" if text else f"SQL state {state}"
    return None


def _by_amazon(chain: Chain, statuses: tuple[str, ...], codes: tuple[str, ...]) -> str | None:
    """The first exception of Amazon's with a status that begins like one of these, or with one of the codes."""
    for class_name, text in chain:
        status, _, code = class_name.partition(" ")[2].partition(" ")
        if class_name.startswith(_AMAZON) and (status.startswith(statuses) or code in codes):
            return f"{code or status}: {_line(text)}" if text else code or status
    return None


def _expired(chain: Chain) -> str | None:
    found = _first(chain, _NOT_LOGGED_IN)
    return found if found and "expired" in found.lower() else _by_amazon(chain, (), _EXPIRED_CODES)


def _deepest(chain: Chain, found: str) -> str:
    """What the innermost exception says that says something, unless it is what is `found` anyway."""
    text = next((_line(text) for _, text in reversed(chain) if text), "")
    return "" if text in found else f"; {text}"


def _line(text: str) -> str:
    """The first line of a text, without what addresses in it may give away."""
    return _SECRET.sub(lambda found: f"{found[1] or found[2]}***", text.splitlines()[0])


def _class_of(cause: Any) -> str:
    """The class's name; that of SQL exceptions is followed by their state, that of Amazon's by status and code."""
    from py4j.protocol import Py4JError

    name = str(cause.getClass().getName())
    try:
        if name.endswith("SQLException"):
            return f"{name} {cause.getSQLState() or ''}".strip()
        if name.startswith(_AMAZON):
            details = cause.awsErrorDetails()
            return f"{name} {cause.statusCode()} {(details and details.errorCode()) or ''}".strip()
    except Py4JError:  # it only has such a name
        pass
    return name
