"""Records as rows for the encoder of a format, by Arrow alone: nothing of PySpark is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airflow_kconnect.connect.connector.sink import BatchRenderer
    from airflow_kconnect.connect.data import Shape


def plain_renderer(format: str, values: Sequence[Shape]) -> BatchRenderer | None:
    """What makes the same rows as `rows.rendered`, if there is something."""
    match format:
        case "json":
            from airflow_kconnect.connectors.directory.plain_json import plain_json

            return plain_json(values)
        case "text":
            from airflow_kconnect.connectors.file.plain_text import plain_text

            return plain_text(values)
        case "bytes":
            return None
    from airflow_kconnect.connectors.directory.plain_parquet import plain_parquet

    return plain_parquet(values)
