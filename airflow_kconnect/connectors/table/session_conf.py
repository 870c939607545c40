"""Settings that a session has for a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def with_conf(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """The session has these settings within the block, and after it what it had before."""
    before = {key: spark.conf.get(key, None) for key in conf}
    for key, text in conf.items():
        spark.conf.set(key, text)
    try:
        yield
    finally:
        for key, was in before.items():
            spark.conf.unset(key) if was is None else spark.conf.set(key, was)
