"""Headers of messages, also of those whose names are not UTF-8."""

from __future__ import annotations

from confluent_kafka import Message

from airflow_kconnect.connect.errors import DataError

UNREADABLE = "A header's name is not UTF-8: the headers of this record cannot be read, nor kept in a dead letter"


def headers_of(message: Message) -> list[tuple[str, bytes | None]]:
    """Name and value of each header.

    :raises DataError: a name is not UTF-8. The client gives none of the message's headers then.
    """
    try:
        return [(name, value) for name, value in message.headers() or ()]
    except (SystemError, UnicodeDecodeError) as error:
        raise DataError(UNREADABLE) from error
