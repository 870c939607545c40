"""The operator that looks after the tables of a sink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.connector.upkeep import KEEP_DAYS, STEPS, WAIT_S, Upkeep
from airflow_kconnect.operators.base import ConnectorOperator
from airflow_kconnect.operators.intervals import DRY_RUN, RunMode
from airflow_kconnect.runs.report_facts import report_lines
from airflow_kconnect.runs.spec import RunSpec

if TYPE_CHECKING:
    from airflow.sdk import Context


class LakeMaintenanceOperator(ConnectorOperator):
    """Looks after the Iceberg or Delta tables of a sink: compacts small files, expires snapshots, removes what no one
    needs.

    .. code-block:: python

        write = KafkaSinkOperator(task_id="write_orders", connector="orders_lake.json", pool="orders_lake")
        LakeMaintenanceOperator(task_id="compact_orders", connector="orders_lake.json", pool="orders_lake")

    It runs as a Spark job, as the sink does, and not at the same time: it waits for a run in progress, and fences none.
    A pool of one slot for both keeps them from waiting for each other with a slot each. Whatever a run needs stays:
    what an unfinished plan has announced or staged, and the snapshot that proves which plans a table has.

    Paused and stopped connectors have their tables looked after, too. The task returns the job's report, a small dict:
    `notes["upkeep"]` has what was found and done, by table. With the param `dry_run` of `run_params` it only finds out
    what would be done. Besides the parameters below the operator takes those of
    `SparkSubmitOperator`.

    :param connector: the sink, as for `KafkaSinkOperator`; its configuration names the catalog. (templated)
    :param steps: `compact`, `metadata`, `expire`, `orphans`; default: all but the last one. (templated)
    :param tables: only these tables; default: all to which the connector has written. (templated)
    :param keep_days: how old what is removed has to be: readers may use snapshots that are younger. (templated)
    :param wait_s: how long to wait for a run of the connector to end, in seconds. (templated)
    :param worker_config: as for `KafkaSinkOperator`. Not templated.
    :param kafka_conn_id: as for `KafkaSinkOperator`. (templated)
    :param spark_conn_id: as for `KafkaSinkOperator`. (templated)
    :param deferrable: as for `KafkaSinkOperator`.
    """

    kind = "sink"
    ui_color = "#e6f4ea"
    template_fields: Sequence[str] = (
        *ConnectorOperator.template_fields,
        *("steps", "tables", "keep_days", "wait_s"),
    )
    template_fields_renderers: ClassVar[dict[str, str]] = {
        **ConnectorOperator.template_fields_renderers,
        **{"steps": "json", "tables": "json"},
    }

    def __init__(
        self,
        *,
        steps: Sequence[str] = STEPS,
        tables: Sequence[str] = (),
        keep_days: float | str = KEEP_DAYS,
        wait_s: float | str = WAIT_S,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.steps = steps
        self.tables = tables
        self.keep_days = keep_days
        self.wait_s = wait_s

    def execute(self, context: Context) -> dict[str, Any] | None:  # type: ignore[override]
        """Check, submit, wait; returns the report.

        :raises ConnectorConfigError: the configuration or a parameter is wrong; a retry would not help.
        :raises ConnectorRunError: anything else, by subclass.
        """
        return self._logged(super().execute(context))

    def execute_complete(
        self, context: Context, event: dict[str, Any], facts: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The end of a job for which a trigger has waited."""
        return self._logged(super().execute_complete(context, event, facts))

    def _mode(self, context: Context) -> RunMode:
        """Backfills of the DAG do not mean it."""
        return RunMode(dry_run=bool((context.get("params") or {}).get(DRY_RUN)))

    def _checked(self, context: Context, mode: RunMode) -> RunSpec:
        steps = [str(step) for step in self.steps]
        order = Upkeep(steps, list(self.tables), float(self.keep_days), float(self.wait_s))
        self._spec = spec = replace(super()._checked(context, mode), upkeep=order)
        return spec

    def _logged(self, report: dict[str, Any] | None) -> dict[str, Any] | None:
        for line in report_lines(report) if report else ():
            self.log.info("%s", line)
        return report
