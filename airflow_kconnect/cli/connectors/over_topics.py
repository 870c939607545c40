"""Registered connectors straight from a worker's topics, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from typing import Any

from airflow_kconnect.cli.connectors.api import Answer
from airflow_kconnect.cli.worker import resolved
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.sink_topics import sink_group
from airflow_kconnect.connect.validation.worker_keys import PREVIEW_SOURCES, WorkerConfig
from airflow_kconnect.control.errors import ForbiddenError, NotFoundError
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.submit import operations
from airflow_kconnect.submit.operations import connector_name, is_name
from airflow_kconnect.submit.preflight import connector_config


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
        from airflow_kconnect.control.stores import ControlStores

        return ControlPlane(self._props, ControlStores(self._props, follow=False))

    def expanded(self) -> dict[str, Answer]:
        return self._plane.expanded({"info", "status"})

    def info(self, name: str) -> Answer:
        return self._plane.info(name)

    def config(self, connector: str) -> dict[str, Any]:
        known = self._config(connector)
        if known is None:
            text = f"{connector} is not registered at {self.target}: give its file, for its configuration is needed"
            raise ConfigError({"connector": [text]}, connector)
        return known

    def status(self, name: str) -> Answer:
        return self._plane.status(name)

    def tasks(self, name: str) -> list[Answer]:
        return self._plane.tasks(name)

    def topics(self, name: str) -> list[str]:
        return sorted(self._plane.topics(name)[name]["topics"])

    def reset_topics(self, name: str) -> None:
        self._plane.reset_topics(name)

    def create(self, name: str, config: Mapping[str, Any], initial: str | None) -> Answer:
        return self._plane.create(name, config, TargetState(initial) if initial else None)

    def put_config(self, name: str, config: Mapping[str, Any]) -> tuple[bool, Answer]:
        return self._plane.put_config(name, config)

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Answer:
        return self._plane.patch_config(name, patch)

    def delete(self, name: str) -> None:
        self._plane.delete(name)

    def set_target_state(self, connector: str, state: str, *, force: bool = False) -> None:
        """Also of a connector that is not registered, but runs from a file or a DAG."""
        with self._worker() as worker:
            name = connector_name(connector)
            operations.set_target_state(name, state, worker, force=force or not is_name(connector))

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> Answer | None:
        self._plane.info(name)
        raise ForbiddenError(
            f"Connector {name} cannot be restarted here: nothing at {self.target} starts runs. Start one with "
            "`kconnect run` and the connector's file or by its DAG, or name a REST API that does, such as Airflow's, "
            "with --server"
        )

    def offsets(self, connector: str) -> list[Answer]:
        config = self._config(connector)
        with resolved(config or {}, self._props) as (known, worker):
            return operations.show_offsets(known or connector, worker)

    def alter_offsets(self, connector: str, request: Any) -> str:
        with resolved(self.config(connector), self._props) as (config, worker):
            return operations.alter_offsets(config, worker, request)

    def reset_offsets(self, connector: str) -> str:
        with resolved(self.config(connector), self._props) as (config, worker):
            return operations.reset_offsets(config, worker)

    def overview(self, connectors: list[str] | None) -> list[Answer]:
        from airflow_kconnect.stores.watching.overview import overview

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
        config = self._config(connector)
        with resolved(config or {}, self._props) as (known, worker):
            return operations.sink_lag(known or connector, worker)

    def previewed(self, connector: str, wanted: Mapping[str, Any]) -> Answer:
        """Here it is the user's own machine that reads a source."""
        from airflow_kconnect.control import previews
        from airflow_kconnect.control.stores import ControlStores

        props = {**self._props, PREVIEW_SOURCES: "true"}
        config = None if is_name(connector) else connector_config(connector)
        plane = ControlPlane(props, ControlStores(props, follow=False))
        try:
            name = connector_name(config or connector)
            if "records" in wanted:
                return previews.of_samples(plane, name, config, wanted["records"])
            return previews.of_live(plane, name, config, wanted["latest"])
        finally:
            plane.close()

    def close(self) -> None:
        if "_plane" in self.__dict__:
            self._plane.close()

    @contextmanager
    def _worker(self) -> Iterator[dict[str, Any]]:
        with resolved({}, self._props) as (_, worker):
            yield worker

    def _config(self, connector: str) -> dict[str, Any] | None:
        """The configuration in a file, or the registered one; None if there is none."""
        if not is_name(connector):
            return connector_config(connector)
        try:
            return dict(self._plane.registered_config(connector))
        except NotFoundError:
            return None

    def _group(self, connector: str) -> tuple[str, str]:
        """Name and consumer group."""
        name = connector_name(connector)
        config = self._config(connector) or {}
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
