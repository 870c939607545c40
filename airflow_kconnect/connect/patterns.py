"""Whether a name matches a regular expression in Java's syntax, as an error of data where that takes too long."""

from __future__ import annotations

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.java_text.regex import JavaPattern
from airflow_kconnect.java_text.regex_matching import TooManyWaysError


def matches(pattern: JavaPattern, name: str) -> bool:
    """Whether the whole name matches (``Matcher.matches``).

    :raises DataError: matching takes too long, as with back-references or dozens of stars.
    """
    try:
        return pattern.fullmatch(name)
    except TooManyWaysError as error:
        raise DataError(str(error)) from None
