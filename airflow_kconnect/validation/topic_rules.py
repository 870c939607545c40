"""Rules for topics in connector configurations: valid names, and which topics must differ."""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.patterns import matches
from airflow_kconnect.java_text.regex import java_pattern
from airflow_kconnect.validation.inspection import Inspection
from airflow_kconnect.worker_config.internal_topics import InternalTopics
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"
KAFKA_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")


def check(inspection: Inspection) -> None:
    """Add the errors of all rules to an inspection."""
    if inspection.kind == "source":
        _check_target(inspection, "topic")
        _check_offset_topic(inspection)
    else:
        _check_topics(inspection)
    _check_dead_letter_topic(inspection)
    _check_target(inspection, DEAD_LETTER_TOPIC)


def check_topic_name(topic: str) -> str | None:
    """What is wrong with a topic name by Kafka's rules (org.apache.kafka.common.internals.Topic), or None."""
    if not topic:
        return "Topic name is invalid: the empty string is not allowed"
    if topic in (".", ".."):
        return f"Topic name is invalid: '{topic}' is not allowed"
    if len(topic) > 249:
        return f"Topic name is invalid: the length of '{topic}' is longer than the max allowed length 249"
    if not re.fullmatch(r"[a-zA-Z0-9._-]+", topic):
        allowed = "ASCII alphanumerics, '.', '_' and '-'"
        return f"Topic name is invalid: '{topic}' contains one or more characters other than {allowed}"
    return None


def topics_of_others(worker: WorkerConfig, props: Mapping[str, str]) -> InternalTopics:
    """Topics that records of a connector must not be written to.

    :param props: of the connector: its own offset topic is one of them.
    """
    return internal_topics_of(worker).and_(*KAFKA_TOPICS, worker.offset_topic_of(props))


def _check_topics(inspection: Inspection) -> None:
    for topic in inspection.value("topics") or ():
        if message := check_topic_name(topic):
            inspection.add("topics", f"Invalid value {topic} for configuration topics: {message}")
    present = [bool(inspection.props.get(key)) for key in ("topics", "topics.regex")]
    if all(present):
        message = "topics and topics.regex are mutually exclusive options, but both are set."
    elif not any(present):
        message = "Must configure one of topics or topics.regex"
    else:
        return
    inspection.add("topics", message)
    inspection.add("topics.regex", message)


def _check_dead_letter_topic(inspection: Inspection) -> None:
    dead_letters = inspection.value(DEAD_LETTER_TOPIC)
    if not dead_letters:
        return
    topics, regex = inspection.value("topics"), inspection.value("topics.regex")
    subject = f"The DLQ topic '{dead_letters}' may not be"
    if inspection.kind == "source" and dead_letters == inspection.value("topic"):
        inspection.add(DEAD_LETTER_TOPIC, f"{subject} the topic that the connector writes good records to")
    if topics and dead_letters in topics:
        listed = f"included in the list of topics ('topics=[{', '.join(topics)}]')"
        inspection.add("topics", f"{subject} {listed} consumed by the connector")
    if regex and _matches(inspection, regex, dead_letters):
        matched = f"matched by the regex for the topics ('topics.regex={regex}')"
        inspection.add("topics.regex", f"{subject} {matched} consumed by the connector")


def _matches(inspection: Inspection, regex: str, topic: str) -> bool:
    try:
        return matches(java_pattern(regex), topic)
    except DataError as error:
        inspection.add("topics.regex", f"Invalid value {regex} for configuration topics.regex: {error}")
        return False


def _check_target(inspection: Inspection, key: str) -> None:
    """A topic that records are written to: it must be able to exist, and must not be an internal one of Kafka or
    Connect.
    """
    topic = inspection.props.get(key)
    if topic is None or key not in inspection.definition.keys or (not topic and key == DEAD_LETTER_TOPIC):
        return
    internal = topics_of_others(inspection.worker, inspection.props)
    if inspection.values[key].errors:
        return
    if message := check_topic_name(topic):
        inspection.add(key, f"Invalid value {topic} for configuration {key}: {message}")
    if topic in internal:
        inspection.add(key, internal_topic(key, topic))


def internal_topic(key: str, topic: str) -> str:
    """The message for a key that has records written to an internal topic."""
    text = "the topic is internal to Kafka or Connect; records in it would destroy what is stored there"
    return f"Invalid value {topic} for configuration {key}: {text}"


def _check_offset_topic(inspection: Inspection) -> None:
    """A source's offset topic may be the worker's, and none of the others."""
    key, worker = "offsets.storage.topic", inspection.worker
    topic = inspection.value(key)
    if topic and topic != worker.offset_topic and (topic in internal_topics_of(worker) or topic in KAFKA_TOPICS):
        inspection.add(key, internal_topic(key, topic))
