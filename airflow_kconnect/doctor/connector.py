"""Checks of a connector's file: its configuration, and what it needs in Kafka."""

from __future__ import annotations

from collections.abc import Iterator

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.doctor.findings import Checks, Finding, ok, problem, warning
from airflow_kconnect.doctor.kafka import acl
from airflow_kconnect.doctor.subject import Subject
from airflow_kconnect.kafka.sink_topics import chosen_topics, named_topics, sink_group
from airflow_kconnect.stores.topics import dead_letter_replication
from airflow_kconnect.submit.operations import validated

_CONFIGURATION = "Connector configuration"
_DEAD_LETTERS = "errors.deadletterqueue.topic.name"


def register(checks: Checks) -> None:
    """Add the checks of this module; only if there is a connector."""
    checks.add(_CONFIGURATION)(_configuration)
    checks.add("Connector topics", needs=[_CONFIGURATION, "Broker"])(_topics)
    checks.add("Consumer group", needs=[_CONFIGURATION, "Broker"])(_group)
    checks.add("Dead letters", needs=[_CONFIGURATION, "Broker"])(_dead_letters)


def _configuration(subject: Subject) -> Iterator[Finding]:
    worker = subject.worker_props or {"bootstrap.servers": "localhost:9092"}
    try:
        result = validated(subject.config, worker)
    except ConfigError as error:
        for key, messages in error.errors.items():
            yield from (problem(f"`{key}`: {message}") for message in messages)
        return
    yield ok(f"{result['connector']}: {result['connector_class']} ({result['kind']})")
    for text in result["warnings"]:
        yield warning(text)


def _topics(subject: Subject) -> Iterator[Finding]:
    if subject.is_sink:
        yield from _read_topics(subject)
    elif topic := subject.props.get("topic"):
        yield _written(subject, topic, -1)
    else:
        yield ok("the topics of this source are known when it runs")


def _read_topics(subject: Subject) -> Iterator[Finding]:
    names = named_topics(subject.props)
    if not names:
        names = chosen_topics(subject.props, subject.kafka.check_reachable(), frozenset())
        if not names:
            yield warning("no topic matches `topics.regex` now", "The run does nothing until there is one.")
    for name in names:
        facts = subject.kafka.topic(name)
        if facts.denied or (facts.exists and "READ" not in facts.rights):
            yield problem(f"this principal may not read topic {name}", acl("Read", f"--topic {name}"))
        elif not facts.exists:
            yield problem(f"topic {name} does not exist", "Create it, or correct `topics`.")
        else:
            yield ok(f"topic {name}: {facts.partitions} partitions")


def _written(subject: Subject, topic: str, replication: int) -> Finding:
    facts = subject.kafka.topic(topic)
    if facts.denied or (facts.exists and "WRITE" not in facts.rights):
        return problem(f"this principal may not write topic {topic}", acl("Write", f"--topic {topic}"))
    if facts.exists:
        return ok(f"topic {topic}: {facts.partitions} partitions")
    if refusal := subject.kafka.refusal(topic, -1, replication):
        return problem(f"topic {topic} does not exist, and the brokers would not create it: {refusal}")
    return ok(f"topic {topic} does not exist yet; the first run creates it")


def _group(subject: Subject) -> Iterator[Finding]:
    if not subject.is_sink:
        yield ok("sources need none")
        return
    group = sink_group(subject.props)
    if "READ" in subject.kafka.group_rights(group):
        yield ok(f"this principal may use group {group}")
    else:
        yield problem(f"this principal may not use consumer group {group}", acl("Read", f"--group {group}"))


def _dead_letters(subject: Subject) -> Iterator[Finding]:
    topic = subject.props.get(_DEAD_LETTERS)
    if not topic:
        yield ok("not configured")
    else:
        yield _written(subject, topic, dead_letter_replication(subject.kafka, subject.props))
