"""What commands ask of registered connectors, whether over a REST API or straight to the topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

Answer = dict[str, Any]


class Connectors(Protocol):
    """Connectors, registered ones unless a call says otherwise; answers are Connect's REST API's, as parsed JSON.

    Every call may raise `ConfigError` (the request is wrong), `NotFoundError`, `RetriableError` (no server or broker
    answers) and, over REST, `ServerError`.
    """

    @property
    def target(self) -> str:
        """Where they are, for messages."""

    def expanded(self) -> dict[str, Answer]:
        """By name: `info` (a `ConnectorInfo`) and `status` (a `ConnectorStateInfo`, missing if there is none)."""

    def rows(self) -> list[Answer]:
        """All connectors, registered or not, in short: see `control.overview.rows`. Of a Connect cluster only name,
        type, class, registered, state, tasks, failed_tasks, cause; `run_state` is None.
        """

    def runs(self, name: str) -> list[Answer]:
        """The last runs of a connector, registered or not, the newest first."""

    def info(self, name: str) -> Answer:
        """A `ConnectorInfo`."""

    def config(self, connector: str) -> dict[str, Any]:
        """The configuration in a file, or the registered one. :param connector: name or file."""

    def in_kafka(self, connector: str, *also: str) -> dict[str, Any]:
        """The part of a configuration that says where the connector is in Kafka, see `kafka_keys`; of one that is not
        registered as its last run had it.

        :param connector: name or file. :param also: prefixes of further keys.
        """

    def status(self, name: str) -> Answer:
        """A `ConnectorStateInfo`."""

    def tasks(self, name: str) -> list[Answer]:
        """A list of `TaskInfo`."""

    def topics(self, name: str) -> list[str]:
        """Names of the topics that the connector has used, sorted."""

    def reset_topics(self, name: str) -> None:
        """Forget which topics the connector has used."""

    def create(self, name: str, config: Mapping[str, Any], initial: str | None) -> Answer:
        """Register a connector; its `ConnectorInfo`.

        :param initial: its target state: STARTED, PAUSED or STOPPED; None is STARTED.
        """

    def put_config(self, name: str, config: Mapping[str, Any]) -> tuple[bool, Answer]:
        """Register a connector or replace its configuration: whether it is new, and its `ConnectorInfo`.

        Values that are `[hidden]` stay as they are registered.
        """

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Answer:
        """Change some keys, None removes one; the `ConnectorInfo`."""

    def delete(self, name: str) -> None:
        """Forget a connector; its offsets stay."""

    def set_target_state(self, connector: str, state: str, *, force: bool = False) -> None:
        """Pause, resume or stop a connector.

        :param connector: name or file. :param state: STARTED, PAUSED or STOPPED.
        :param force: also if nothing is known of a connector of this name. A REST API knows registered ones only.
        """

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> Answer | None:
        """Start it again now; the plan of the restart, if there is one."""

    def offsets(self, connector: str) -> list[Answer]:
        """Committed offsets. :param connector: name or file."""

    def alter_offsets(self, connector: str, request: Any) -> str:
        """Alter the offsets of a stopped connector; the message. :param connector: name or file."""

    def reset_offsets(self, connector: str) -> str:
        """Delete the offsets of a stopped connector; the message. :param connector: name or file."""

    def overview(self, connectors: list[str] | None) -> list[Answer]:
        """Of each: name, state (its target state), kind, offsets, lag, status.

        :param connectors: names or files; None: all that are known.
        """

    def lag(self, connector: str) -> Answer:
        """What a sink still has to read: connector, records, seconds, topics. :param connector: name or file."""

    def lags(self) -> list[Answer]:
        """Of all sinks: connector, and records, which is None if it cannot be known."""

    def previewed(self, connector: str, wanted: Mapping[str, Any]) -> Answer:
        """What its transformations make of records: `transformations`, `records`, as `POST .../preview` answers.

        :param connector: name or file. :param wanted: `latest` or `records`, as in that request.
        """

    def close(self) -> None:
        """Close connections and end threads."""
