"""Message headers, including those whose names are not UTF-8."""

from __future__ import annotations

from collections.abc import Iterable
from operator import methodcaller

from confluent_kafka import Message

from airflow_kconnect.connect.errors import DataError

UNREADABLE = "A header's name is not UTF-8: the headers of this record cannot be read, nor kept in a dead letter"

# If a name is not UTF-8, the client both returns a list and sets an exception, and the names in that list are null
# pointers. Python's specialised method call, which a function switches to after some calls, does not check for the
# exception: the process would crash reading the list. A call through `methodcaller` does check.
_client_headers = methodcaller("headers")


Headers = list[tuple[str, bytes | None]] | None


def headers_of_all(messages: Iterable[Message]) -> tuple[list[Headers], set[int]]:
    """The headers of each message, None if it has none; and which messages have headers that cannot be read.

    Call it only once for each message, as `headers_of`. It costs little where there are no headers.
    """
    headers: list[Headers] = []
    unreadable: set[int] = set()
    rest = map(_client_headers, messages)
    while True:
        try:
            headers.extend(rest)
        except (SystemError, UnicodeDecodeError):
            unreadable.add(len(headers))
            headers.append(None)
        else:
            return headers, unreadable


def headers_of(message: Message) -> list[tuple[str, bytes | None]]:
    """Name and value of each header. Call it only once for each message, because the client forgets what it could not
    read.

    :raises DataError: a name is not UTF-8. The client then returns none of the message's headers.
    """
    try:
        return [(name, value) for name, value in _client_headers(message) or ()]
    except (SystemError, UnicodeDecodeError) as error:
        raise DataError(UNREADABLE) from error
