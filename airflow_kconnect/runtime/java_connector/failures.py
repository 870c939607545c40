"""What a failed Java connector or task means to the caller: which error, with which text. Pure rules, no I/O."""

from __future__ import annotations

import re

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.hosted.known.debezium import explanation
from airflow_kconnect.hosted.worker.herder import TaskState

_CAUSE = re.compile(r"^(?:Caused by: )?((?:[\w$]+\.)+[\w$]+)(?:: (.*))?$")
_LONGEST = 600
# Simple names of Java's exceptions, and what they mean; the first that occurs in a trace decides.
_FENCED = ("ProducerFencedException", "InvalidProducerEpochException", "FencedInstanceIdException")
_CONFIG = ("ConfigException", "NoClassDefFoundError", "ClassNotFoundException", "NoSuchMethodError")
_DATA = ("DataException", "SchemaBuilderException", "SchemaProjectorException", "SerializationException")
_TOLERANCE = "Tolerance exceeded in error handler"
_MISSING = ("NoClassDefFoundError", "ClassNotFoundException", "NoSuchMethodError")


def failure(name: str, failed: TaskState) -> ConnectError:
    """The error of a run whose connector or task has failed.

    :param name: of the connector.
    :param failed: with the trace.
    """
    if (told := explanation(failed.trace or "")) is not None:
        return ConfigError({told[0]: [told[1]]}, name)
    causes = _causes(failed.trace or "")
    text = f"connector {name}: {failed.name} failed: {_told(causes) or 'Java tells no reason'}"
    classes = {class_name.rpartition(".")[2] for class_name, _ in causes}
    if classes.intersection(_FENCED):
        return FencedError(f"{text}. A newer run or a Connect cluster has taken over")
    if classes.intersection(_MISSING):
        text += ". A library is missing in the plug-in's folder, or has another version there"
        return ConfigError({"connector.class": [text]}, name)
    if classes.intersection(_DATA) or any(_TOLERANCE in message for _, message in causes):
        return DataError(text)
    if classes.intersection(_CONFIG):
        return ConfigError({"connector.class": [text]}, name)
    return RetriableError(text)


def _causes(trace: str) -> list[tuple[str, str]]:
    """Class and text of each exception of a stack trace, the outermost first."""
    matches = (_CAUSE.match(line.strip()) for line in trace.splitlines() if not line.startswith(("\t", "    ")))
    return [(match[1], match[2] or "") for match in matches if match]


def _told(causes: list[tuple[str, str]]) -> str:
    """The first line of the trace, and what lies at the bottom of it."""
    if not causes:
        return ""
    ends = [causes[0], causes[-1]] if len(causes) > 1 else causes
    texts = [f"{class_name.rpartition('.')[2]}: {text}".removesuffix(": ") for class_name, text in ends]
    return "; caused by ".join(dict.fromkeys(texts))[:_LONGEST]
