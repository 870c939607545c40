"""What a full disk, or one that must not be written, means for a run, as Java tells it."""

from __future__ import annotations

import re

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError

_FULL = re.compile(r"[^\n]*(?:No space left on device|Disk quota exceeded|QuotaExceededException)[^\n]*")
_REFUSED = re.compile(r"[^\n]*(?:Read-only file system|\(Permission denied\)|Permission denied:)[^\n]*")
_OF_SPARK = re.compile(r"^\s*at org\.apache\.spark\.(?:storage|shuffle|util\.collection)\.", re.MULTILINE)
_LONGEST = 300


def storage_error(subject: str, text: str) -> ConnectError | None:
    """The error for what Java says; None: it says nothing of this.

    :param subject: what was written, such as ``table lake.shop.orders``. :param text: with the stack, if there is one.
    """
    if found := _FULL.search(text):
        where = "in Spark's local folders, `spark.local.dir`" if _OF_SPARK.search(text) else "where its files are"
        return RetriableError(
            f"{subject}: no space is left {where} ({_line(found)}): free some, then run again. No record is lost: the"
            " next run writes what is missing"
        )
    if found := _REFUSED.search(text):
        return ConfigError(
            {"table.name.format": [f"{subject}: its folder cannot be written ({_line(found)}): grant the right to"]}
        )
    return None


def _line(found: re.Match[str]) -> str:
    return found[0].strip().removeprefix("Caused by: ")[-_LONGEST:]
