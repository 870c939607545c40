"""The connectors that are tortured: their input, their settings, and what has arrived at their other end.

Every record is a number; input is 0, 1, 2, ... What arrived is read without the package's code.
"""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import ClassVar

from tests.support.databases.postgres import PostgresServer
from tests.support.databases.servers import Database, SqliteDatabase
from tests.torture.kafka_side import KafkaSide

_STRING = "org.apache.kafka.connect.storage.StringConverter"
_JSON = "org.apache.kafka.connect.json.JsonConverter"

SOURCE_FAILPOINTS = (
    "before-fencing",
    "after-reading-offsets",
    "mid-produce",
    "after-last-produce",
    "during-commit",
    "before-final-commit",
    "during-final-commit",
    "after-final-commit",
)
SINK_FAILPOINTS = ("after-reading-offsets", "mid-write", "after-last-write", "after-visible", "after-final-commit")


class Tortured(ABC):
    """A connector with input that grows.

    :param name: of the connector, and of its topic.
    :param folder: an empty folder for files.
    """

    kind: ClassVar[str]
    sink: ClassVar[bool]
    failpoints: ClassVar[tuple[str, ...]]
    hosted: ClassVar[bool] = False
    """A Java class, in a Connect worker instead of Spark."""
    others: ClassVar[tuple[str, ...]] = ()
    """What other programs do to its target: see `disturb`."""
    set_back: ClassVar[bool] = False
    """Whether a run must refuse an older copy of its target."""

    def __init__(self, name: str, folder: Path, kafka: KafkaSide, rng: random.Random) -> None:
        self.name, self.folder, self.kafka, self.rng = name, folder, kafka, rng
        self.partitions = rng.choice((1, 3))
        self.added = 0
        self.settings: dict[str, str] = {}
        self.failing_store = False
        """Whether a store with its files fails some requests."""
        self.struck: Counter[str] = Counter()
        """Faults that are in the input itself, or in how its broker is set."""
        folder.mkdir(parents=True)
        kafka.create_topic(name, self.partitions)
        self.prepare()

    @property
    @abstractmethod
    def exactly_once(self) -> bool:
        """Whether each record must arrive just once, with a worker that allows it."""

    def prepare(self) -> None:
        """Make what the connector reads or writes, once."""

    @abstractmethod
    def config(self) -> dict[str, str]:
        """The configuration that does not change."""

    @abstractmethod
    def write(self, numbers: range) -> None:
        """Add input."""

    @abstractmethod
    def arrived(self) -> list[int]:
        """All that has arrived."""

    def expected(self) -> Collection[int]:
        """All that must have arrived."""
        return range(self.added)

    def some_settings(self) -> dict[str, str]:
        """Settings that users change between two runs."""
        return {}

    def worker(self) -> dict[str, str]:
        """Keys that its worker needs."""
        return {}

    def backup(self) -> Callable[[], None] | None:
        """Copy the target; returns what puts the copy in the target's place, None if the target has no offsets."""
        return None

    def copy(self) -> Callable[[], None]:
        """Copy the target; returns what puts the copy in the target's place. Only where `set_back` is true."""
        raise NotImplementedError

    def disturb(self, what: str) -> bool:
        """Do to the target what another program does, one of `others`; False: it is not there yet, or was too busy."""
        raise NotImplementedError

    def other_problems(self) -> list[str]:
        """Promises besides `expected` that were broken, at the end."""
        return []

    def settle(self) -> None:
        """Called before the last runs, which must move everything."""

    def add(self, count: int) -> None:
        """Add so many records to the input."""
        self.write(range(self.added, self.added + count))
        self.added += count

    def reconfigure(self) -> None:
        """Choose other settings."""
        bound = {"kconnect.max.records": str(self.rng.choice((100, 1000)))} if self.rng.random() < 0.2 else {}
        timed = {"kconnect.max.duration.ms": "1500"} if self.rng.random() < 0.15 else {}
        self.settings = {**self.some_settings(), **bound, **timed}

    def complete(self) -> dict[str, str]:
        """The whole configuration."""
        return {"name": self.name, **self.config(), **self.settings}

    def without_bounds(self) -> dict[str, str]:
        """The configuration of a run that moves everything."""
        bounds = ("kconnect.max.records", "kconnect.max.duration.ms")
        return {key: value for key, value in self.complete().items() if key not in bounds}


class Source(Tortured):
    sink = False
    failpoints: ClassVar[tuple[str, ...]] = SOURCE_FAILPOINTS
    exactly_once = True

    def arrived(self) -> list[int]:
        return [int(value) for _, value in self.kafka.records(self.name)]

    def some_settings(self) -> dict[str, str]:
        return {
            "transaction.boundary": "interval",
            "transaction.boundary.interval.ms": str(self.rng.choice((100, 1000, 10_000))),
            "tasks.max": str(self.rng.choice((1, 2, 3))),
        }


class FileSource(Source):
    """One file that grows."""

    kind = "file source"

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "FileStreamSource",
            "file": str(self.folder / "in.txt"),
            "topic": self.name,
            "value.converter": _STRING,
        }

    def prepare(self) -> None:
        (self.folder / "in.txt").touch()

    def write(self, numbers: range) -> None:
        with (self.folder / "in.txt").open("a") as out:
            out.writelines(f"{number}\n" for number in numbers)

    def some_settings(self) -> dict[str, str]:
        return {**super().some_settings(), "split.bytes": str(self.rng.choice((1000, 20_000, 64_000_000)))}


class FolderSource(Source):
    """A folder that more and more files are put into."""

    kind = "folder source"

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "FileStreamSource",
            "files": str(self.folder / "*.txt"),
            "topic": self.name,
            "value.converter": _STRING,
        }

    def write(self, numbers: range) -> None:
        each = -(-len(numbers) // self.rng.choice((1, 5)))
        for first in range(numbers.start, numbers.stop, each):
            text = "".join(f"{number}\n" for number in range(first, min(first + each, numbers.stop)))
            half = self.folder / f"{first}.half"
            half.write_text(text)
            half.rename(self.folder / f"{first}.txt")


class PythonSource(Source):
    """Two tasks of VerifiableSource, each of which counts for itself."""

    kind = "Python source"
    tasks = 2

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "VerifiableSource",
            "topic": self.name,
            "key.converter": _STRING,
            "value.converter": _STRING,
        }

    def write(self, numbers: range) -> None:
        """There is nothing to write: `max.seqno` says how far the tasks count."""

    def complete(self) -> dict[str, str]:
        return {**super().complete(), "tasks.max": str(self.tasks), "max.seqno": str(self.added - 1)}

    def expected(self) -> range:
        return range(self.added * self.tasks)

    def arrived(self) -> list[int]:
        return [int(value) * self.tasks + int(task or 0) for task, value in self.kafka.records(self.name)]


class _JdbcSource(Source):
    database: Database

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "table.whitelist": "t",
            "topic.prefix": "",
            "transforms": "topic,value",
            "transforms.topic.type": "org.apache.kafka.connect.transforms.RegexRouter",
            "transforms.topic.regex": ".*",
            "transforms.topic.replacement": self.name,
            "transforms.value.type": "org.apache.kafka.connect.transforms.ExtractField$Value",
            "transforms.value.field": "n",
            "value.converter": _STRING,
            **self.database.config,
        }

    def write(self, numbers: range) -> None:
        for first in range(numbers.start, numbers.stop, 500):
            rows = ",".join(f"({n})" for n in range(first, min(first + 500, numbers.stop)))
            self.database.execute(f"INSERT INTO t (n) VALUES {rows}")

    def some_settings(self) -> dict[str, str]:
        return {**super().some_settings(), "split.rows": str(self.rng.choice((100, 1000, 250_000)))}


class PostgresSource(_JdbcSource):
    """A table with a number that the database gives."""

    kind = "JDBC source, PostgreSQL"
    server: ClassVar[Callable[[], PostgresServer]]

    def prepare(self) -> None:
        self.database = type(self).server().create_database()
        self.database.execute("CREATE TABLE t (id bigserial PRIMARY KEY, n int NOT NULL)")


class SqliteSource(_JdbcSource):
    """The same in a SQLite file."""

    kind = "JDBC source, SQLite"

    def prepare(self) -> None:
        self.database = SqliteDatabase.create(self.folder)
        self.database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n int NOT NULL)")


class DltSource(Source):
    """The same through dlt: by pages, or all that a run finds in one transaction."""

    kind = "dlt source"

    def prepare(self) -> None:
        self.database = SqliteDatabase.create(self.folder)
        self.database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n int NOT NULL)")

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "DltSource",
            "dlt.source": "dlt.sources.sql_database:sql_table",
            "dlt.args.credentials": f"sqlite:///{self.database.name}",
            "dlt.args.table": "t",
            "dlt.args.incremental": '{"cursor_path": "id", "row_order": "asc"}',
            "dlt.hints.t": json.dumps({"table_name": self.name}),
            "value.converter": _JSON,
            "value.converter.schemas.enable": "false",
        }

    def write(self, numbers: range) -> None:
        for first in range(numbers.start, numbers.stop, 500):
            rows = ",".join(f"({n})" for n in range(first, min(first + 500, numbers.stop)))
            self.database.execute(f"INSERT INTO t (n) VALUES {rows}")

    def some_settings(self) -> dict[str, str]:
        return {
            **super().some_settings(),
            "dlt.resume.after": self.rng.choice(("auto", "resource")),
            "dlt.args.chunk_size": str(self.rng.choice((7, 100, 5000))),
        }

    def arrived(self) -> list[int]:
        return [json.loads(value)["n"] for _, value in self.kafka.records(self.name)]


class Sink(Tortured):
    """Reads a topic that has aborted transactions too."""

    sink = True
    failpoints: ClassVar[tuple[str, ...]] = SINK_FAILPOINTS

    def write(self, numbers: range) -> None:
        aborted = [str(-1 - number) for number in numbers[:20]] if self.rng.random() < 0.5 else []
        self.kafka.produce(self.name, map(str, numbers), aborted=aborted)

    def recreate_topic(self) -> None:
        """Delete the topic and create it again, empty."""
        self.kafka.delete_topic(self.name)
        self.kafka.create_topic(self.name, self.partitions)


class FileSink(Sink):
    """Lines of one file, at least once as in Connect."""

    kind = "file sink"
    exactly_once = False

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "FileStreamSink",
            "file": str(self.folder / "out.txt"),
            "topics": self.name,
            "key.converter": _STRING,
            "value.converter": _STRING,
        }

    def arrived(self) -> list[int]:
        path = self.folder / "out.txt"
        return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


class DirectorySink(Sink):
    """Files of JSON lines whose names say which offsets they hold."""

    kind = "directory sink"
    exactly_once = True

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
            "directory": str(self.folder / "out"),
            "topics": self.name,
            "key.converter": _STRING,
            "value.converter": _JSON,
            "value.converter.schemas.enable": "false",
        }

    def some_settings(self) -> dict[str, str]:
        return {"flush.size": str(self.rng.choice((70, 1000, 1_000_000)))}

    def arrived(self) -> list[int]:
        """What a reader of the folder sees: files whose names begin with a dot are not finished."""
        files = [path for path in (self.folder / "out").rglob("*.json") if not path.name.startswith(".")]
        return [json.loads(line) for path in files for line in path.read_text().splitlines()]


class _JdbcSink(Sink):
    database: Database
    exactly_once = True

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "topics": self.name,
            "table.name.format": "t",
            "transforms": "hoist",
            "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
            "transforms.hoist.field": "n",
            "key.converter": _STRING,
            "value.converter": _STRING,
            **self.database.config,
        }

    def arrived(self) -> list[int]:
        return [int(n) for (n,) in self.database.execute("SELECT n FROM t")]


class PostgresSink(_JdbcSink):
    """Rows of a table without a primary key: a record that is written twice is there twice."""

    kind = "JDBC sink, PostgreSQL"

    def prepare(self) -> None:
        self.database = PostgresSource.server().create_database()
        self.database.execute("CREATE TABLE t (n text)")

    def backup(self) -> Callable[[], None]:
        server, name = PostgresSource.server(), self.database.name
        server.execute(f"CREATE DATABASE {name}_copy TEMPLATE {name}")

        def restore() -> None:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
            server.execute(f"ALTER DATABASE {name}_copy RENAME TO {name}")

        return restore


class SqliteSink(_JdbcSink):
    """The same in a SQLite file."""

    kind = "JDBC sink, SQLite"

    def prepare(self) -> None:
        self.database = SqliteDatabase.create(self.folder)
        self.database.execute("CREATE TABLE t (n text)")

    def backup(self) -> Callable[[], None]:
        copy = self.folder / "copy.db"
        copy.unlink(missing_ok=True)
        self.database.execute(f"VACUUM INTO '{copy}'")

        def restore() -> None:
            for left in Path(self.database.name).parent.glob(f"{Path(self.database.name).name}*"):
                left.unlink()
            copy.rename(self.database.name)

        return restore


class PythonSink(Sink):
    """VerifiableSink, which writes down what it was given."""

    kind = "Python sink"
    exactly_once = False

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "VerifiableSink",
            "topics": self.name,
            "log.file": str(self.folder / "log"),
            "key.converter": _STRING,
            "value.converter": _STRING,
        }

    def arrived(self) -> list[int]:
        lines = [line for path in self.folder.glob("log-*") for line in path.read_text().splitlines()]
        facts = [json.loads(line) for line in lines]
        return [int(fact["seqno"]) for fact in facts if fact.get("flushed")]
