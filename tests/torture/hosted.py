"""Java connectors in a Connect worker of each run's own: Kafka's file source and file sink."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar

from tests.support.connect.hosted import FILE, plugin_folder
from tests.torture.connectors import FileSink, FileSource, Tortured

_DIGITS = 8
FAILPOINTS = (
    *("before-java", "before-validating", "after-fencing", "after-joining", "after-handing-over"),
    *("while-moving", "before-stop", "after-stop"),
)


@cache
def _plugins() -> str:
    return str(plugin_folder(Path(mkdtemp(prefix="kconnect-torture-plugins-")), FILE))


class _Hosted(Tortured):
    hosted = True
    failpoints: ClassVar[tuple[str, ...]] = FAILPOINTS

    def worker(self) -> dict[str, str]:
        return {"plugin.path": _plugins(), "connector.client.config.override.policy": "All"}


class HostedFileSource(_Hosted, FileSource):
    """Kafka's Java class over one file that grows."""

    kind = "hosted file source"

    def config(self) -> dict[str, str]:
        return {
            **super().config(),
            "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "kconnect.hosted": "true",
            "kconnect.hosted.idle.ms": "2000",
            # At the end of a full batch the class keeps what it has read of further lines until the file grows.
            "batch.size": "1000000",
        }

    def some_settings(self) -> dict[str, str]:
        return {"kconnect.hosted.idle.ms": str(self.rng.choice((1000, 4000)))}


class HostedFileSink(_Hosted, FileSink):
    """Kafka's Java class. Its consumer joins a group, which takes six seconds on the brokers of these schedules."""

    kind = "hosted file sink"

    def prepare(self) -> None:
        self.struck["slow join"] += 1

    def config(self) -> dict[str, str]:
        return {
            **super().config(),
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "kconnect.hosted": "true",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "consumer.override.max.poll.records": "100",
        }

    def write(self, numbers: range) -> None:
        self.kafka.produce(self.name, (f"{number:0{_DIGITS}}" for number in numbers))

    def arrived(self) -> list[int]:
        """The class appends to what a killed run has left of a line, so only the end of a line is a record."""
        path = self.folder / "out.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        return [int(line[-_DIGITS:]) for line in lines if len(line) >= _DIGITS]
