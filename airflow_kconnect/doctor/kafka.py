"""Checks of the Kafka cluster: reachable, recent enough, ready for transactions, internal topics, permissions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from confluent_kafka.admin import ResourceType

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.doctor.findings import Checks, Finding, Status, ok, problem, skipped, warning
from airflow_kconnect.doctor.inspector import TopicFacts
from airflow_kconnect.doctor.subject import Subject
from airflow_kconnect.stores.topics import replication_of

_BROKER = "Broker"
_LEAST_REPLICAS = 3
# Introduced in 3.6.0, as the first part of KIP-890.
_VERIFICATION = "transaction.partition.verification.enable"
_COORDINATORS = {"__transaction_state": "transaction.state.log", "__consumer_offsets": "offsets.topic"}


def register(checks: Checks) -> None:
    """Add the checks of this module."""
    checks.add("Worker configuration")(_worker)
    checks.add(_BROKER, needs=["Worker configuration"])(_broker)
    checks.add("Broker version", needs=[_BROKER])(_version)
    checks.add("Coordinators", needs=[_BROKER])(_coordinators)
    checks.add("Offset topic", needs=[_BROKER])(_offset_topic)
    checks.add("Config topic", needs=[_BROKER])(_config_topic)
    checks.add("Status topic", needs=[_BROKER])(_status_topic)
    checks.add("Transactions", needs=[_BROKER])(_transactions)


def acl(operation: str, resource: str) -> str:
    """What to do about a missing permission.

    :param resource: as options of Kafka's tool, such as `--topic orders`.
    """
    return f"Grant it: kafka-acls.sh --add --allow-principal User:NAME --operation {operation} {resource}"


def _worker(subject: Subject) -> Iterator[Finding]:
    if subject.worker_props is None:
        yield skipped(
            "no Kafka is named",
            "Start one with `kconnect broker start`, or name yours with --bootstrap-servers or --worker.",
        )
        return
    yield ok(f"bootstrap.servers {subject.worker.props['bootstrap.servers']}, group.id {subject.worker.group_id}")
    for text in subject.worker.warnings:
        yield warning(text)


def _broker(subject: Subject) -> Iterator[Finding]:
    try:
        subject.kafka.check_reachable()
    except RetriableError as error:
        here = re.search(r"localhost|127\.0\.0\.1|\[::1\]", subject.worker.props["bootstrap.servers"])
        yield problem(str(error), "`kconnect broker start` starts one on this machine." if here else "")
        return
    cluster, brokers = subject.kafka.cluster()
    yield ok(f"cluster {cluster} answers; it has {brokers} broker{'' if brokers == 1 else 's'}")


def _version(subject: Subject) -> Iterator[Finding]:
    settings = subject.kafka.settings(ResourceType.BROKER, str(subject.kafka.brokers()[0]))
    cure = "Brokers 3.6.1 or newer are recommended: see Delivery guarantees, Brokers."
    if settings is None:
        yield skipped("this principal may not see the brokers' settings (DESCRIBE_CONFIGS on the cluster)")
    elif _VERIFICATION not in settings:
        yield warning("the brokers are older than 3.6: a late record can leave a transaction open forever", cure)
    elif settings[_VERIFICATION] != "true":
        yield warning(f"`{_VERIFICATION}` is off: a late record can leave a transaction open forever", cure)
    else:
        yield ok("3.6 or newer: transactions are verified")


def _coordinators(subject: Subject) -> Iterator[Finding]:
    """Without enough brokers for their topics the first transaction, or the first group, waits for nothing."""
    brokers = subject.kafka.brokers()
    settings = subject.kafka.settings(ResourceType.BROKER, str(brokers[0]))
    if settings is None:
        yield skipped("this principal may not see the brokers' settings (DESCRIBE_CONFIGS on the cluster)")
        return
    wrong = []
    for topic, prefix in _COORDINATORS.items():
        key, min_isr_key = f"{prefix}.replication.factor", f"{prefix}.min.isr"
        facts = subject.kafka.topic(topic)
        replicas = facts.replicas if facts.exists else int(settings[key])
        if not facts.exists and replicas > len(brokers):
            wrong.append(
                f"topic {topic} cannot be created: `{key}` is {replicas}, but there are {len(brokers)} brokers"
            )
        elif int(settings.get(min_isr_key, "1")) > replicas:
            wrong.append(
                f"topic {topic} cannot be written: `{min_isr_key}` is {settings[min_isr_key]}, its replicas {replicas}"
            )
    for text in wrong:
        yield problem(text, "Set the key in the brokers' server.properties, and restart them.")
    if not wrong:
        yield ok("topics of transactions and consumer groups fit the number of brokers")


def _offset_topic(subject: Subject) -> Iterator[Finding]:
    worker = subject.worker
    topic = worker.offset_topic if subject.is_sink else worker.offset_topic_of(subject.props)
    partitions = int(worker.get("offset.storage.partitions"))
    yield from _internal_topic(subject, "offset", topic, partitions, ("READ", "WRITE", "DESCRIBE_CONFIGS"))


def _config_topic(subject: Subject) -> Iterator[Finding]:
    topic = subject.worker.config_topic
    facts = subject.kafka.topic(topic)
    if facts.partitions > 1:
        yield problem(
            f"topic {topic} has {facts.partitions} partitions; it must have one, for states to be in order",
            "Name another topic with `config.storage.topic`.",
        )
        return
    yield from _internal_topic(subject, "config", topic, 1, ("READ",))
    if facts.exists and "READ" in facts.rights and "WRITE" not in facts.rights:
        text = f"this principal lacks the right to WRITE on topic {topic}, which runs do not need; the REST API and"
        yield warning(f"{text} pausing, resuming and stopping connectors do", acl("Write", f"--topic {topic}"))


def _status_topic(subject: Subject) -> Iterator[Finding]:
    """Runs do not fail for want of a status."""
    worker = subject.worker
    topic, partitions = worker.status_topic, int(worker.get("status.storage.partitions"))
    if not worker.writes_statuses:
        yield ok("switched off by an empty `status.storage.topic`: runs write no statuses")
        return
    for finding in _internal_topic(subject, "status", topic, partitions, ("READ", "WRITE")):
        is_problem = finding.status is Status.PROBLEM
        yield warning(f"{finding.text}; states will not be shown", finding.cure) if is_problem else finding


def _internal_topic(
    subject: Subject, store: str, topic: str, partitions: int, needed: tuple[str, ...]
) -> Iterator[Finding]:
    facts = subject.kafka.topic(topic)
    if facts.denied:
        yield problem(f"this principal may not describe topic {topic}", acl("Describe", f"--topic {topic}"))
    elif not facts.exists:
        yield _creatable(subject, store, topic, partitions)
    elif missing := [right for right in needed if right not in facts.rights]:
        operation = missing[0].title().replace("_", "")
        text = f"this principal lacks the right to {', '.join(missing)} on topic {topic}"
        yield problem(text, acl(operation, f"--topic {topic}"))
    else:
        yield _existing(subject, topic, facts)


def _creatable(subject: Subject, store: str, topic: str, partitions: int) -> Finding:
    replication = replication_of(subject.kafka, subject.worker, store)
    if refusal := subject.kafka.refusal(topic, partitions, replication):
        return problem(
            f"topic {topic} does not exist, and the brokers would not create it: {refusal}",
            f"Check the right to create topics and `{store}.storage.replication.factor`, or create the topic yourself "
            "with cleanup.policy=compact.",
        )
    return ok(f"topic {topic} does not exist yet; it is created when it is needed")


def _existing(subject: Subject, topic: str, facts: TopicFacts) -> Finding:
    settings = subject.kafka.settings(ResourceType.TOPIC, topic) or {}
    policy, min_in_sync = settings.get("cleanup.policy", "compact"), int(settings.get("min.insync.replicas", "1"))
    if policy != "compact":
        return problem(
            f"topic {topic} has cleanup.policy={policy}: what it stores would be lost",
            f"kafka-configs.sh --alter --topic {topic} --add-config cleanup.policy=compact, or name another topic.",
        )
    if facts.in_sync < min_in_sync:
        return problem(
            f"topic {topic} cannot be written: min.insync.replicas is {min_in_sync}, in sync are {facts.in_sync}",
            "Bring the missing brokers back, or lower the topic's min.insync.replicas.",
        )
    text = f"topic {topic}: compacted, {facts.partitions} partitions, {facts.replicas} replicas"
    if facts.replicas < min(_LEAST_REPLICAS, len(subject.kafka.brokers())):
        return warning(text, "Raise the number of replicas (kafka-reassign-partitions.sh).")
    return ok(text)


def _transactions(subject: Subject) -> Iterator[Finding]:
    group = subject.worker.group_id
    if not subject.transactions:
        yield ok("not tried; `--transactions` takes an id to see whether this principal may")
        return
    subject.kafka.take_transactional_id(f"{group}-kconnect-doctor")
    yield ok(f"this principal may use transactional ids that begin with {group}-")
