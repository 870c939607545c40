"""Headers of messages, also of those whose names are not UTF-8."""

from __future__ import annotations

from operator import methodcaller

from confluent_kafka import Message

from airflow_kconnect.connect.errors import DataError

UNREADABLE = "A header's name is not UTF-8: the headers of this record cannot be read, nor kept in a dead letter"

# Where a name is not UTF-8, the client both returns a list and sets an exception, and the names in that list are null
# pointers. Python's specialised call of a method, which a function gets after some calls, does not look for the
# exception: the process would crash as it reads them. A call by way of `methodcaller` does look.
_client_headers = methodcaller("headers")


def headers_of(message: Message) -> list[tuple[str, bytes | None]]:
    """Name and value of each header; asked once for each message, because the client forgets what it could not read.

    :raises DataError: a name is not UTF-8. The client gives none of the message's headers then.
    """
    try:
        return [(name, value) for name, value in _client_headers(message) or ()]
    except (SystemError, UnicodeDecodeError) as error:
        raise DataError(UNREADABLE) from error
