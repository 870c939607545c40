"""Subject names: under which subject a topic's schemas are registered (``SubjectNameStrategy``)."""

from __future__ import annotations

from collections.abc import Callable

from airflow_kconnect.connect.errors import DataError

SubjectName = Callable[[str, bool, str | None], str]
"""Called with the topic, whether it is for keys, and the full name of the record; returns the subject."""

_PACKAGE = "io.confluent.kafka.serializers.subject."


def topic_name(topic: str, is_key: bool, record: str | None) -> str:
    """``<topic>-key`` or ``<topic>-value``."""
    return f"{topic}-{'key' if is_key else 'value'}"


def record_name(topic: str, is_key: bool, record: str | None) -> str:
    """The record's full name.

    :raises DataError: the schema is not that of a record with a name.
    """
    if record is None:
        part = "key" if is_key else "value"
        raise DataError(
            f"The schema of the {part} of topic {topic} has no name: `{part}.subject.name.strategy` needs a record with"
            " a name; use TopicNameStrategy"
        )
    return record


def topic_record_name(topic: str, is_key: bool, record: str | None) -> str:
    """``<topic>-<full name of the record>``.

    :raises DataError: the schema is not that of a record with a name.
    """
    return f"{topic}-{record_name(topic, is_key, record)}"


_STRATEGIES: dict[str, SubjectName] = {
    "TopicNameStrategy": topic_name,
    "RecordNameStrategy": record_name,
    "TopicRecordNameStrategy": topic_record_name,
}
TOPIC_NAME = f"{_PACKAGE}TopicNameStrategy"
NAMES = (*(f"{_PACKAGE}{name}" for name in _STRATEGIES), *_STRATEGIES)
"""What ``key.subject.name.strategy`` and ``value.subject.name.strategy`` may be."""


def strategy(class_name: str) -> SubjectName:
    """The strategy of a Java class name, or of its simple name; one of `NAMES`."""
    return _STRATEGIES[class_name.rpartition(".")[2]]
