"""Bytes as base64 text, as a Catalyst expression."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def base64_text(column: Column) -> Column:
    """A BINARY column as base64 on one line: Spark inserts line breaks, as in MIME; Java's encoder does not."""
    return F.replace(F.base64(column), F.lit("\r\n"), F.lit(""))
