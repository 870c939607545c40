"""Registered connectors straight from a worker's topics, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from airflow_kconnect.cli.airflow_variables import airflow_variables
from airflow_kconnect.cli.connectors.api import Answer
from airflow_kconnect.cli.connectors.given import file_config, not_registered
from airflow_kconnect.cli.worker import resolved
from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.control import kinds
from airflow_kconnect.control.errors import ForbiddenError, NotFoundError
from airflow_kconnect.control.overview.known import is_whole
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.kafka.connector_keys import kafka_keys
from airflow_kconnect.kafka.sink_topics import sink_group
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.submit import operations
from airflow_kconnect.submit.operations import connector_name, is_name
from airflow_kconnect.validation.topic_rules import DEAD_LETTER_TOPIC
from airflow_kconnect.worker_config.keys import PREVIEW_SOURCES, WorkerConfig

if TYPE_CHECKING:
    from airflow_kconnect.control.overview.watch import Watch


class OverTopics:
    """See `Connectors`. The topics are read with the first question that needs them.

    :param props: the worker's keys, as they were written.
    """

    def __init__(self, props: Mapping[str, str]) -> None:
        self._props = props
        self._checked: set[str] = set()  # names that are looked at again and again

    @property
    def target(self) -> str:
        return f"the topics of {self._props.get('bootstrap.servers', 'the worker')}"

    @cached_property
    def _plane(self) -> ControlPlane:
        return self._opened(self._props)

    @cached_property
    def _watch(self) -> Watch:
        from airflow_kconnect.control.overview.watch import Watch

        return Watch(self._plane, follow=False)

    def expanded(self) -> dict[str, Answer]:
        return self._plane.expanded({"info", "status"})

    def rows(self) -> list[Answer]:
        return self._watch.rows()

    def runs(self, name: str) -> list[Answer]:
        with self._known_at_least(name):
            return list(self._watch.detail(name)["history"])

    def info(self, name: str) -> Answer:
        with self._explained(name):
            return self._plane.info(name)

    def config(self, connector: str) -> dict[str, Any]:
        if not is_name(connector):
            return file_config(connector)
        with self._explained(connector):
            return dict(self._plane.registered_config(connector))

    def in_kafka(self, connector: str, *also: str) -> dict[str, Any]:
        config = self._config(connector) or self._last_run(connector)
        return kafka_keys(config or self.config(connector), also)

    def status(self, name: str) -> Answer:
        return self._plane.status(name)

    def tasks(self, name: str) -> list[Answer]:
        with self._explained(name):
            return self._plane.tasks(name)

    def topics(self, name: str) -> list[str]:
        """Also of a connector that is not registered: by its runs, and of a sink by its offsets."""
        used = set(self._plane.topics(name)[name]["topics"])
        if not used and name not in self._plane.names():
            partitions = [entry["partition"] for entry in self.offsets(name)]
            used = {partition["kafka_topic"] for partition in partitions if "kafka_topic" in partition}
            recorded = self._plane.known_runs(name)
            used.update(recorded.topics if recorded else ())
        return sorted(used)

    def reset_topics(self, name: str) -> None:
        with self._explained(name):
            self._plane.info(name)
        self._plane.reset_topics(name)

    def create(self, name: str, config: Mapping[str, Any], initial: str | None) -> Answer:
        return self._plane.create(name, config, TargetState(initial) if initial else None)

    def put_config(self, name: str, config: Mapping[str, Any]) -> tuple[bool, Answer]:
        return self._plane.put_config(name, config)

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Answer:
        with self._explained(name):
            return self._plane.patch_config(name, patch)

    def delete(self, name: str) -> None:
        with self._explained(name):
            self._plane.delete(name)

    def set_target_state(self, connector: str, state: str, *, force: bool = False) -> None:
        """Also of a connector that is not registered, but runs from a file or a DAG."""
        with self._worker() as worker:
            name = connector_name(connector)
            operations.set_target_state(name, state, worker, force=force or not is_name(connector))

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> Answer | None:
        self.info(name)
        raise ForbiddenError(
            f"Connector {name} cannot be restarted here: nothing at {self.target} starts runs. `kconnect run {name}` "
            "runs it now, and so does its DAG; with --server a REST API that starts runs, such as Airflow's, is asked"
        )

    def offsets(self, connector: str) -> list[Answer]:
        config = self._config(connector) or self._last_run(connector)
        if config is None:
            with self._worker() as worker:
                return operations.show_offsets(connector, worker)
        kind = self._kind(config)
        with resolved(kafka_keys(config), self._props) as (known, worker):
            return operations.offsets_of_parts(known, kind, worker)

    def alter_offsets(self, connector: str, request: Any) -> str:
        with resolved(self.config(connector), self._props) as (config, worker):
            return operations.alter_offsets(config, worker, request)

    def reset_offsets(self, connector: str) -> str:
        with resolved(self.config(connector), self._props) as (config, worker):
            return operations.reset_offsets(config, worker)

    def overview(self, connectors: list[str] | None) -> list[Answer]:
        from airflow_kconnect.stores.positions.all_connectors import overview

        self._plane.read_to_end()
        with self._worker() as worker:
            for each in {each for each in connectors or () if is_name(each)} - self._checked:
                operations.check_known(each.strip(), worker)
                self._checked.add(each)
            groups = dict(map(self._group, connectors)) if connectors else None
            seen = overview(WorkerConfig.from_props(worker), groups)
        known = {each.name: self._with_status(asdict(each)) for each in seen}
        if connectors is None:
            known |= {name: self._unseen(name) for name in self._plane.names() if name not in known}
            return [known[name] for name in sorted(known)]
        return list(known.values())

    def lag(self, connector: str) -> Answer:
        config = self._config(connector) or self._last_run(connector)
        if config is None:
            with self._worker() as worker:
                return operations.sink_lag(connector, worker)
        if self._kind(config) == "source":
            raise operations.no_lag(connector_name(connector))
        with resolved(kafka_keys(config), self._props) as (known, worker):
            return operations.sink_lag(known, worker)

    def lags(self) -> list[Answer]:
        """Sinks that are registered or have left records of runs by their topics, others by their groups' offsets."""
        seen = self._watch.look()
        sinks = {name for name, known in seen.connectors.items() if known.as_sink()}
        by_offsets = {each["name"]: each["lag"] for each in self.overview(None) if each["kind"] == "sink"}
        lags = {**dict.fromkeys(sinks), **by_offsets, **self._watch.lags(seen, sinks).lags}
        return [{"connector": name, "records": lags[name]} for name in sorted(lags)]

    def previewed(self, connector: str, wanted: Mapping[str, Any]) -> Answer:
        """Here it is the user's own machine that reads a source."""
        from airflow_kconnect.control import previews

        config = None if is_name(connector) else file_config(connector)
        plane = self._opened({**self._props, PREVIEW_SOURCES: "true"})
        try:
            name = connector_name(config or connector)
            if "records" in wanted:
                return previews.of_samples(plane, name, config, wanted["records"])
            return previews.of_live(plane, name, config, wanted["latest"])
        finally:
            plane.close()

    def close(self) -> None:
        if "_watch" in self.__dict__:
            self._watch.close()
        if "_plane" in self.__dict__:
            self._plane.close()

    @staticmethod
    def _opened(props: Mapping[str, str]) -> ControlPlane:
        from airflow_kconnect.control.stores import ControlStores

        stores = ControlStores(props, airflow_variables({}, props), follow=False)
        return ControlPlane(props, stores, variables=airflow_variables)

    @contextmanager
    def _known_at_least(self, name: str) -> Iterator[None]:
        """A connector whose runs leave no records may be known by its offsets; a name may have been mistyped."""
        text = f"{name} has run, but its runs have left no records: their worker had no `status.storage.topic`"
        with self._explained(name, text):
            yield

    @contextmanager
    def _explained(self, name: str, text: str | None = None) -> Iterator[None]:
        """A connector that is not found may have run; a name may have been mistyped.

        :param text: about one that has run. Default: that it is not registered.
        """
        try:
            yield
        except NotFoundError:
            with self._worker() as worker:
                operations.check_known(name, worker)
            raise NotFoundError(text or not_registered(name)) from None

    def _kind(self, config: Mapping[str, Any]) -> str:
        """`source` or `sink`; of a class that is not known here by its topics."""
        texts, _ = texts_of(config)
        kind = kinds.kind(texts, self._plane.worker)
        if kind != kinds.UNKNOWN:
            return kind
        return "sink" if "topics" in texts or "topics.regex" in texts else "source"

    @contextmanager
    def _worker(self) -> Iterator[dict[str, Any]]:
        with resolved({}, self._props) as (_, worker):
            yield worker

    def _config(self, connector: str) -> dict[str, Any] | None:
        """The configuration in a file, or the registered one; None if there is none."""
        if not is_name(connector):
            return file_config(connector)
        try:
            return dict(self._plane.registered_config(connector))
        except NotFoundError:
            return None

    def _last_run(self, name: str) -> dict[str, Any] | None:
        """What the last run of a connector that is not registered had, as far as it says where it is in Kafka; None if
        no run has left a record with all of that.
        """
        known = None if not is_name(name) else self._watch.unregistered(name)
        if known is None or not known.runs.runs:
            return None
        if not all(map(is_whole, kafka_keys(known.props).values())):
            return None
        letters = {DEAD_LETTER_TOPIC: known.dead_letter_topic} if known.dead_letter_topic else {}
        return {**known.props, **(known.as_sink() or {}), **letters, "name": name}

    def _group(self, connector: str) -> tuple[str, str]:
        """Name and consumer group."""
        name = connector_name(connector)
        config = self._config(connector) or self._last_run(connector) or {}
        return name, sink_group({**{key: str(value) for key, value in config.items()}, "name": name})

    def _status_or_none(self, name: str) -> Answer | None:
        try:
            return self._plane.status(name)
        except NotFoundError:
            return None

    def _with_status(self, seen: Answer) -> Answer:
        status = self._status_or_none(seen["name"])
        registered_kind = status["type"] if status and status["type"] in ("source", "sink") else None
        return {**seen, "kind": seen["kind"] or registered_kind, "status": status}

    def _unseen(self, name: str) -> Answer:
        """A registered connector of which nothing has run, and which was not paused."""
        state = TargetState.STARTED.value
        kind = self._plane.info(name)["type"]
        status = self._status_or_none(name)
        return {"name": name, "state": state, "kind": kind, "offsets": [], "lag": None, "status": status}
