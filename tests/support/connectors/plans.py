"""What plans of sources are made from, where no Spark is needed for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from airflow_kconnect.connect.connector.source import Offset, PlanContext


def plan_context(
    offsets: Mapping[str, Offset] | None = None, facts: Mapping[str, Mapping[str, Any]] | None = None, **bounds: Any
) -> PlanContext:
    """Of a run with these offsets and facts, by the identities of source partitions, on four cores."""
    bounds = {"max_records": None, "splits_max": None, **bounds}
    return PlanContext(offsets or {}, facts or {}, parallelism=lambda: 4, spark=_no_spark, **bounds)


def _no_spark() -> NoReturn:
    raise AssertionError("Spark was started")
