"""The connector that options name, and how its tasks are polled: made in the driver's processes, before each read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.connector.source import PollSourceConnector, SourceConnector
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.converters.base import new_converter
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runtime.bad_records import ErrorHandling
from airflow_kconnect.runtime.conversion.header_stage import HeaderStage
from airflow_kconnect.runtime.retries import Retries
from airflow_kconnect.runtime.source.kinds import share_of
from airflow_kconnect.runtime.source.poll import PollSettings
from airflow_kconnect.spark.options import ReadOptions, in_their_case, split
from airflow_kconnect.spark.plugins import Registered
from airflow_kconnect.validation.connector import (
    Inspection,
    ValidatedConfig,
    inspect_connector,
    validate_connector,
)
from airflow_kconnect.variables.hidden_values import HiddenValues
from airflow_kconnect.variables.resolver import ConfigResolver
from airflow_kconnect.worker_config.keys import WorkerConfig

_NO_KAFKA = {"bootstrap.servers": "localhost:9092"}
_REFUSED = {
    "transforms": "are not applied here: leave them out, and change the DataFrame",
    "errors.deadletterqueue.topic.name": "is not written here, since there is no Kafka: leave it out",
}
_RUN_IT = 'Run it with `kconnect run`, and read its topic with spark.read.format("kafka")'
_READERS = {
    "Jdbc": 'spark.read.format("jdbc")',
    "Table": "spark.read.table(...)",
    "Csv": "spark.read.csv(...)",
    "Json": "spark.read.json(...)",
    "Avro": 'spark.read.format("avro")',
    "File": "spark.read.text(...), csv(...), json(...) or parquet(...)",
}
"""By a part of the names of our own classes."""
_HEADER = "header.converter"


@dataclass(frozen=True)
class OpenedSource:
    """A connector, ready to be read.

    :param headers: writes values of headers that are not bytes. :param hidden: values of variables, for no text.
    """

    connector: PollSourceConnector
    config: ValidatedConfig = field(repr=False)
    headers: HeaderStage
    options: ReadOptions
    hidden: HiddenValues = field(repr=False)

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def errors(self) -> ErrorHandling:
        """What happens to bad records."""
        return ErrorHandling.from_common(self.name, self.config.common)

    def polling(self) -> PollSettings:
        """Of all tasks, from the offsets that the options name up to the bounds of the configuration.

        :raises ConnectError: the connector cannot say which tasks there are.
        """
        configs = tuple(self.connector.task_configs(int(self.config.common["tasks.max"])))
        count, common = len(configs), self.config.common
        most, duration_ms = common.get("kconnect.max.records"), common.get("kconnect.max.duration.ms")
        return PollSettings(
            task_class=self.connector.task_class(),
            configs=configs,
            offsets=self.options.offsets or {},
            shapes=self.connector.shapes(),
            max_records=tuple(share_of(most, count, n) for n in range(count)),
            max_duration_s=None if duration_ms is None else duration_ms / 1000,
            plan_id=None,
            stop_timeout_s=0,
            headers=self.headers,
            retries=Retries.of(common),
            at_offsets=self.connector.commits_at_offsets(),
        )

    @property
    def errors_named(self) -> ErrorsNamed:
        """A block whose errors name the connector."""
        return ErrorsNamed(self.name, self.hidden)


@dataclass
class ErrorsNamed:
    """A block: errors that leave it name the connector, and show variables in place of their values.

    Its own traceback is short: Spark prints it.
    """

    name: str | None
    hidden: HiddenValues = field(repr=False)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, ConfigError):
            errors = {key: [self.hidden.hide(text) for text in texts] for key, texts in error.errors.items()}
            raise ConfigError(errors, error.connector or self.name) from None
        if isinstance(error, ConnectError):
            text = self.hidden.hide(str(error))
            of = f"connector {self.name}"
            raise type(error)(text if self.name is None or of in text else f"{of}: {text}") from None


def opened(options: Mapping[str, str], given: Registered) -> OpenedSource:
    """The connector that the options name.

    :raises ConfigError: with all errors. :raises ConnectError: its own check.
    """
    hidden = HiddenValues()
    with given.found(), ErrorsNamed(None, hidden):
        own, whole, keys = split(options)
        resolver = ConfigResolver.from_worker(given.worker, hidden=hidden)
        worker = WorkerConfig.from_props(resolver.resolve({**_NO_KAFKA, **given.worker}))
        props = _with_name(resolver.resolve(in_their_case(whole, keys, worker)))
        config = _validated(props, worker)
        plugin = registry().connector(config.connector_class)
    with ErrorsNamed(config.name, hidden):
        connector = plugin(config.props)
        assert isinstance(connector, PollSourceConnector)
        connector.check()
        connector.learn([])
        converters = {_HEADER: str(worker.get(_HEADER)), **worker.props}
        headers = HeaderStage.of(new_converter(config.props.get(_HEADER), config.props, converters, "header"))
        return OpenedSource(connector, config, headers, own, hidden)


def _with_name(props: Mapping[str, Any]) -> dict[str, Any]:
    """A name is for errors only here: by default that of the class, without its module."""
    named = str(props.get("connector.class", "")).rpartition(".")[2]
    return {"name": named or "kconnect", **props}


def _validated(props: Mapping[str, Any], worker: WorkerConfig) -> ValidatedConfig:
    """:raises ConfigError: with all errors; among them that the class cannot be read here."""
    inspection = inspect_connector(props, worker=worker, kind="source")
    errors = inspection.errors
    for key, text in _REFUSED.items():
        if inspection.props.get(key):
            errors.setdefault(key, []).append(text)
    if (reason := _why_not_read(inspection)) is not None:
        errors = {"connector.class": [reason]}  # its other keys do not matter here
    if errors:
        raise ConfigError(errors, inspection.props.get("name"))
    return validate_connector(props, worker=worker, kind="source")


def _why_not_read(inspection: Inspection) -> str | None:
    """Why a source has no tasks that could be polled here, and what to use; None: it has."""
    name, plugin = inspection.connector_class, inspection.plugin
    if inspection.hosted is not None:
        return f"{name} is a Java connector. {_RUN_IT}"
    if plugin is None or not issubclass(plugin, SourceConnector) or issubclass(plugin, PollSourceConnector):
        return None
    own = name.rpartition(".")[2] if plugin.__module__.startswith("airflow_kconnect.") else ""
    reader = next((call for part, call in _READERS.items() if part in own), None)
    return f"{name} has no tasks in Python. {_RUN_IT if reader is None else f'Spark reads this itself: {reader}'}"
