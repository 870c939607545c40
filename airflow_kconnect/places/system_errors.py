"""Operating system errors as errors of a run: which of them may be temporary."""

from __future__ import annotations

import errno

from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError

_MAY_PASS = {
    # A disk that is full, broken, or on another machine.
    *(errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.ENOLCK, errno.EREMOTEIO),
    *(errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH, errno.ENOTCONN),
    *(errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE),
    # An overloaded machine.
    *(errno.EAGAIN, errno.EBUSY, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
}


def system_error(doing: str, error: OSError) -> ConnectError:
    """The error of a run for an operating system error.

    :param doing: what was attempted, and with which path; the text starts with it.
    :returns: a `RetriableError` if it may be temporary, else a `DataError`.
    """
    text = f"{doing}: {error.strerror or error}"
    if error.errno in _MAY_PASS or isinstance(error, ConnectionError | TimeoutError):
        return RetriableError(f"{text}; free space, or repair the disk or the network, then run again")
    return DataError(text)
