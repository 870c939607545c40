"""What connector tasks report to OpenLineage: datasets, row counts, offsets, errors; if its provider is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from airflow_kconnect.operators.reports.moved import Moved, distinct, moved_by

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage


def lineage_of(
    config: Mapping[str, Any],
    kind: str,
    servers: str,
    *,
    report: Mapping[str, Any] | None = None,
    error: str | None = None,
) -> OperatorLineage[Any, Any]:
    """The lineage of a run.

    :param config: the connector's configuration, variables not resolved.
    :param servers: ``bootstrap.servers``; the first one names the cluster, following OpenLineage.
    :param report: of a finished run; None for one that is starting or has failed.
    :param error: why it failed.
    """
    from airflow_kconnect.operators.reports.lineage_facets import operator_lineage

    inputs, outputs = moved_by(config, kind, servers, report)
    return operator_lineage(inputs, outputs, report, error)


def group_lineage(
    members: Iterable[tuple[Mapping[str, Any], str, Mapping[str, Any] | None]],
    servers: str,
    error: str | None = None,
) -> OperatorLineage[Any, Any]:
    """The lineage of a group's run: the datasets of all its connectors.

    :param members: of each connector configuration, kind and report, see `lineage_of`.
    :param error: why the task failed.
    """
    from airflow_kconnect.operators.reports.lineage_facets import operator_lineage

    inputs: list[Moved] = []
    outputs: list[Moved] = []
    for config, kind, report in members:
        read, written = moved_by(config, kind, servers, report)
        inputs += read
        outputs += written
    return operator_lineage(distinct(inputs), distinct(outputs), None, error)
