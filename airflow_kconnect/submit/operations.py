"""What operators and the command line do with a connector besides running it: target state, offsets, validation.

Configurations are passed with their variables resolved, unless a function says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit import statuses
from airflow_kconnect.submit.preflight import check_configuration, connector_config
from airflow_kconnect.submit.registered import Connector, RegisteredConnector, read_registered
from airflow_kconnect.submit.yaml_file import YAML_SUFFIXES
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig

STARTED, PAUSED, STOPPED = "STARTED", "PAUSED", "STOPPED"

_FILES = (".json", ".properties", *YAML_SUFFIXES)


def is_name(connector: Connector) -> TypeGuard[str]:
    """Whether a connector is given by its name: a text that is not JSON and does not end like a connector file."""
    return isinstance(connector, str) and not connector.lstrip().startswith("{") and not connector.endswith(_FILES)


def registered_name(connector: Connector, folder: Path | None = None) -> str | None:
    """The name of a connector whose configuration is in the config topic; None if it was given in another way.

    :param folder: a text may be the path of a file, relative to this folder; one that exists wins. A folder of the name
        does not: that of a sink's files may be called as it is.
    """
    if isinstance(connector, RegisteredConnector):
        return connector.name if connector.file is None else None
    if not is_name(connector) or not connector.strip():
        return None
    path = (folder or Path()) / connector
    return None if path.exists() and not path.is_dir() else connector.strip()


def connector_name(connector: Connector, folder: Path | None = None) -> str:
    """The name of a connector that is given by its name, or as for `connector_config`.

    :raises ConfigError: there is no name, or no such file.
    """
    if isinstance(connector, RegisteredConnector):
        return connector.name
    name = connector if is_name(connector) else connector_config(connector, folder).get("name")
    if name is None or not str(name).strip():
        raise ConfigError({"name": ['Missing required configuration "name" which has no default value.']})
    return str(name).strip()


def check_known(name: str, worker: Mapping[str, Any]) -> None:
    """Whether a name is that of a connector: a typing error must not look like a success.

    :raises ConfigError: none of this name is registered, and none has a state, a status, offsets or a consumer group.
    :raises RetriableError: the broker is unavailable.
    """
    registered = read_registered(worker).connectors
    if name in registered or name in (others := known_names(worker)):
        return
    similar = get_close_matches(name, {*registered, *others}, n=1)
    hint = (
        f": did you mean `{similar[0]}`?"
        if similar
        else ". If it has an offset topic or a group of its own, give its file"
    )
    text = f"no connector `{name}` is registered or has run{hint}"
    raise ConfigError({"connector": [text]})


def known_names(worker: Mapping[str, Any]) -> set[str]:
    """The connectors that have a state, a status, offsets or a consumer group, registered or not.

    :raises RetriableError: the broker is unavailable.
    """
    from airflow_kconnect.stores.positions.all_connectors import names

    return names(WorkerConfig.from_props(worker))


def target_state(name: str, worker: Mapping[str, Any]) -> str:
    """STARTED, PAUSED or STOPPED; STARTED if none is recorded.

    :raises RetriableError: the broker is unavailable.
    """
    from airflow_kconnect.stores.target_states import TargetStates

    return TargetStates(WorkerConfig.from_props(worker)).read(name).value


def set_target_state(name: str, state: str, worker: Mapping[str, Any], *, force: bool = True) -> None:
    """Set the target state of a connector; runs in progress are not ended. The status follows.

    :param force: whether it may be one that has never run, of which only the name is given.
    :raises ConfigError: there is no such connector.
    :raises RetriableError: the broker is unavailable.
    """
    from airflow_kconnect.stores.target_states import TargetState, TargetStates

    if not force:
        check_known(name, worker)
    TargetStates(WorkerConfig.from_props(worker)).write(name, TargetState(state))
    statuses.show_target_state(name, state, worker)


def not_started_text(name: str, state: str) -> str:
    """Why a run does nothing, and what to do about it."""
    return f"Connector {name} is {state.lower()}: nothing was moved. Resume it with `kconnect resume {name}`"


def show_offsets(connector: Mapping[str, Any] | str, worker: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Committed offsets in the format of Connect's REST API.

    :param connector: the configuration, or just the name; see `offset_changes.api.read_named`.
    """
    from airflow_kconnect.stores.offset_changes import api as connector_offsets

    known = WorkerConfig.from_props(worker)
    if isinstance(connector, str):
        if not (offsets := connector_offsets.read_named(connector, known)):
            check_known(connector, worker)
        return offsets
    return connector_offsets.read(validate_connector(connector, worker=known), known)


def offsets_of_parts(config: Mapping[str, Any], kind: str, worker: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As `show_offsets`, of a configuration of which only `kafka_keys` are given. :param kind: `source` or `sink`."""
    from airflow_kconnect.stores.offset_changes import api as connector_offsets

    texts, _ = texts_of(config)
    return connector_offsets.read_unchecked(texts, kind, WorkerConfig.from_props(worker))


def sink_lag(connector: Mapping[str, Any] | str, worker: Mapping[str, Any]) -> dict[str, Any]:
    """What a sink still has to read: connector, records, seconds, topics.

    :param connector: the configuration, or just the name: then the topics are those for which its consumer group
        `connect-<name>` has committed offsets.
    :raises ConfigError: the connector is not a sink, or a topic does not exist.
    :raises RetriableError: the broker is unavailable.
    """
    from airflow_kconnect.stores.positions.conditions import current_lag
    from airflow_kconnect.stores.positions.positions import ConnectorPositions

    config = _sink_of_group(connector, worker) if isinstance(connector, str) else connector
    return current_lag(ConnectorPositions(config, worker))


def waiting_dead_letters(config: Mapping[str, Any], worker: Mapping[str, Any]) -> dict[str, Any]:
    """The dead letters of a sink that were not replayed yet; see `stores.positions.dead_letters`."""
    from airflow_kconnect.stores.positions import dead_letters

    return dead_letters.waiting_dead_letters(config, worker)


def no_lag(source: str) -> ConfigError:
    """The error about the lag of a source."""
    text = f"{source} is a source, and only sinks have a lag in Kafka. `kconnect status {source}` shows how far it is"
    return ConfigError({"connector": [text]}, source)


def _sink_of_group(name: str, worker: Mapping[str, Any]) -> dict[str, str]:
    partitions = [entry["partition"] for entry in show_offsets(name, worker)]
    topics = sorted({partition["kafka_topic"] for partition in partitions if "kafka_topic" in partition})
    if partitions and not topics:
        raise no_lag(name)
    if not topics:
        text = f"{name} has committed no offsets. For a sink that has not run yet, give its configuration or its file"
        raise ConfigError({"connector": [text]}, name)
    return {"name": name, "topics": ",".join(topics)}


def alter_offsets(config: Mapping[str, Any], worker: Mapping[str, Any], request: Any) -> str:
    """Alter committed offsets; returns Connect's message. See `offset_changes.api.alter`.

    The class of a hosted connector is asked, if Java is on this machine: `ending_questions` ends the JVM.
    """
    from airflow_kconnect.hosted.asking.offsets import asking_java
    from airflow_kconnect.stores.offset_changes import api as connector_offsets

    known = WorkerConfig.from_props(worker)
    validated = validate_connector(config, worker=known)
    return connector_offsets.alter(validated, known, request, asking_java(validated, known))


def reset_offsets(config: Mapping[str, Any], worker: Mapping[str, Any]) -> str:
    """Delete all committed offsets; returns Connect's message. See `alter_offsets`."""
    from airflow_kconnect.hosted.asking.offsets import asking_java
    from airflow_kconnect.stores.offset_changes import api as connector_offsets

    known = WorkerConfig.from_props(worker)
    validated = validate_connector(config, worker=known)
    return connector_offsets.reset(validated, known, asking_java(validated, known))


@contextmanager
def ending_questions() -> Iterator[None]:
    """End the JVM that classes were asked in, if there is one: a task may run for hours after its question."""
    from airflow_kconnect.hosted.asking.warm import WARM

    try:
        yield
    finally:
        WARM.close()


def settle_offsets(config: Mapping[str, Any], worker: Mapping[str, Any]) -> None:
    """Make the committed offsets of a stopped connector final. See `offset_changes.api.settle`."""
    from airflow_kconnect.stores.offset_changes import api as connector_offsets

    known = WorkerConfig.from_props(worker)
    connector_offsets.settle(validate_connector(config, worker=known), known)


def validated(
    config: Mapping[str, Any], worker: Mapping[str, Any], variables: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Details of a valid configuration: connector, connector_class, kind, warnings. Makes no connections.

    :param config: variables not resolved; what depends on them is checked when the connector runs.
    :param variables: as for `check_configuration`.
    :raises ConfigError: with all errors.
    """
    warnings = check_configuration(config, worker, None, variables)
    inspection = inspect_without_references(config, worker)
    return {
        "connector": inspection.props.get("name"),
        "connector_class": inspection.connector_class,
        "kind": inspection.kind,
        "warnings": warnings,
    }
