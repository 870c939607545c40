"""What a replay of dead letters would deliver: how many records, and why they failed, without their contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.shared import shared_kafka
from airflow_kconnect.kafka.sink_topics import GROUP_OVERRIDE, dead_letter_group, sink_group
from airflow_kconnect.kafka.tail import SeenRecord, TopicTail
from airflow_kconnect.stores.positions.positions import ConnectorPositions, SinkPosition
from airflow_kconnect.validation.topic_rules import DEAD_LETTER_TOPIC
from airflow_kconnect.worker_config.keys import WorkerConfig

_CONTEXT = "__connect.errors."
# Reasons are counted among this many records, the newest ones, and this many are listed.
_SEEN, _REASONS = 500, 10
_MOST_OF_TEXT = 120
_READER = "kconnect-topic-tail"

_Reason = tuple[str | None, str | None, str | None]


def waiting_dead_letters(config: Mapping[str, Any], worker: Mapping[str, Any]) -> dict[str, Any]:
    """The dead letters of a sink that its replays have not delivered yet.

    :param config: the sink's configuration, variables resolved. :param worker: worker keys, variables resolved.
    :returns: `{"connector", "topic", "records", "seen", "reasons"}`. `records` is counted in offsets, as everywhere in
        Kafka; the topic may hold records of other connectors, which a replay delivers too. `reasons` are those of the
        `seen` newest ones, the most frequent first: `{"connector", "stage", "error", "records", "example"}`. The
        first three are from headers, and None without `errors.deadletterqueue.context.headers.enable`; `example` is
        where the newest of these records was before it failed, else where it is in the topic. A message may quote a
        record, so there is none.
    :raises ConfigError: the connector is not a sink, or has no dead-letter topic.
    :raises RetriableError: the broker is unavailable.
    """
    props, errors = texts_of(config)
    topic = props.get(DEAD_LETTER_TOPIC, "").strip()
    if not topic:
        errors[DEAD_LETTER_TOPIC] = ["is not set: records that fail are not kept"]
    if not {"topics", "topics.regex"} & set(props):
        errors["connector"] = ["is a source, and only the dead letters of sinks can be replayed"]
    if errors:
        raise ConfigError(errors, props.get("name"))
    found = {"connector": props["name"], "topic": topic, "records": 0, "seen": 0, "reasons": []}
    group = dead_letter_group(sink_group(props))
    replay = {"name": props["name"], "topics": topic, GROUP_OVERRIDE: group}
    waiting = ConnectorPositions(replay, worker).sink()
    if not waiting.records():  # the topic may not even exist
        return found
    seen = _seen(waiting, topic, ClientConfigs(WorkerConfig.from_props(worker).props), group)
    return {**found, "records": waiting.records(), "seen": len(seen), "reasons": _reasons(seen)}


def _seen(waiting: SinkPosition, topic: str, clients: ClientConfigs, group: str) -> list[SeenRecord]:
    starts = {p.topic_partition.partition: p.start for p in waiting.partitions}
    with shared_kafka(clients, group).admin() as admin:
        newest = TopicTail(admin, clients.consumer(_READER), topic).last(_SEEN)
    return [record for record in newest if record.offset >= starts.get(record.partition, 0)]


def _reasons(seen: list[SeenRecord]) -> list[dict[str, Any]]:
    counts: Counter[_Reason] = Counter()
    examples: dict[_Reason, str] = {}
    for record in seen:  # the newest one is the last
        context = {
            str(header["key"]).removeprefix(_CONTEXT): header["value"]
            for header in record.headers
            if str(header["key"]).startswith(_CONTEXT)
        }
        of, stage, error = (_cut(context.get(key)) for key in ("connector.name", "stage", "exception.class.name"))
        reason = of, stage, error
        counts[reason] += 1
        examples[reason] = _origin(context) or f"{record.topic}-{record.partition}@{record.offset}"
    return [
        {"connector": of, "stage": stage, "error": error, "records": n, "example": examples[of, stage, error]}
        for (of, stage, error), n in counts.most_common(_REASONS)
    ]


def _origin(context: Mapping[str, str | None]) -> str | None:
    topic, partition, offset = (context.get(key) for key in ("topic", "partition", "offset"))
    return _cut(f"{topic}-{partition}@{offset}") if topic and partition and offset else None


def _cut(text: str | None) -> str | None:
    return text and text[:_MOST_OF_TEXT]
