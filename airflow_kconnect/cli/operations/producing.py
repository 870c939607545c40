"""`kconnect topic produce`: lines become records of a topic."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from airflow_kconnect.cli.connectors.completion import topic_names
from airflow_kconnect.cli.console import clean
from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.kafka import worker_of
from airflow_kconnect.cli.worker import Servers, WorkerFile
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

if TYPE_CHECKING:
    from airflow_kconnect.kafka.admin import KafkaAdmin

_SHOWN = 5
_INTERRUPTED = 130


@dataclass(frozen=True)
class NewRecord:
    """A record to be written.

    :param timestamp: ms since the epoch; 0: now.
    """

    value: bytes | None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()
    timestamp: int = 0


def produce(
    topic: Annotated[
        str,
        typer.Argument(metavar="TOPIC", help="Name of the topic.", show_default=False, autocompletion=topic_names),
    ],
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="Lines to write. Default: standard input.", show_default=False),
    ] = None,
    key: Annotated[str | None, typer.Option(help="Key of all records.", show_default=False)] = None,
    key_separator: Annotated[
        str | None,
        typer.Option("--key-separator", metavar="TEXT", help="What ends the key of each line.", show_default=False),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="NAME=VALUE", help="A header of all records; may be repeated."),
    ] = None,
    null_value: Annotated[
        str | None,
        typer.Option("--null-value", metavar="TEXT", help="A value that is this text is null.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Lines are JSON, as `kconnect topic tail --json` prints them.")
    ] = False,
    create: Annotated[
        bool, typer.Option("--create", help="Create the topic with the brokers' defaults, if it does not exist.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also into a topic in which Kafka or the worker keeps what it knows.")
    ] = False,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
) -> None:
    """Write each line of standard input, or of a file, as a record.

    Examples:

    `echo '{"id": 1}' | kconnect topic produce orders`

    `printf 'k1:one\\nk2:-\\n' | kconnect topic produce orders --key-separator : --null-value -`

    `kconnect topic tail orders --from-beginning --json | kconnect topic produce copy --json --create`

    A line is a value, byte for byte, without its line end. With --json each line is an object with `value`, and maybe
    `key`, `headers` and `timestamp`; topic, partition and offset in it are ignored. Partitions are chosen by keys, as
    Java's clients do. All records are acknowledged by all replicas in sync, or the command fails and says so.

    Kafka's own topics (`__...`) and those in which the worker keeps configurations, offsets and statuses are refused: a
    wrong record there can stop connectors, or have them move records twice. --force writes all the same.
    """
    lines = _Lines(key, key_separator, tuple(header or ()), null_value)
    if as_json and lines != _Lines():
        raise typer.BadParameter(
            "has keys, headers and null of its own: leave the other options out", param_hint="--json"
        )
    with errors_shown():
        parse = _of_json if as_json else lines.parser()
        with worker_of(worker, bootstrap_servers) as known, _opened(file) as stream:
            from airflow_kconnect.kafka.admin import KafkaAdmin
            from airflow_kconnect.kafka.clients import ClientConfigs

            if not force:
                _check_not_internal(topic, known)
            clients = ClientConfigs(known.props, name="topic-produce")
            _check_exists(KafkaAdmin(clients.admin()), topic, create)
            written, interrupted = _write(clients.producer(None), topic, _records(stream, parse, file))
    typer.echo(clean(written))
    if interrupted:
        raise typer.Exit(_INTERRUPTED)


@dataclass(frozen=True)
class _Lines:
    """What the options say about lines that are values."""

    key: str | None = None
    separator: str | None = None
    headers: tuple[str, ...] = ()
    null: str | None = None

    def parser(self) -> Callable[[bytes], NewRecord]:
        """:raises typer.BadParameter: the options contradict each other."""
        if self.key is not None and self.separator is not None:
            raise typer.BadParameter("and --key-separator are two keys: give one of them", param_hint="--key")
        if self.separator == "":
            raise typer.BadParameter("is empty", param_hint="--key-separator")
        headers = [_header(each) for each in self.headers]
        key = None if self.key is None else self.key.encode(errors="surrogateescape")
        separator = self.separator.encode(errors="surrogateescape") if self.separator else None
        null = None if self.null is None else self.null.encode(errors="surrogateescape")

        def parse(line: bytes) -> NewRecord:
            if separator is None:
                return NewRecord(None if line == null else line, key, headers)
            own, found, value = line.partition(separator)
            if not found:
                raise DataError(f"has no `{self.separator}`, which ends the key")
            return NewRecord(None if value == null else value, None if own == null else own, headers)

        return parse


def _header(text: str) -> tuple[str, bytes]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--header")
    return name, value.encode(errors="surrogateescape")


def _of_json(line: bytes) -> NewRecord:
    """:raises DataError: the line is not a record of `topic tail --json`."""
    try:
        record = json.loads(line)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}") from None
    if not isinstance(record, dict) or "value" not in record:
        raise DataError('is not an object with a `value`, such as {"key": "k", "value": "text"}; null deletes the key')
    headers = record.get("headers") or []
    if not isinstance(headers, list) or not all(isinstance(each, dict) and "key" in each for each in headers):
        raise DataError('has `headers` that are not a list of {"key": "name", "value": "text"}')
    timestamp = record.get("timestamp") or 0
    if not isinstance(timestamp, int):
        raise DataError("has a `timestamp` that is not a number of milliseconds")
    pairs = [(str(each["key"]), _bytes(each, "value", "a header's ")) for each in headers]
    return NewRecord(_bytes(record, "value"), _bytes(record, "key"), pairs, timestamp)


def _bytes(part: Mapping[str, Any], name: str, of: str = "") -> bytes | None:
    text = part.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        raise DataError(f"has {of or 'a '}`{name}` that is neither a text nor null: write JSON as a text, in quotes")
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise DataError(f"has {of or 'a '}`{name}` with half of a character") from None


@contextmanager
def _opened(file: Path | None) -> Iterator[IO[bytes]]:
    """The lines. :raises ConfigError: there is no such file."""
    if file is None or str(file) == "-":
        if sys.stdin.isatty():
            typer.echo("Each line is a record; Ctrl-D ends.", err=True)
        yield typer.get_binary_stream("stdin")
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise ConfigError({"--file": [f"cannot be read: {file}: {error.strerror}"]}) from None
    with closing(stream):
        yield stream


def _records(lines: Iterable[bytes], parse: Callable[[bytes], NewRecord], file: Path | None) -> Iterator[NewRecord]:
    """:raises DataError: names the line."""
    for number, line in enumerate(lines, start=1):
        try:
            yield parse(line.removesuffix(b"\n"))
        except DataError as error:
            where = f"line {number}" if file is None else f"{file}, line {number}"
            before = "; the lines before it are written" if number > 1 else ""
            raise DataError(f"{where} {error}{before}") from None


def _check_not_internal(topic: str, worker: WorkerConfig) -> None:
    """:raises ConfigError: a record in the topic would be taken for one of Kafka, or of the worker."""
    if topic.startswith("__") or topic in internal_topics_of(worker):
        whose = "Kafka" if topic.startswith("__") else "the worker"
        text = f"topic {topic} is internal: {whose} keeps there what it knows, and a wrong record can stop connectors"
        raise ConfigError({"TOPIC": [f"{text}. --force writes all the same"]})


def _check_exists(admin: KafkaAdmin, topic: str, create: bool) -> None:
    from airflow_kconnect.kafka.tail import missing_topic

    existing = admin.check_reachable()
    if topic not in existing:
        if not create:
            raise missing_topic(topic, existing, "; --create creates it")
        admin.create_topic(topic)


def _write(config: dict[str, Any], topic: str, records: Iterator[NewRecord]) -> tuple[str, bool]:
    """What was written, as a text, and whether the user ended it by Ctrl-C.

    :raises ConnectError: a record is wrong or was refused; all before it are written.
    """
    from airflow_kconnect.kafka.producers import FlushingProducer

    written = _Written()
    with closing(FlushingProducer({**config, "delivery.report.only.error": False}, "writing records")) as producer:
        try:
            for record in records:
                headers = list(record.headers) or None
                producer.produce_patiently(topic, record.value, record.key, -1, None, None, record.timestamp, headers)
                written.count += 1
        except KeyboardInterrupt:
            written.interrupted = True
        finally:
            producer.flush()
        written.ranges = dict(producer.written)
    return written.text(topic), written.interrupted


@dataclass
class _Written:
    count: int = 0
    interrupted: bool = False
    ranges: dict[str, list[int]] = field(default_factory=dict)

    def text(self, topic: str) -> str:
        records = "1 record is" if self.count == 1 else f"{self.count:,} records are"
        shown = [_range(where, *bounds) for where, bounds in sorted(self.ranges.items())[:_SHOWN]]
        more = len(self.ranges) - _SHOWN
        where = ", ".join([*shown, *([f"{more} more partitions"] if more > 0 else [])])
        return f"{records} written to topic {topic}" + (f": {where}." if where else ".")


def _range(partition: str, first: int, end: int) -> str:
    return f"{partition}@{first}" + (f" to {end - 1}" if end - first > 1 else "")
