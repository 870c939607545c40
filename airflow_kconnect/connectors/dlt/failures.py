"""What an error of dlt, or of the code of a source, is to a run: worth a retry, or not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError, named
from airflow_kconnect.connectors.dlt.settings import ARGUMENTS
from airflow_kconnect.places.system_errors import system_error
from airflow_kconnect.variables.secret_keys import passwords_in

# Of Requests, urllib3, HTTPX and SQLAlchemy, by their names: a source need not have them.
_TEMPORARY = {"ConnectionError", "Timeout", "RetryError", "TransportError", "OperationalError"}
_STATUSES = {408, 425, 429}
_VALUE = re.compile(r"Provided value `.*?` with (type `\w+` is invalid)(?: with the following errors:)?", re.DOTALL)
_PARAMETERS = re.compile(r"\?[^\s?=]+=[^\s'\"]*")


def temporary(error: BaseException) -> bool:
    """Whether the same may succeed later: no connection, or an answer of a server that says so."""
    return any(_is_temporary(cause) for cause in _causes(error))


def failure(subject: str, error: Exception) -> ConnectError:
    """The error of a run; those that are of this package are left as they are.

    :param subject: what has failed.
    """
    own = next((cause for cause in _causes(error) if isinstance(cause, ConnectError)), None)
    if own is not None:
        return own
    kind = RetriableError if temporary(error) else DataError
    return kind(f"{subject} failed: {told(error)}")


def told(error: Exception) -> str:
    """What an error says, in one line and without what may be secret: values of the configuration, and parameters in
    addresses, for which dlt has its own files with secrets too.
    """
    from dlt.common.configuration.exceptions import ConfigFieldMissingException

    for cause in _causes(error):
        if isinstance(cause, ConfigFieldMissingException):
            return f"arguments are missing: {', '.join(cause.fields)}; set them by `{ARGUMENTS}<name>`"
    text = _VALUE.sub(r"The \1", named(error))
    for password in list(passwords_in(text)):
        text = text.replace(password, "...")
    return _PARAMETERS.sub("?...", text).splitlines()[0]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_temporary(error: BaseException) -> bool:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        return status >= 500 or status in _STATUSES
    if isinstance(error, OSError) and isinstance(system_error("", error), RetriableError):
        return True
    return any(kind.__name__ in _TEMPORARY for kind in type(error).__mro__)
