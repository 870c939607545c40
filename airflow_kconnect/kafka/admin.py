"""Admin requests: whether the broker is reachable, topics, their settings, their offsets and those of groups."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
)
from confluent_kafka import TopicPartition as KafkaTopicPartition
from confluent_kafka.admin import (
    AdminClient,
    ClusterMetadata,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds, Committed, GroupState, Topic, committed_in, state_in
from airflow_kconnect.kafka.coordinators import ReplaceableClient, descriptions, offsets_of
from airflow_kconnect.kafka.errors import error_of, is_not_yet, text_of, translate, translated, will_not_pass

log = logging.getLogger(__name__)

_BAD_TOPIC = (KafkaError.INVALID_REPLICATION_FACTOR, KafkaError.INVALID_PARTITIONS, KafkaError.INVALID_CONFIG)
# What the client knows of a partition's leader is too old, or it knows none.
_OF_OLD_LEADERS = (KafkaError._NOENT, KafkaError.FENCED_LEADER_EPOCH)
_KEY_OF = {
    KafkaError.INVALID_REPLICATION_FACTOR: "replication.factor",
    KafkaError.INVALID_PARTITIONS: "partitions",
}
_LONGEST_TRANSACTION_MS = 900_000
_NO_ID = "A" * 22

_T = TypeVar("_T")


class KafkaAdmin:
    """Admin requests against one cluster; connects on the first request.

    :param config: librdkafka configuration.
    :param timeout_s: time limit of one request, and how long to wait for an unreachable broker.
    """

    def __init__(self, config: Mapping[str, Any], timeout_s: float = 20.0) -> None:
        self._servers = str(config.get("bootstrap.servers", ""))
        self._timeout_s = self._coordinator_timeout_s = timeout_s
        self._errors: list[KafkaError] = []
        self._groups_with_coordinator: set[str] = set()
        self._clients = ReplaceableClient({**config, "error_cb": self._errors.append})

    @property
    def _client(self) -> AdminClient:
        return self._clients.current

    def check_reachable(self) -> dict[str, int]:
        """Wait until a broker answers; returns every topic with its number of partitions.

        :raises ConfigError: authentication or encryption failed permanently.
        :raises RetriableError: no broker answered in time; the text says why.
        """
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                return _sizes(self._client.list_topics(timeout=1.5))
            except KafkaException as error:
                self._client.poll(0)
                refused = next((e for e in self._errors if will_not_pass(e)), None)
                late = time.monotonic() > deadline
                if refused is None and late:
                    refused = next((e for e in self._errors if e.code() == KafkaError._AUTHENTICATION), None)
                if refused is not None:
                    raise translate(refused, f"connecting to {self._servers}") from error
                if late:
                    raise RetriableError(self._unreachable(error_of(error))) from error

    @property
    def servers(self) -> str:
        """The brokers, as they were configured."""
        return self._servers

    def problem(self) -> str | None:
        """Why no broker answers right now, after a second and a half; None if one does."""
        try:
            self._client.list_topics(timeout=1.5)
        except KafkaException as error:
            return text_of(error_of(error))
        return None

    def _unreachable(self, last: KafkaError) -> str:
        causes = [text_of(e) for e in self._errors if e.code() != KafkaError._ALL_BROKERS_DOWN] or [text_of(last)]
        return (
            f"no Kafka broker answers at {self._servers} after {self._timeout_s:.0f} s: {causes[-1]};"
            " check `bootstrap.servers` and `security.protocol`, and that the broker runs"
        )

    def cluster(self) -> tuple[str, int]:
        """The cluster's id and its number of brokers."""

        def ask() -> tuple[str, int]:
            cluster = self._client.describe_cluster(request_timeout=self._timeout_s).result()
            return cluster.cluster_id, len(cluster.nodes)

        return self._settled("looking up the cluster", ask)

    def partitions(self, topic: str) -> int:
        """Number of partitions of a topic; 0 if it does not exist."""

        def ask() -> int:
            known = self._client.list_topics(topic, self._timeout_s).topics.get(topic)
            if known is None or (known.error and known.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART):
                return 0
            if known.error:
                raise KafkaException(known.error)
            return len(known.partitions)

        return self._settled(f"looking up topic {topic}", ask)

    def topics(self) -> dict[str, int]:
        """Every topic with its number of partitions."""
        metadata = self._settled("listing topics", lambda: self._client.list_topics(timeout=self._timeout_s))
        return _sizes(metadata)

    def described(self, topics: Iterable[str]) -> dict[str, Topic]:
        """Describe the topics, leaving out those that do not exist; a single request."""
        names = list(topics)
        if not names:
            return {}

        def ask() -> dict[str, Topic]:
            futures = self._client.describe_topics(TopicCollection(names), request_timeout=self._timeout_s)
            descriptions = {}
            for name in names:
                try:
                    topic = futures[name].result()
                    descriptions[name] = Topic(len(topic.partitions), _shown(topic.topic_id))
                except KafkaException as error:
                    if error_of(error).code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                        raise
            return descriptions

        return self._settled("looking up topics", ask)

    def create_topic(
        self,
        topic: str,
        partitions: int = -1,
        replication: int = -1,
        settings: Mapping[str, str] | None = None,
        *,
        prefix: str | None = None,
    ) -> bool:
        """Create a topic; -1 means the broker's default. Returns False if another process has already created it.

        :param prefix: of the configuration keys to name if the broker rejects them; None: `topic.creation`.
        :raises ConfigError: the broker rejects the settings; the text contains its answer.
        """
        new = NewTopic(topic, partitions, replication, config=dict(settings or {}))
        try:
            self._client.create_topics([new], request_timeout=self._timeout_s)[topic].result()
        except KafkaException as error:
            code = error_of(error).code()
            if code == KafkaError.TOPIC_ALREADY_EXISTS:
                self._await_metadata(topic)
                return False
            if code in _BAD_TOPIC:
                raise _refused(topic, replication, prefix, error_of(error)) from error
            raise translated(error, f"creating topic {topic}") from error
        self._await_metadata(topic)
        return True

    def delete_topics(self, topics: Iterable[str]) -> None:
        """Ask for topics to be deleted; brokers may still list them for a while. One that is gone is not an error."""
        if not (names := list(topics)):
            return
        for topic, deleted in self._client.delete_topics(names, request_timeout=self._timeout_s).items():
            try:
                deleted.result()
            except KafkaException as error:
                if error_of(error).code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise translated(error, f"deleting topic {topic}") from error

    def _await_metadata(self, topic: str) -> None:
        deadline = time.monotonic() + self._timeout_s
        while self.partitions(topic) == 0:
            if time.monotonic() > deadline:
                raise RetriableError(f"topic {topic} was created but does not show up after {self._timeout_s:.0f} s")
            time.sleep(0.05)

    def setting(self, topic: str, name: str) -> str:
        """The value of a topic setting, such as ``cleanup.policy``."""
        resource = ConfigResource(ResourceType.TOPIC, topic)
        settings = self._settled(
            f"reading the settings of topic {topic}",
            lambda: self._client.describe_configs([resource], request_timeout=self._timeout_s)[resource].result(),
        )
        return str(settings[name].value)

    def longest_transaction_ms(self) -> int:
        """The brokers' ``transaction.max.timeout.ms``; Kafka's default where this principal may not query it."""
        try:
            brokers = self._client.describe_cluster(request_timeout=self._timeout_s).result().nodes
            resource = ConfigResource(ResourceType.BROKER, str(brokers[0].id))
            settings = self._client.describe_configs([resource], request_timeout=self._timeout_s)[resource].result()
        except KafkaException as error:
            log.info("the brokers' transaction.max.timeout.ms is not known: %s", error_of(error).str())
            return _LONGEST_TRANSACTION_MS
        return int(settings["transaction.max.timeout.ms"].value)

    def end_offsets(self, topic: str, partitions: Iterable[int], *, committed: bool) -> dict[int, int]:
        """End offset of each partition: for read_committed readers, or including open transactions."""
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        return self._offsets(topic, partitions, OffsetSpec.latest(), isolation_level=level)

    def begin_offsets(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """Begin offset of each partition."""
        return self._offsets(topic, partitions, OffsetSpec.earliest())

    def offsets_at(self, topic: str, partitions: Iterable[int], timestamp_ms: int) -> dict[int, int]:
        """The first offset of each partition whose record has this timestamp or a later one; -1 if there is none."""
        return self._offsets(topic, partitions, OffsetSpec.for_timestamp(timestamp_ms))

    def committed_ends(self, topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The end offsets of partitions of any topics for read_committed readers; a single request."""
        level = IsolationLevel.READ_COMMITTED
        return self._listed("reading the ends of topics", topic_partitions, OffsetSpec.latest(), isolation_level=level)

    def bounds(self, topic_partitions: Collection[TopicPartition]) -> dict[TopicPartition, Bounds]:
        """Begin and end offsets of partitions, for any number of topics in three requests."""
        # The log end first: records written in between must not look like an open transaction.
        log_ends = self._listed(
            "reading the ends of topics",
            topic_partitions,
            OffsetSpec.latest(),
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
        )
        ends = self.committed_ends(log_ends)
        begins = self._listed("reading the begins of topics", log_ends, OffsetSpec.earliest())
        return {tp: Bounds(begins[tp], end, max(log_ends[tp], end)) for tp, end in ends.items()}

    def _offsets(self, topic: str, partitions: Iterable[int], spec: OffsetSpec, **options: Any) -> dict[int, int]:
        topic_partitions = [TopicPartition(topic, p) for p in partitions]
        offsets = self._listed(f"reading the offsets of topic {topic}", topic_partitions, spec, **options)
        return {tp.partition: offset for tp, offset in offsets.items()}

    def _listed(
        self, doing: str, topic_partitions: Iterable[TopicPartition], spec: OffsetSpec, **options: Any
    ) -> dict[TopicPartition, int]:
        specs = {KafkaTopicPartition(tp.topic, tp.partition): spec for tp in topic_partitions}
        if not specs:
            return {}

        def ask() -> dict[TopicPartition, int]:
            futures = self._client.list_offsets(specs, request_timeout=self._timeout_s, **options)
            return {TopicPartition(tp.topic, tp.partition): future.result().offset for tp, future in futures.items()}

        return self._settled(doing, ask)

    def group_state(self, group: str) -> GroupState:
        """The state of a consumer group; one that does not exist is dead.

        :raises RetriableError: no broker coordinates it in time, or none answers.
        """
        doing, timeout_s = f"looking up consumer group {group}", self._coordinator_timeout_s

        def ask() -> GroupState:
            return state_in(self._clients.answer(descriptions(), group, timeout_s))

        try:
            return self._settled(doing, ask, timeout_s)
        except RetriableError as error:
            assert isinstance(error.__cause__, KafkaException)
            cause = error_of(error.__cause__)
            if cause.code() != KafkaError._TIMED_OUT and not is_not_yet(cause):
                raise
            raise RetriableError(
                f"{doing}: no broker coordinates it after {timeout_s:g} s. A new cluster creates `__consumer_offsets`"
                " first; it cannot if `offsets.topic.replication.factor` is more than the number of its brokers"
            ) from error

    def committed(
        self, group: str, topic_partitions: Collection[TopicPartition], timeout_s: float | None = None
    ) -> dict[TopicPartition, Committed]:
        """What a consumer group has committed for these partitions; empty if there is no such group.

        :param timeout_s: how long to wait for open transactions that hold offsets for them; that of one request if not
            given.
        :raises RetriableError: one is open for longer, or no broker answers.
        """
        if not topic_partitions:
            return {}
        partitions = [KafkaTopicPartition(tp.topic, tp.partition) for tp in topic_partitions]
        request = ConsumerGroupTopicPartitions(group, partitions)
        return self._committed(request, require_stable=True, timeout_s=timeout_s)

    def committed_offsets(self, group: str) -> dict[TopicPartition, int]:
        """All offsets that a consumer group has committed, for monitoring: does not wait for open transactions."""
        offsets = self._committed(ConsumerGroupTopicPartitions(group), require_stable=False)
        return {tp: committed.offset for tp, committed in offsets.items()}

    def _committed(
        self, request: ConsumerGroupTopicPartitions, *, require_stable: bool, timeout_s: float | None = None
    ) -> dict[TopicPartition, Committed]:
        group = request.group_id
        # librdkafka crashes the process if the broker that it asks for offsets does not coordinate the group yet, as in
        # a new cluster.
        self._find_coordinator(group)

        def ask() -> dict[TopicPartition, Committed]:
            offsets = offsets_of({group: request}, require_stable=require_stable)
            return committed_in(self._clients.answer(offsets, group, self._timeout_s))

        return self._settled(f"reading the offsets of group {group}", ask, timeout_s)

    def _find_coordinator(self, group: str) -> None:
        """Before the first request about a group that must not be sent twice, or to a broker that does not know it."""
        if group not in self._groups_with_coordinator:
            self.group_state(group)
            self._groups_with_coordinator.add(group)

    def _settled(self, doing: str, request: Callable[[], _T], timeout_s: float | None = None) -> _T:
        """The answer to a request, retried while the cluster is still propagating what is new.

        :param timeout_s: for how long; that of one request if not given.
        """
        deadline = time.monotonic() + (timeout_s or self._timeout_s)
        has_old_leaders = False
        while True:
            try:
                if has_old_leaders:  # the client remembers them, and would not ask again
                    self._client.list_topics(timeout=self._timeout_s)
                return request()
            except KafkaException as error:
                if not is_not_yet(error_of(error)) or time.monotonic() > deadline:
                    raise translated(error, doing) from error
                has_old_leaders = error_of(error).code() in _OF_OLD_LEADERS
                time.sleep(0.05)


def _shown(topic_id: Any) -> str | None:
    """A topic id as Kafka's own tools show it: librdkafka writes base64 with different characters."""
    text = str(topic_id).replace("+", "-").replace("/", "_")
    return None if text == _NO_ID else text


def _sizes(metadata: ClusterMetadata) -> dict[str, int]:
    return {name: len(topic.partitions) for name, topic in metadata.topics.items()}


def _refused(topic: str, replication: int, prefix: str | None, error: KafkaError) -> ConfigError:
    text = f"topic {topic} cannot be created: {error.str()}"
    if error.code() == KafkaError.INVALID_REPLICATION_FACTOR:
        default = "" if replication == -1 else ", or -1 for the brokers' default"
        text = f"{text}; set a replication factor that the cluster has brokers for{default}"
    key = "topic.creation" if prefix is None else f"{prefix}.{_KEY_OF.get(error.code(), '*')}"
    return ConfigError({key: [text]})
