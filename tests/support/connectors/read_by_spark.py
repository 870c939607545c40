"""Sources for tests of the data source, as a user writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.sdk import INT64_SCHEMA, STRING_SCHEMA, Password, Record, RecordShapes, Shape, source, struct
from tests.support.connectors.shaped_source import Shaped, ShapedSource

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
POINT = struct(("x", INT64_SCHEMA), name="Point")
NOTE = struct(("text", STRING_SCHEMA), name="Note")


@source(topic="orders", key="id", cursor="id")
def orders(
    count: int = 5, token: Password | None = None, apiKey: str = "none", cursor: int | None = None
) -> Iterator[dict[str, Any]]:
    """Orders by ascending number."""
    for n in range(cursor or 0, count):
        yield {"id": n, "at": FIRST, "items": [{"sku": f"s{n}", "price": 1.5}], "by": apiKey}


@source(partitions=lambda shops: shops)
def sales(shops: list[str], partition: str) -> Iterator[dict[str, Any]]:
    """Three sales of each shop."""
    for n in range(3):
        yield {"shop": partition, "n": n}


@source(cursor="n")
def growing(count: int = 10, late: int = 5) -> Iterator[dict[str, Any]]:
    """Numbers; late ones have a text, too."""
    for n in range(count):
        yield {"n": n} if n < late else {"n": n, "text": str(n)}


@source
def as_many_as(path: str) -> Iterator[dict[str, Any]]:
    """As many records as a file says."""
    yield from ({"n": n} for n in range(int(Path(path).read_text())))


@source(schema=None)
def anything() -> Iterator[Any]:
    """Values without a schema."""
    yield {"a": 1}
    yield [1, None]


@source
def nothing() -> Iterator[dict[str, Any]]:
    """A source that is empty."""
    yield from ()


@source(key="id")
def two_topics() -> Iterator[dict[str, Any] | Record]:
    """Records of two topics, and a tombstone."""
    yield {"id": 1}
    yield Record({"id": 2}, topic="other", timestamp=1_767_225_600_000, headers=(("h", b"x"),))
    yield Record(None, key=1)


@source
def failing(token: Password | None = None) -> Iterator[dict[str, Any]]:
    """Fails after its first record."""
    yield {"n": 1}
    raise ValueError(f"no access with {token.value if token else None}")


@source
def sometimes_wrong() -> Iterator[dict[str, Any]]:
    """A number that is once a text."""
    yield from ({"n": value} for value in (1, "two", 3))


class SeveralShapes(ShapedSource):
    """Two topics with a schema each."""

    records = {"points": Shaped(POINT, [{"x": 1}]), "notes": Shaped(NOTE, [{"text": "a"}, {"text": "b"}])}


class OneShape(ShapedSource):
    """A topic with a schema."""

    records = {"points": Shaped(POINT, [{"x": 1}, {"x": 2}])}


class OneTransaction(SeveralShapes):
    """All of its records belong together, and there are more than anyone reads ahead."""

    def commits_at_offsets(self) -> bool:
        return True

    def task_class(self) -> type[SourceTask]:
        return _OneTransactionTask


class _OneTransactionTask(SourceTask):
    polls = 0

    def start(self, props: Mapping[str, str]) -> None:
        self._topic = f"{props['prefix']}points"

    def poll(self) -> Sequence[SourceRecord]:
        type(self).polls += 1
        if self.polls > 20:
            raise DataError("read too far")
        return [SourceRecord({"id": 0}, None, self._topic, {"x": n}, POINT) for n in range(1000)]


class SeveralKeys(OneShape):
    """Its records have none of the keys that there might be."""

    def shapes(self) -> RecordShapes:
        return RecordShapes((Shape(STRING_SCHEMA), Shape(INT64_SCHEMA)), super().shapes().values)


class NoTasks(OneShape):
    """There is nothing to be read, now."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return []
