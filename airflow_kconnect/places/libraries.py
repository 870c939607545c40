"""Libraries of stores, imported before a job forks its workers: botocore takes each process 0.25 CPU seconds.

obstore takes 15 ms, and httpx 50 ms: they are imported where they are needed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from airflow_kconnect.places.address import scheme_of

STORES = "KCONNECT_STORES"
"""Environment variable: the store that a job will use. Only a hint, from before the job knows its configuration."""

_S3 = "s3"
_ADDRESSES = ("directory", "input.path")
_BUCKET = "s3.bucket.name"


def stores_hint(configs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The environment that tells a job which store its connectors will use; empty if its library needs no hint.

    :param configs: of connectors; a variable in place of an address is not resolved, and gives no hint.
    """
    return {STORES: _S3} if any(_uses_s3(config) for config in configs) else {}


def _uses_s3(config: Mapping[str, Any]) -> bool:
    return _BUCKET in config or any(scheme_of(str(config.get(key, ""))) == _S3 for key in _ADDRESSES)


def import_libraries() -> None:
    """Import what the hint names, and what is read once of it.

    Nothing depends on it: whatever fails here fails again where the library is needed, and is reported there.
    """
    if os.environ.get(STORES) == _S3:
        with contextlib.suppress(Exception):
            from airflow_kconnect.places.s3.client import preload

            preload()
