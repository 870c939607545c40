"""What is known about a connector, registered or not, from the topics of its worker. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from airflow_kconnect.control.kinds import UNKNOWN
from airflow_kconnect.control.overview.offsets import KnownOffsets
from airflow_kconnect.control.run_states import origin_of
from airflow_kconnect.control.runs import DagTask
from airflow_kconnect.kafka.sink_topics import GROUP_OVERRIDE, sink_group
from airflow_kconnect.stores.config_topic.state import ConnectorState
from airflow_kconnect.stores.status_topic.run_records import CUT_OFF, ConnectorRuns
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.submit.dag_ids import dag_of
from airflow_kconnect.validation.hidden import HIDDEN
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS
from airflow_kconnect.validation.topic_rules import DEAD_LETTER_TOPIC
from airflow_kconnect.variables.syntax import has_reference

_TOPICS, _PATTERN = "topics", "topics.regex"


@dataclass(frozen=True)
class Known:
    """A connector.

    :param registered: its configuration in the config topic; None if it runs from a DAG or a file alone.
    :param kind: `source`, `sink` or `unknown`.
    """

    name: str
    registered: ConnectorState | None = None
    kind: str = UNKNOWN
    target: TargetState = TargetState.STARTED
    status: ConnectorStatus = field(default_factory=ConnectorStatus)
    runs: ConnectorRuns = field(default_factory=ConnectorRuns)
    offsets: KnownOffsets | None = None

    @property
    def props(self) -> Mapping[str, str]:
        """The registered configuration with its secrets; else the one that ran last, without them."""
        return self.registered.texts if self.registered else self.runs.config

    @property
    def connector_class(self) -> str:
        """As the configuration names it."""
        return self.props.get(CONNECTOR_CLASS, "") or self.runs.connector_class

    @property
    def group(self) -> str:
        """The consumer group, if it is a sink."""
        return group_of(self.name, self.props, self.runs)

    @property
    def dead_letter_topic(self) -> str | None:
        """Where records go that fail; None if they are not kept."""
        return self.resolved(DEAD_LETTER_TOPIC, self.runs.dead_letter_topic)

    @cached_property
    def origin(self) -> DagTask | None:
        """The task that has run it last, apart from runs that were started by hand."""
        return origin_of(self.runs)

    @property
    def own_dag(self) -> str | None:
        """The DAG of registered connectors that runs it, alone or with its group; None if it is not registered."""
        return dag_of(self.name, self.registered.texts) if self.registered else None

    @cached_property
    def dag_ids(self) -> tuple[str, ...]:
        """The DAGs that may run it, the one of registered connectors first."""
        own = () if self.own_dag is None else (self.own_dag,)
        return own if self.origin is None else tuple(dict.fromkeys((*own, self.origin.dag)))

    def resolved(self, key: str, by_runs: str | None) -> str | None:
        """A value of the configuration; if it is a variable, the one that the last run had."""
        written = self.props.get(key, "").strip()
        return (
            by_runs
            if has_reference(written) or not is_whole(written)
            else written or (None if self.registered else by_runs)
        )

    def as_sink(self) -> dict[str, str] | None:
        """The configuration with the topics and the group that its lag is about; None if it reads no topics, or if no
        record has all of them.
        """
        named = _TOPICS if self.props.get(_TOPICS) else _PATTERN
        written = self.props.get(named, "")
        topics = ",".join(self.runs.topics)
        if not is_whole(written) or (self.kind != "sink" and not written):
            return None
        if (has_reference(written) or not written) and topics:
            named, written = _TOPICS, topics
        others = {key: text for key, text in self.props.items() if key not in (_TOPICS, _PATTERN)}
        return {**others, "name": self.name, named: written, GROUP_OVERRIDE: self.group}


def is_whole(text: str) -> bool:
    """Whether a value of a run's configuration is the one that it had: secrets and ends of long ones are not kept."""
    return text != HIDDEN and not text.endswith(CUT_OFF)


def group_of(name: str, props: Mapping[str, str], runs: ConnectorRuns | None) -> str:
    """The consumer group of a sink with this configuration."""
    written = props.get(GROUP_OVERRIDE, "")
    if runs is not None and runs.group and (has_reference(written) or not is_whole(written) or not props):
        return runs.group
    return sink_group({**props, "name": name})
