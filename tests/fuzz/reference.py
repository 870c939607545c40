"""Kafka Connect's own converters, transformations and predicates, in a Java process that answers whole batches."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airflow_kconnect.machine.java import find_java, java_environment
from tests.support.jars import jars

# As which our classes answer; those of workers are older: see docs/compatibility.md.
_VERSION = os.environ.get("KCONNECT_TEST_CONNECT", "4.4.0")
_JARS = (
    *(f"org.apache.kafka:connect-{part}:{_VERSION}" for part in ("runtime", "json", "transforms")),
    "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4",
)
_DRIVER = Path(__file__).with_name("KafkaConnect.java")
# The driver is compiled as it starts, by a JDK; dates are printed in the zone of the process.
_OPTIONS = ("-Duser.timezone=UTC", "-Xmx512m", "-XX:+UseSerialGC")

Record = dict[str, Any]


class KafkaConnect:
    """The classes of Kafka Connect. Use it as a context manager."""

    def __init__(self) -> None:
        java = find_java()
        folder = jars(*_JARS)
        class_path = ":".join(str(jar) for jar in sorted(folder.glob("*.jar")))
        self._process = subprocess.Popen(
            [str(java.path), *_OPTIONS, "-cp", class_path, str(_DRIVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=java_environment(),
        )

    def __enter__(self) -> KafkaConnect:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=10)

    def answers(self, config: Mapping[str, str], records: Sequence[Record]) -> dict[str, str] | list[Record]:
        """What `airflow_kconnect.preview` answers; or the errors of the configuration, by key."""
        answer = self._asked({"config": dict(config), "records": [_sent(n, r) for n, r in enumerate(records)]})
        if "refused" in answer:
            return dict(answer["refused"])
        return [_received(record) for record in answer["answers"]]

    def offsets(self, given: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]]) -> list[tuple[bytes, bytes]]:
        """Key and value in the offset topic of each connector, source partition and source offset."""
        answers = self._asked({"offsets": given})
        return [(base64.b64decode(key), base64.b64decode(value)) for key, value in answers]

    def _asked(self, request: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The driver ended: is `java` that of a JDK? Exit code {self._process.wait()}")
        return json.loads(line)


def _sent(number: int, record: Record) -> Record:
    headers = [{"key": header["key"], "value": _base64(header["value"])} for header in record.get("headers") or []]
    return {
        "topic": record["topic"],
        "partition": record["partition"],
        "offset": number,
        "timestamp": record["timestamp"],
        "key": _base64(record["key"]),
        "value": _base64(record["value"]),
        "headers": headers,
    }


def _received(record: Record) -> Record:
    if "headers" not in record:
        return record
    parts = {part: _text(record[part]) for part in ("key", "value")}
    headers = [{"key": header["key"], "value": _text(header["value"])} for header in record["headers"]]
    return record | parts | {"headers": headers}


def _base64(text: str | None) -> str | None:
    return None if text is None else base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()


def _text(data: str | None) -> str | None:
    return None if data is None else base64.b64decode(data).decode("utf-8", "surrogateescape")
