"""OpenLineage's classes, created from what a run has moved; imported only when its provider asks for lineage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from airflow.providers.openlineage.extractors import OperatorLineage
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    DatasetFacet,
    InputDatasetFacet,
    OutputDatasetFacet,
    RunFacet,
    error_message_run,
    input_statistics_input_dataset,
    output_statistics_output_dataset,
    schema_dataset,
    symlinks_dataset,
)

from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.operators.reports.moved import Moved

RUN_FACET = "kconnect_run"
SCHEMA = "urn:airflow-kconnect:openlineage:1-0-0:KConnectRunFacet"
"""Identifies docs/reference/openlineage/KConnectRunFacet.json."""


@attrs.define
class KConnectRunFacet(RunFacet):
    """The parts of a run's report beyond datasets and rows; the members are those of `RunReport`."""

    connector: str
    kind: str
    guarantee: str
    records: dict[str, int]
    offsets: list[dict[str, Any]]
    complete: bool
    lag: dict[str, int]
    replay: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return SCHEMA


def operator_lineage(
    inputs: list[Moved], outputs: list[Moved], report: Mapping[str, Any] | None, error: str | None
) -> OperatorLineage[Any, Any]:
    """Lineage in the form expected by OpenLineage's provider."""
    facets: dict[str, RunFacet] = {}
    if report:
        members = [field.name for field in attrs.fields(KConnectRunFacet) if not field.name.startswith("_")]
        facets[RUN_FACET] = KConnectRunFacet(**{name: report[name] for name in members})
    if error:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(message=error, programmingLanguage="python")
    return OperatorLineage(
        inputs=[_input(moved) for moved in inputs],
        outputs=[_output(moved) for moved in outputs],
        run_facets=facets,
    )


def _input(moved: Moved) -> InputDataset:
    facets: dict[str, InputDatasetFacet] = {}
    if moved.rows is not None:
        count = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=moved.rows)
        facets["inputStatistics"] = count
    dataset = moved.dataset
    return InputDataset(dataset.namespace, dataset.name, facets=_facets(dataset), inputFacets=facets)


def _output(moved: Moved) -> OutputDataset:
    facets: dict[str, OutputDatasetFacet] = {}
    if moved.rows is not None:
        count = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=moved.rows)
        facets["outputStatistics"] = count
    dataset = moved.dataset
    return OutputDataset(dataset.namespace, dataset.name, facets=_facets(dataset), outputFacets=facets)


def _facets(dataset: Dataset) -> dict[str, DatasetFacet]:
    facets: dict[str, DatasetFacet] = {}
    if dataset.columns:
        fields = [schema_dataset.SchemaDatasetFacetFields(name, kind) for name, kind in dataset.columns]
        facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=fields)
    if (link := dataset.symlink) is not None:
        named = symlinks_dataset.Identifier(link.namespace, link.name, "TABLE")
        facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet(identifiers=[named])
    return facets
