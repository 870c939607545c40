"""The control plane of a worker's topics: what Connect's REST API does to connectors, without a herder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.control import answers, configurations, groups, kinds, resolving, shown
from airflow_kconnect.control.errors import AlreadyExistsError, ForbiddenError, NotFoundError
from airflow_kconnect.control.lost_runs import as_ended
from airflow_kconnect.control.resolving import Resolved, Variables
from airflow_kconnect.control.run_states import origin_of
from airflow_kconnect.control.runs import ForgetsRuns, NoRuns, Runs
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.hosted.asking.offsets import asking_java
from airflow_kconnect.stores.config_topic.state import ConnectorState
from airflow_kconnect.stores.offset_changes import api as offset_changes
from airflow_kconnect.stores.status_topic.records import State
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.validation.connector import ValidatedConfig, validate_connector
from airflow_kconnect.validation.dag_keys import group_of
from airflow_kconnect.worker_config.keys import WorkerConfig

_STATE_OF = {
    TargetState.STARTED: State.RUNNING,
    TargetState.PAUSED: State.PAUSED,
    TargetState.STOPPED: State.STOPPED,
}
_TRACKING, _TRACKING_RESET = "topic.tracking.enable", "topic.tracking.allow.reset"


class ControlPlane:
    """Registered connectors. Thread-safe.

    :param props: the worker's keys as they were written, variables not resolved.
    :param stores: the config and the status topic of that worker.
    :param runs: what starts and ends runs.
    :param variables: looks up the values of Airflow's variables in configurations of a connector and the worker.
    """

    def __init__(
        self,
        props: Mapping[str, Any],
        stores: ControlStores,
        runs: Runs | None = None,
        variables: Variables | None = None,
    ) -> None:
        self._props = dict(props)
        self._stores = stores
        self._runs: Runs = runs or NoRuns()
        self._answers = shown.Shown(stores, self._status)
        self._variables = variables
        self._at_close: list[Callable[[], None]] = []
        self._closed = False

    @property
    def worker_props(self) -> Mapping[str, Any]:
        """The worker's keys as they were written."""
        return self._props

    @property
    def worker(self) -> WorkerConfig:
        """The worker's keys, variables resolved: with secrets."""
        return self._stores.worker

    @cached_property
    def cluster_id(self) -> str:
        """Id of the Kafka cluster. :raises RetriableError: no broker answers."""
        return self._stores.cluster_id()

    @property
    def problem(self) -> str | None:
        """Why answers may be old, for example an unavailable broker; None if they are not."""
        return self._stores.problem

    def read_to_end(self) -> None:
        """Return once everything that is in the topics now is known. :raises RetriableError: no broker answers."""
        self._stores.read_to_end()

    def at_close(self, call: Callable[[], None]) -> None:
        """Have `close` call this, too. :raises RetriableError: that was before."""
        if self._closed:
            raise RetriableError("this server was stopped")
        self._at_close.append(call)

    def close(self) -> None:
        """End the background threads."""
        self._closed = True
        for call in self._at_close:
            call()
        self._stores.close()

    def names(self) -> list[str]:
        """Names of all registered connectors, sorted."""
        return list(self._stores.configs())

    def registered(self) -> Mapping[str, ConnectorState]:
        """All registered connectors by name, with their secrets."""
        return self._stores.configs()

    def registered_or_none(self, name: str) -> ConnectorState | None:
        """A registered connector; None if there is none. :raises DataError: its configuration cannot be read."""
        return self._stores.config(name)

    def unreadable(self) -> Mapping[str, str]:
        """Registered connectors whose configuration cannot be read: why."""
        return self._stores.unreadable()

    def registered_state(self, name: str) -> ConnectorState:
        """A registered connector, with its secrets. :raises NotFoundError: as `info`."""
        return self._registered(name)

    def known_status(self, name: str) -> ConnectorStatus:
        """What runs and requests have written about a connector, registered or not."""
        return self._status(name)

    def known_statuses(self) -> dict[str, ConnectorStatus]:
        """What is known about all connectors, registered or not."""
        return {name: as_ended(name, status, self._runs) for name, status in self._stores.statuses().items()}

    def known_runs(self, name: str) -> ConnectorRuns | None:
        """What the runs of a connector have told, registered or not; None if none has."""
        return self._stores.runs(name)

    def all_known_runs(self) -> dict[str, ConnectorRuns]:
        """What the runs of all connectors have told, registered or not."""
        return self._stores.all_runs()

    def target_states(self) -> Mapping[str, TargetState]:
        """The target states that are recorded, of connectors that are registered or not."""
        return self._stores.target_states()

    @property
    def runs(self) -> Runs:
        """What starts and ends runs."""
        return self._runs

    @contextmanager
    def resolved(self, config: Mapping[str, str]) -> Iterator[Resolved]:
        """A configuration, and that of the worker, with the values of their variables, which errors do not quote."""
        with resolving.resolved(config, self._props, self._variables) as found:
            yield found

    def for_run(self, config: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str] | None]:
        """A configuration as a run gets it, and the values of Airflow's variables in it and in the worker's, as in
        `RunSpec`.
        """
        own = dict(config)
        return own, self._variables(own, dict(self._props)) if self._variables else None

    def info(self, name: str) -> dict[str, Any]:
        """Connect's `ConnectorInfo`, secrets hidden. :raises NotFoundError: there is no such connector."""
        return self._answers.info(self._registered(name))

    def config(self, name: str) -> dict[str, str]:
        """The registered configuration, variables not resolved, secrets hidden. :raises NotFoundError: as `info`."""
        return shown.shown(self._registered(name).texts)

    def registered_config(self, name: str) -> dict[str, str]:
        """The registered configuration with its secrets, for runs. :raises NotFoundError: as `info`."""
        return dict(self._registered(name).texts)

    def status(self, name: str) -> dict[str, Any]:
        """Connect's `ConnectorStateInfo`. :raises NotFoundError: nothing is known about it."""
        status = self._status(name)
        if status.status is None:
            raise NotFoundError(f"No status found for connector {name}")
        return answers.connector_state(name, status, self._answers.kind_of(name))

    def task_status(self, name: str, task: int) -> dict[str, Any]:
        """Connect's `TaskState`. :raises NotFoundError: nothing is known about the task."""
        status = self._status(name).tasks.get(task)
        if status is None:
            raise NotFoundError(f"No status found for task {name}-{task}")
        return answers.task_state(task, status)

    def tasks(self, name: str) -> list[dict[str, Any]]:
        """Connect's list of `TaskInfo`. :raises NotFoundError: there is no such connector."""
        config = self._registered(name).texts
        task_class = f"{kinds.full_name(config, self.worker).removesuffix('Connector')}Task"
        return answers.task_infos(name, self._task_ids(name), shown.shown(config), task_class)

    def expanded(self, parts: set[str]) -> dict[str, Any]:
        """All connectors with their `status` and `info`; Connect ignores other names of parts."""
        return {name: self._answers.parts(state, parts) for name, state in self._stores.configs().items()}

    def create(self, name: str, config: Mapping[str, Any], initial: TargetState | None = None) -> dict[str, Any]:
        """Register a connector.

        :param initial: its target state, written before the configuration (KIP-980).
        :raises ConfigError: the configuration is not valid; with all errors.
        :raises AlreadyExistsError: it is registered already.
        """
        texts = configurations.accepted(name, config, {}, self._props)
        self._stores.create(name, texts, initial)
        self._show_states([name], initial or TargetState.STARTED)
        return answers.connector_info(name, shown.shown(texts), [], kinds.kind(texts, self.worker))

    def put_config(self, name: str, config: Mapping[str, Any]) -> tuple[bool, dict[str, Any]]:
        """Register a connector, or replace its configuration: whether it is new, and its `ConnectorInfo`.

        :raises ConfigError: the configuration is not valid; with all errors.
        """
        known = self._stores.configs().get(name)
        if known is None:
            try:
                return True, self.create(name, config)
            except AlreadyExistsError:  # another request was faster
                known = self._registered(name)
        texts = configurations.accepted(name, config, known.texts, self._props)
        self._stores.put_config(name, texts)
        return False, answers.connector_info(
            name, shown.shown(texts), self._task_ids(name), kinds.kind(texts, self.worker)
        )

    def patch_config(self, name: str, patch: Mapping[str, Any]) -> dict[str, Any]:
        """Change some keys of a configuration; null removes one (KIP-477).

        :raises NotFoundError: there is no such connector. :raises ConfigError: the result is not valid.
        """
        known = self._registered(name).texts
        merged = {key: value for key, value in {**known, **patch}.items() if value is not None}
        return self.put_config(name, merged)[1]

    def delete(self, name: str) -> None:
        """Forget a connector; its offsets stay. :raises NotFoundError: there is no such connector."""
        self._registered(name)
        self._stores.delete(name)
        self._runs.end(name)
        if isinstance(self._runs, ForgetsRuns):
            self._runs.forget(name)

    def set_target_state(self, name: str, state: TargetState) -> None:
        """Pause, resume or stop a connector. :raises NotFoundError: there is no such connector."""
        self._registered(name, "Unknown connector {}")
        self.set_target_states([name], state)

    def set_target_states(self, names: Collection[str], state: TargetState) -> None:
        """Pause, resume or stop several registered connectors, with as many requests as for one."""
        self._stores.put_target_states(names, state)
        self._show_states(names, state)
        if state is TargetState.STOPPED:
            for name in names:
                self._runs.end(name)

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> dict[str, Any]:
        """Start a run now; returns the plan of the restart, as Connect does (KIP-745).

        :raises NotFoundError: there is no such connector, or it has no status.
        """
        state = self._registered(name, "Unknown connector: {}")
        status = self._status(name)
        if status.status is None:
            raise NotFoundError(f"Status for connector {name} not found")
        plan = answers.connector_state(name, status, kinds.kind(state.texts, self.worker))
        affected = [plan["connector"], *(plan["tasks"] if include_tasks else [])]
        chosen = [each for each in affected if not only_failed or each["state"] == State.FAILED.value]
        for each in chosen:
            each["state"] = State.RESTARTING.value
        if chosen and state.target_state is TargetState.STARTED:
            self._runs.start(name)
        return plan

    def restart_task(self, name: str, task: int) -> None:
        """Start a run now. :raises NotFoundError: there is no such connector or task."""
        self._registered(name, "Unknown connector: {}")
        if task not in self._task_ids(name):
            raise NotFoundError(f"Unknown task: {name}-{task}")
        self._runs.start(name)

    def topics(self, name: str) -> dict[str, Any]:
        """The topics that a connector has used (KIP-558). :raises ForbiddenError: tracking is switched off."""
        if not self.worker.get(_TRACKING):
            raise ForbiddenError("Topic tracking is disabled.")
        return {name: {"topics": list(self._status(name).topics)}}

    def reset_topics(self, name: str) -> None:
        """Forget which topics a connector has used. :raises ForbiddenError: that is switched off."""
        if not self.worker.get(_TRACKING):
            raise ForbiddenError("Topic tracking is disabled.")
        if not self.worker.get(_TRACKING_RESET):
            raise ForbiddenError("Topic tracking reset is disabled.")
        self._stores.forget_topics(name)

    def set_logger_level(self, logger: str, level: str) -> None:
        """Set the level of a logger in all servers of the worker group (KIP-976)."""
        self._stores.put_logger_level(logger, level.upper())

    def offsets(self, name: str) -> dict[str, Any]:
        """Committed offsets (KIP-875). :raises NotFoundError: there is no such connector."""
        with self._validated(name) as (config, worker):
            return {"offsets": offset_changes.read(config, worker)}

    def others_of_group(self, name: str, config: Mapping[str, Any]) -> list[str]:
        """The other connectors whose group a submitted configuration would use from now on: see `newly_named`."""
        return groups.newly_named(name, config, self._stores.configs(), self.worker.group_id)

    def group_of(self, name: str) -> str | None:
        """The group whose DAG runs a registered connector; None if it has a DAG of its own, or is not registered."""
        known = self._stores.configs().get(name)
        return None if known is None else group_of(known.texts)

    def dag_of_runs(self, name: str) -> str | None:
        """The DAG whose task has run a connector that is not registered; None if none has, or if it is registered."""
        runs = None if name in self._stores.configs() else self._stores.runs(name)
        origin = None if runs is None else origin_of(runs)
        return None if origin is None else origin.dag

    def alter_offsets(self, name: str, request: Any, permit: groups.Permit | None = None) -> dict[str, str]:
        """Alter the offsets of a stopped connector (KIP-875).

        :param permit: called for each other connector whose offsets these are, too; see `groups.of_offsets`.
        :raises NotFoundError: there is no such connector.
        :raises ConfigError: it is not stopped, or the request is wrong.
        """
        with self._validated(name, permit) as (config, worker):
            return {"message": offset_changes.alter(config, worker, request, asking_java(config, worker))}

    def reset_offsets(self, name: str, permit: groups.Permit | None = None) -> dict[str, str]:
        """Delete the offsets of a stopped connector. Parameters and exceptions: as `alter_offsets`."""
        with self._validated(name, permit) as (config, worker):
            return {"message": offset_changes.reset(config, worker, asking_java(config, worker))}

    def _registered(self, name: str, text: str = "Connector {} not found") -> ConnectorState:
        state = self._stores.config(name)
        if state is None:
            raise NotFoundError(text.format(name))
        return state

    @contextmanager
    def _validated(
        self, name: str, permit: groups.Permit | None = None
    ) -> Iterator[tuple[ValidatedConfig, WorkerConfig]]:
        with self.resolved(self._registered(name).texts) as found:
            config = validate_connector(found.config, worker=found.worker)
            if permit and config.kind == "sink":
                for other in groups.of_offsets(config.props, self._stores.configs(), found.worker.group_id):
                    permit(other)
            yield config, found.worker

    def _status(self, name: str) -> ConnectorStatus:
        return as_ended(name, self._stores.status(name), self._runs)

    def _task_ids(self, name: str) -> list[int]:
        return self._answers.task_ids(name)

    def _show_states(self, names: Collection[str], target: TargetState) -> None:
        known = self._stores.configs()
        versions = {name: kinds.version(known[name].texts, self.worker) for name in names if name in known}
        self._stores.put_states(_STATE_OF[target], {name: (versions[name], self._task_ids(name)) for name in versions})
