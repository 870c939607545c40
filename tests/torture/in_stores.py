"""Connectors whose files are in object stores, under torture: sinks, Confluent's among them, and sources of files."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from tests.support.confluent_sinks import confluent_sink
from tests.support.faults import FaultProxy, sometimes
from tests.support.objects import objects_of, open_bucket, unfinished_uploads
from tests.support.stores import Store, azure_store, google_store, hdfs_store, s3_store
from tests.torture.connectors import DirectorySink, Sink, Source, Tortured

_STRING = "org.apache.kafka.connect.storage.StringConverter"
_JSON = {"value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false"}


_FAILING = 0.03
"""Share of the requests that fail, or are late, in schedules with faults of the store."""


class Stores:
    """The servers of one run of torture; each starts when it is first used.

    :param servers: what ends them. :param folder: for what they write.
    """

    def __init__(self, servers: contextlib.ExitStack, folder: Path) -> None:
        self._servers, self._folder = servers, folder
        self._failing: dict[str, Store] = {}
        self.struck: Counter[str] = Counter()
        """Of the schedule that is being played."""

    @cached_property
    def s3(self) -> Store:
        return self._servers.enter_context(s3_store(self._made("s3")))

    @cached_property
    def azure(self) -> Store:
        return self._servers.enter_context(azure_store(self._made("azure")))

    @cached_property
    def google(self) -> Store:
        return self._servers.enter_context(google_store())

    @cached_property
    def hdfs(self) -> Store:
        return self._servers.enter_context(hdfs_store(self._made("hdfs")))

    def failing(self, store: Store) -> Store:
        """The same by a server that fails some requests: overloaded, late, cut off, with answers that are lost."""
        if store.address not in self._failing:
            proxy = self._servers.enter_context(FaultProxy(store.settings["store.endpoint"]))
            fault = sometimes(_FAILING, random.Random(store.address), self._count)
            self._servers.enter_context(proxy.fault("*", fault, sys.maxsize))
            self._failing[store.address] = store.through(proxy.url)
        return self._failing[store.address]

    def _count(self) -> None:
        self.struck["failed request"] += 1

    def _made(self, name: str) -> Path:
        (folder := self._folder / name).mkdir()
        return folder


class InStore(Tortured):
    """Its files are in a folder of a bucket that it has for itself."""

    stores: ClassVar[Stores]
    at: ClassVar[str]
    """Which of the stores."""

    @property
    def store(self) -> Store:
        """As the count reaches it."""
        found: Store = getattr(type(self).stores, self.at)
        return found

    @cached_property
    def reached(self) -> Store:
        """As runs reach it."""
        stores = type(self).stores
        stores.struck = self.struck
        return stores.failing(self.store) if self.failing_store else self.store

    def found(self) -> dict[str, bytes]:
        """All its objects, those that readers do not see as well, by their names below its folder."""
        return objects_of(self.store, f"{self.name}/")


class _StoreSink(InStore, Sink):
    """A run that was killed leaves uploads or hidden objects, which the next one removes."""

    def visible(self) -> dict[str, bytes]:
        """What a reader sees, decompressed."""
        return {
            name: gzip.decompress(data) if name.endswith(".gz") else data
            for name, data in self.found().items()
            if not _is_hidden(name)
        }

    def arrived(self) -> list[int]:
        return [self.number(json.loads(line)) for data in self.visible().values() for line in data.splitlines()]

    def number(self, value: Any) -> int:
        """Of a record."""
        return int(value)

    def other_problems(self) -> list[str]:
        left = [*filter(_is_hidden, self.found()), *unfinished_uploads(self.store, f"{self.name}/")]
        return [f"killed runs have left {', '.join(left)}"] if left else []


class _DirectorySink(_StoreSink, DirectorySink):
    """JSON lines, in files whose names say which offsets they hold."""

    def config(self) -> dict[str, str]:
        return {**super().config(), "directory": f"{self.store.address}/{self.name}", **self.reached.settings}

    def some_settings(self) -> dict[str, str]:
        return {**super().some_settings(), "compression": self.rng.choice(("none", "gzip"))}


class S3Sink(_DirectorySink):
    """In S3, by S3Proxy."""

    kind = "directory sink on S3"
    at = "s3"


class AzureSink(_DirectorySink):
    """In Azure, by Azurite."""

    kind = "directory sink on Azure"
    at = "azure"


class GoogleSink(_DirectorySink):
    """In Google's store, by moto."""

    kind = "directory sink on Google"
    at = "google"


class HdfsSink(_DirectorySink):
    """In HDFS. Its requests do not fail one by one: a name node is there or is not."""

    kind = "directory sink on HDFS"
    at = "hdfs"

    @cached_property
    def reached(self) -> Store:
        return self.store


class _ConfluentSink(_StoreSink):
    """Names as Confluent's sinks would give them, and the records that follow the one in the name.

    Settings change between runs, the partitioner too.
    """

    exactly_once = True
    compression: ClassVar[str]
    """The key of it."""

    def prepare(self) -> None:
        self.largest = 500

    def config(self) -> dict[str, str]:
        return {
            **confluent_sink(self.reached),
            "topics": self.name,
            "topics.dir": self.name,
            "format.class": "JsonFormat",
            "flush.size": str(self.largest),
            "key.converter": _STRING,
            **_JSON,
        }

    def some_settings(self) -> dict[str, str]:
        size = self.rng.choice((70, 500, 2000))
        self.largest = max(self.largest, size)
        fields = {"partitioner.class": "FieldPartitioner", "partition.field.name": "last"}
        by_field = fields if self.rng.random() < 0.5 else {}
        return {"flush.size": str(size), self.compression: self.rng.choice(("none", "gzip")), **by_field}

    def write(self, numbers: range) -> None:
        aborted = [_row(-1 - number) for number in numbers[:20]] if self.rng.random() < 0.5 else []
        self.kafka.produce_pairs(self.name, map(_row, numbers), aborted=aborted)

    def number(self, value: Any) -> int:
        return int(value["n"])

    def other_problems(self) -> list[str]:
        topic: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for partition, offset, value in self.kafka.placed(self.name):
            topic[partition].append((offset, json.loads(value)["n"]))
        wrong = [name for name, data in self.visible().items() if not self._is_as_named(name, data, topic)]
        return [*super().other_problems(), *([f"names are not as promised: {', '.join(wrong)}"] if wrong else [])]

    def _is_as_named(self, name: str, data: bytes, topic: dict[int, list[tuple[int, int]]]) -> bool:
        own = re.escape(self.name)
        folders = r"(?:partition=(?P<of>\d+)|last=(?P<last>\d))"
        match = re.fullmatch(rf"{own}/{folders}/{own}\+(?P<in>\d+)\+(?P<first>\d{{10}})\.json(\.gz)?", name)
        if match is None or match["of"] not in (None, match["in"]):
            return False
        records, first = topic[int(match["in"])], int(match["first"])
        if not records or records[0][0] > first:
            return True  # retention has deleted what it would be compared with
        rows = [json.loads(line)["n"] for line in data.splitlines()]
        follow = [(at, n) for at, n in records if at >= first and match["last"] in (None, str(n % 10))][: len(rows)]
        return len(rows) <= self.largest and follow[0][0] == first and rows == [n for _, n in follow]


class ConfluentS3Sink(_ConfluentSink):
    """In S3, by S3Proxy."""

    kind = "Confluent sink on S3"
    at = "s3"
    compression = "s3.compression.type"


class ConfluentAzureSink(_ConfluentSink):
    """In Azure, by Azurite."""

    kind = "Confluent sink on Azure"
    at = "azure"
    compression = "az.compression.type"


class ConfluentGoogleSink(_ConfluentSink):
    """In Google's store, by moto."""

    kind = "Confluent sink on Google"
    at = "google"
    compression = "gcs.compression.type"


class FilesInFolder(Source):
    """More and more files of records, in several formats; in some runs they are moved or removed once they are read."""

    kind = "files source, folder"

    @property
    def directory(self) -> str:
        """Where they are."""
        return str(self.folder / "in")

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "FilesSource",
            "directory": self.directory,
            "topic": self.name,
            "schema.types": "n:int64",
            **_JSON,
        }

    def prepare(self) -> None:
        (self.folder / "in").mkdir()

    def write(self, numbers: range) -> None:
        for file, data in _files(numbers, self.rng):
            half = self.folder / "half"
            half.write_bytes(data)
            half.rename(self.folder / "in" / file)

    def some_settings(self) -> dict[str, str]:
        lines = self.rng.choice(("true", "false"))
        size = self.rng.choice((1000, 20_000, 64_000_000))
        done = {"finished.path": f"{self.directory}/done"}
        policy = self.rng.choice(({}, {"cleanup.policy": "DELETE"}, {"cleanup.policy": "MOVE", **done}))
        return {**super().some_settings(), "split.bytes": str(size), "csv.multiline": lines, **policy}

    def reconfigure(self) -> None:
        super().reconfigure()
        self.settings.pop("kconnect.max.records", None)  # the source refuses it

    def arrived(self) -> list[int]:
        return [json.loads(value)["n"] for _, value in self.kafka.records(self.name)]


class FilesInStore(InStore, FilesInFolder):
    """The same in S3."""

    kind = "files source, S3"
    at = "s3"

    @property
    def directory(self) -> str:
        return f"{self.store.address}/{self.name}"

    def config(self) -> dict[str, str]:
        return {**super().config(), **self.reached.settings}

    def prepare(self) -> None:
        """A prefix need not be made."""

    def write(self, numbers: range) -> None:
        bucket = open_bucket(self.store)
        for file, data in _files(numbers, self.rng):
            bucket.put(f"{self.name}/{file}", data)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))


def _row(number: int) -> tuple[bytes, bytes]:
    return str(number).encode(), json.dumps({"n": number, "last": number % 10}).encode()


def _files(numbers: range, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Names and contents of files with these numbers."""
    each = -(-len(numbers) // rng.choice((1, 5)))
    for first in range(numbers.start, numbers.stop, each):
        extension = rng.choice((*_FORMATS,))
        content = _FORMATS[extension](range(first, min(first + each, numbers.stop)))
        yield f"{first}{extension}", content


def _csv(numbers: Collection[int]) -> bytes:
    return "".join(f"{line}\n" for line in ("n", *numbers)).encode()


def _lines(numbers: Collection[int]) -> bytes:
    return "".join(f'{{"n": {n}}}\n' for n in numbers).encode()


def _parquet(numbers: Collection[int]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({"n": pa.array(numbers, pa.int64())}), out, row_group_size=100)
    return out.getvalue()


_FORMATS: dict[str, Callable[[Collection[int]], bytes]] = {
    ".csv": _csv,
    ".csv.gz": lambda numbers: gzip.compress(_csv(numbers)),
    ".jsonl": _lines,
    ".parquet": _parquet,
}
