"""What a task with several connectors reads before their job, and what Airflow gets to know of each afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.common.compat.sdk import AirflowException, AirflowSkipException

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.errors import ConnectorConfigError, ConnectorRunError, connector_error
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.hooks.rendering import RendersConnectors
from airflow_kconnect.hooks.variables import with_database_url
from airflow_kconnect.hooks.worker import TaskWorker
from airflow_kconnect.operators.groups.kept import KeptEnds
from airflow_kconnect.operators.groups.members import Attempt, GivenConnectors, given_connectors, kind_of
from airflow_kconnect.operators.groups.outcome import failures_of, group_error, log_lines, returned
from airflow_kconnect.operators.jobs import ConnectorJobOperator
from airflow_kconnect.operators.reports.assets import connector_alias, static_config, static_kind, topic_inlets
from airflow_kconnect.operators.reports.events import add_group_facts, add_topic_events
from airflow_kconnect.operators.reports.failures import leave_failures
from airflow_kconnect.operators.reports.lineage import group_lineage
from airflow_kconnect.operators.reports.telling import TellsOfRuns, put
from airflow_kconnect.runs.group import MemberEnd
from airflow_kconnect.submit.registered import Connector

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import AssetAlias, Context


class ReportingGroupOperator(RendersConnectors, TellsOfRuns):
    """A `ConnectorJobOperator` of several connectors that reports their runs. Use `KafkaConnectorGroupOperator`."""

    template_fields: Sequence[str] = ("connectors", "folder", *ConnectorJobOperator.template_fields)
    template_fields_renderers: ClassVar[dict[str, str]] = {
        "connectors": "json",
        **ConnectorJobOperator.template_fields_renderers,
    }

    def __init__(
        self,
        *,
        connectors: Sequence[Connector] | None = None,
        folder: str | Path | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if (connectors is None) == (folder is None):
            raise ValueError(f"task {self.task_id}: give it `connectors` or a `folder`, one of them")
        self.connectors = connectors
        self.folder = folder
        self._given: GivenConnectors | None = None
        self._attempt: Attempt | None = None
        self._reports: dict[str, dict[str, Any]] = {}
        self._told = False
        if self.asset_events:
            self._declare_assets()

    def _declare_assets(self) -> None:
        """An alias for each source, and the topics of sinks, as far as they are known without a run."""
        connectors = self.connectors if isinstance(self.connectors, list | tuple) else []
        known = [(static_config(each), static_kind(each)) for each in connectors]
        names = [config["name"] for config, kind in known if kind == "source" and "name" in config]
        if len(names) < sum(1 for _, kind in known if kind != "sink") or not known:
            dag = self.get_dag()
            names.append(self.task_id if dag is None else f"{dag.dag_id}.{self.task_id}")
        aliases = [alias for alias in map(connector_alias, names) if alias not in self.outlets]
        sinks = [config for config, kind in known if kind == "sink"]
        inlets = [asset for config in sinks for asset in topic_inlets(config, self._asset_server())]
        self.outlets = [*self.outlets, *aliases]
        self.inlets = [*self.inlets, *dict.fromkeys(inlets)]

    def _given_connectors(self) -> GivenConnectors:
        if self._given is None:
            worker = TaskWorker(self.worker_config, self.kafka_conn_id).configurations({})
            self._given = given_connectors(self.connectors, self.folder, self._dag_folder(), worker)
        return self._given

    def _ended(
        self,
        context: Context,
        before: Mapping[str, MemberEnd],
        ran: Sequence[MemberEnd],
        kept: KeptEnds,
        *,
        reported: bool,
    ) -> dict[str, Any] | None:
        """Report how each connector has ended, and return their reports, or fail.

        :param before: the ends that were known before the job. :param ran: those of the job.
        :param reported: whether they have reports: the job's output does not stay on a cluster.
        """
        ends = [*before.values(), *ran]
        for line in log_lines(ends):
            self.log.info("%s", line)
        configs = self._configs_after_run()
        for end in ran:
            if end.report is not None:
                self._log_warnings(end.report, f"connector {end.connector}: ")
                self._count_and_call(context, dict(end.report), configs.get(end.connector, {}))
        self._reports = {end.connector: dict(end.report) for end in ends if end.report is not None}
        if any(end.error is not None for end in ends):
            kept.add(ran)
            kept.add(end for name, end in before.items() if name not in kept.known)
            raise self._failure(context, ends)
        if all(end.state is not None for end in ends):
            raise AirflowSkipException("All connectors of the group are paused or stopped: nothing was moved")
        if not reported:
            return None
        self._record_events(context)
        put(context, {"reports": self._reports})
        return returned(self._reports)

    def _failure(self, context: Context, ends: Sequence[MemberEnd]) -> AirflowException:
        error = group_error(ends)
        failures = failures_of(ends, self._kinds())
        facts = {"failures": failures, "reports": self._reports, "error": type(error).__name__, "message": str(error)}
        put(context, facts)
        leave_failures(context, failures, returned(self._reports))
        self._told = True
        return error

    def _record_events(self, context: Context) -> None:
        if not self.asset_events:
            return
        reports = list(self._reports.values())
        add_group_facts(context, self.outlets, reports, partitions=self.asset_partitions)
        for report in reports:
            if report["kind"] == "source":
                add_topic_events(context, self._alias_of(report["connector"]), self._asset_server(), report)

    def _alias_of(self, connector: str) -> AssetAlias:
        """The source's own if it is known without a run, else that of the task."""
        own = connector_alias(connector)
        if own in self.outlets:
            return own
        dag = self.get_dag()
        return connector_alias(self.task_id if dag is None else f"{dag.dag_id}.{self.task_id}")

    def _configs_after_run(self) -> Mapping[str, Mapping[str, Any]]:
        """By connector, as far as they can be had: after a deferral they are read again."""
        try:
            return self._given_connectors().configs
        except ConnectError as error:
            self.log.warning("The configurations of the connectors cannot be read again: %s", error)
            return {}

    def _kinds(self) -> dict[str, str]:
        worker = TaskWorker(self.worker_config, self.kafka_conn_id).keys
        return {name: kind_of(config, worker) for name, config in self._configs_after_run().items()}

    @contextmanager
    def _telling_of_failure(self, context: Context) -> Iterator[None]:
        try:
            yield
        except (ConnectError, ConnectorConfigError, ConnectorRunError) as error:
            shown: AirflowException | ConnectError = error
            if isinstance(error, ConnectError):
                # The message is all that helps; a chain of tracebacks would hide it.
                shown = connector_error(error.exit_code, str(error), type(error).__name__)
            self.failure_text = masked(str(shown))
            if not self._told:
                facts = {"connector": None, "kind": None, "error": type(shown).__name__, "message": self.failure_text}
                put(context, {"failures": [facts], "reports": {}, **facts})
                leave_failures(context, [facts], {})
            raise shown from None

    def get_openlineage_facets_on_start(self) -> OperatorLineage[Any, Any]:
        """Datasets in the configurations. Called by OpenLineage's provider, before `execute`."""
        return self._lineage()

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage[Any, Any]:
        """Datasets and rows. Called by OpenLineage's provider in the process in which the task succeeded."""
        return self._lineage()

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> OperatorLineage[Any, Any]:
        """Datasets and the error. Called by OpenLineage's provider in the process in which the task failed."""
        return self._lineage(self.failure_text)

    def _lineage(self, error: str | None = None) -> OperatorLineage[Any, Any]:
        worker = TaskWorker(self.worker_config, self.kafka_conn_id).keys
        members = [
            # Tables are named by the host of their database; everything else stays as it was written.
            (with_database_url(config, worker), kind, self._reports.get(name))
            for name, config in self._given_connectors().configs.items()
            if (kind := kind_of(config, worker)) in ("source", "sink")
        ]
        return group_lineage(members, str(worker.get("bootstrap.servers", "")), error)
