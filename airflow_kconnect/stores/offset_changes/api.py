"""Reading, altering and resetting offsets as with Connect's REST API (KIP-875), without a Connect cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.stores.offset_changes.asking import AskClass
from airflow_kconnect.stores.offset_changes.sink import SinkOffsets
from airflow_kconnect.stores.offset_changes.source import SourceOffsets
from airflow_kconnect.stores.target_states import TargetState, TargetStates
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig


def read(config: ValidatedConfig, worker: WorkerConfig) -> list[dict[str, Any]]:
    """The committed offsets: `[{"partition": {...}, "offset": {...}}]`.

    :param config: the connector's configuration, variables resolved.
    :raises DataError: an offset cannot be read. :raises RetriableError: the broker is unavailable.
    """
    return _offsets(config, worker).read()


def read_named(name: str, worker: WorkerConfig) -> list[dict[str, Any]]:
    """As `read`, for a connector of which only the name is known: from the worker's offset topic, else from its group.

    A connector with its own ``offsets.storage.topic`` or consumer group cannot be found by name.
    """
    known = ValidatedConfig(name, "", "", props={"name": name}, common={})
    return SourceOffsets(known, worker).read() or SinkOffsets(known, worker).read()


def read_unchecked(props: Mapping[str, str], kind: str, worker: WorkerConfig) -> list[dict[str, Any]]:
    """As `read`, for a configuration that need not be valid or complete.

    :param props: at least the name, and what it says about topics of its own and Kafka's clients.
    :param kind: `source` or `sink`.
    """
    config = ValidatedConfig(props["name"], "", kind, props=dict(props), common=dict(props))
    return _offsets(config, worker).read()


def alter(config: ValidatedConfig, worker: WorkerConfig, request: Any, ask: AskClass | None = None) -> str:
    """Replace committed offsets; returns Connect's message.

    :param request: `{"offsets": [{"partition": {...}, "offset": {...} or null}]}`, or the list in it. Partitions that
        it does not name keep their offsets; a null offset resets one.
    :param ask: the Java class of a hosted connector; None: it is not asked.
    :raises ConfigError: the connector is not stopped, the request is wrong, or the class refuses.
    :raises DataError: a run of the connector has not finished its plan.
    :raises RetriableError: the broker is unavailable, or the sink's group is in use.
    """
    offsets = _of_stopped(config, worker, ask)
    return _message(offsets, offsets.alter(request), "altered")


def reset(config: ValidatedConfig, worker: WorkerConfig, ask: AskClass | None = None) -> str:
    """Delete all offsets and any unfinished plan; returns Connect's message. The next run starts from the beginning.

    :param ask: as for `alter`.
    :raises ConfigError: the connector is not stopped, or the class refuses.
    :raises RetriableError: the broker is unavailable, or the sink's group is in use.
    """
    offsets = _of_stopped(config, worker, ask)
    return _message(offsets, offsets.reset(), "reset")


def settle(config: ValidatedConfig, worker: WorkerConfig) -> None:
    """Make the committed offsets of a stopped connector final: a run still in progress can commit nothing more.

    :raises ConfigError: the connector is not stopped.
    :raises DataError: a run has not finished its plan.
    :raises RetriableError: the broker is unavailable, or the sink's group is in use.
    """
    _of_stopped(config, worker).settle()


def _offsets(config: ValidatedConfig, worker: WorkerConfig, ask: AskClass | None = None) -> SourceOffsets | SinkOffsets:
    return SourceOffsets(config, worker, ask) if config.kind == "source" else SinkOffsets(config, worker, ask)


def _of_stopped(
    config: ValidatedConfig, worker: WorkerConfig, ask: AskClass | None = None
) -> SourceOffsets | SinkOffsets:
    state = TargetStates(worker).read(config.name)
    if state is not TargetState.STOPPED:
        text = (
            "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the"
            " specified connector by issuing a 'PUT' request to the"
            f" '/connectors/{config.name}/stop' endpoint, or by `kconnect stop {config.name}` (it is {state.value})"
        )
        raise ConfigError({"offsets": [text]}, config.name)
    return _offsets(config, worker, ask)


def _message(offsets: SourceOffsets | SinkOffsets, external: bool, done: str) -> str:
    """Connect's message, and what became of a plan that a sink had announced."""
    text = f"The offsets for this connector have been {done} successfully"
    if not external:
        text = (
            f"The Connect framework-managed offsets for this connector have been {done} successfully. However, if this"
            f" connector manages offsets externally, they will need to be manually {done} in the system that the"
            " connector uses."
        )
    dropped = offsets.dropped if isinstance(offsets, SinkOffsets) else None
    return text if dropped is None else f"{text.removesuffix('.')}. {dropped[0].upper()}{dropped[1:]}"
