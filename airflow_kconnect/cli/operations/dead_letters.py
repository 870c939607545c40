"""`kconnect dlq list`, `show` and `count`: which dead letters there are, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer, Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, NameOrFile, plain_table, print_json
from airflow_kconnect.cli.connectors.command import on_connectors, on_target, opened
from airflow_kconnect.cli.connectors.target import Target
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.worker import resolved
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.sink_topics import sink_group
from airflow_kconnect.validation.topic_rules import DEAD_LETTER_TOPIC
from airflow_kconnect.worker_config.keys import WorkerConfig

if TYPE_CHECKING:
    from airflow_kconnect.kafka.admin import KafkaAdmin
    from airflow_kconnect.kafka.clients import ClientConfigs
    from airflow_kconnect.kafka.tail import SeenRecord

_CONTEXT = "__connect.errors."
_LAST = 10
_NO_REASON = (
    "Dead letters without a reason were written while `errors.deadletterqueue.context.headers.enable` was not true, "
    "or by another program."
)


@on_connectors
def list_(connectors: Connectors, as_json: AsJson = False) -> None:
    """List the registered connectors that have a dead-letter topic.

    Example: kconnect dlq list

    `kconnect dlq count NAME` says how many dead letters there are, `kconnect dlq show NAME` why.
    """
    topics = [
        {"name": name, "type": parts["info"].get("type"), "topic": topic}
        for name, parts in sorted(connectors.expanded().items())
        if (topic := parts["info"]["config"].get(DEAD_LETTER_TOPIC))
    ]
    if as_json:
        print_json({"dead_letter_topics": topics})
    elif not topics:
        typer.echo(f"No registered connector has a dead-letter topic ({DEAD_LETTER_TOPIC}).")
    else:
        table = plain_table("Connector", "Type", "Dead-letter topic")
        for each in topics:
            table.add_row(Text(each["name"]), each["type"], Text(each["topic"]))
        Console().print(table)


@on_target()
def count(target: Target, connector: NameOrFile, as_json: AsJson = False) -> None:
    """Count a connector's dead letters, and those of a sink that were not replayed yet.

    Example: kconnect dlq count orders-sink

    Offsets are counted, as everywhere in Kafka: transaction markers among them, too. It needs Kafka itself.
    """
    with _dead_letters(target, connector) as letters:
        counts = letters.counts()
    if as_json:
        print_json(counts)
        return
    text = f"Topic {counts['topic']} has {counts['records']:,} dead letters"
    not_replayed = counts["not_replayed"]
    typer.echo(f"{text}." if not_replayed is None else f"{text}; {not_replayed:,} of them were not replayed.")


@on_target()
def show(
    target: Target,
    connector: NameOrFile,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="The first dead letters instead of the last ones.")
    ] = False,
    max_records: Annotated[int, typer.Option("--max", "-n", min=1, metavar="N", help="How many to show.")] = _LAST,
    as_json: Annotated[bool, typer.Option("--json", help="Print each dead letter as a line of JSON.")] = False,
) -> None:
    """Show a connector's last dead letters: where each comes from, and why it failed.

    Examples: `kconnect dlq show orders-sink`, `kconnect dlq show orders-sink.json --from-beginning --max 3`

    The reasons are in headers, which `errors.deadletterqueue.context.headers.enable=true` adds. It needs Kafka itself.
    """
    with _dead_letters(target, connector) as letters:
        console, none, without_reason = Console(), True, False
        for record in letters.seen(max_records, from_beginning=from_beginning):
            none, letter = False, _letter(record)
            without_reason |= not letter["error"]
            if as_json:
                print_json(letter)
            else:
                console.print(_text(letter), soft_wrap=True)
        if none and not as_json:
            typer.echo(f"Topic {letters.topic} has no dead letters.")
        if without_reason and not as_json:
            console.print(Text(_NO_REASON, style="dim"), soft_wrap=True)


@dataclass(frozen=True)
class _DeadLetters:
    """The dead letters of one connector; both configurations resolved."""

    config: Mapping[str, Any]
    worker: Mapping[str, Any]
    topic: str

    def counts(self) -> Answer:
        from airflow_kconnect.control.overview.dead_letters import not_replayed

        admin = self._admin()
        bounds = admin.bounds([TopicPartition(self.topic, p) for p in range(_existing(admin, self.topic))])
        group = sink_group({key: str(value) for key, value in self.config.items()})
        return {
            "name": self.config.get("name"),
            "topic": self.topic,
            "records": sum(each.end - each.begin for each in bounds.values()),
            "not_replayed": not_replayed(admin, bounds, group) if self._is_sink else None,
        }

    def seen(self, max_records: int, *, from_beginning: bool) -> Iterator[SeenRecord]:
        from airflow_kconnect.kafka.tail import TopicTail

        admin = self._admin()
        _existing(admin, self.topic)
        tail = TopicTail(admin, self._clients().consumer("kconnect-topic-tail"), self.topic)
        yield from tail.first(max_records) if from_beginning else tail.last(max_records)

    @property
    def _is_sink(self) -> bool:
        return bool(self.config.get("topics") or self.config.get("topics.regex"))

    def _clients(self) -> ClientConfigs:
        from airflow_kconnect.kafka.clients import ClientConfigs

        return ClientConfigs(WorkerConfig.from_props(self.worker).props, name="dead-letters")

    def _admin(self) -> KafkaAdmin:
        from airflow_kconnect.kafka.admin import KafkaAdmin

        return KafkaAdmin(self._clients().admin())


@contextmanager
def _dead_letters(target: Target, connector: str) -> Iterator[_DeadLetters]:
    """:raises ConfigError: the connector is not known, or has no dead-letter topic."""
    worker = target.worker_props()
    with opened(target) as connectors:
        config = connectors.in_kafka(connector, DEAD_LETTER_TOPIC)
    with resolved(config, worker) as (config, keys):
        topic = str(config.get(DEAD_LETTER_TOPIC) or "").strip()
        if not topic:
            text = "is not set: records that fail are not kept"
            raise ConfigError({DEAD_LETTER_TOPIC: [text]}, str(config.get("name")))
        yield _DeadLetters(config, keys, topic)


def _existing(admin: KafkaAdmin, topic: str) -> int:
    """Number of partitions."""
    partitions = admin.check_reachable().get(topic, 0)
    if not partitions:
        text = f"topic {topic} does not exist: nothing has failed yet, or another broker has it"
        raise ConfigError({DEAD_LETTER_TOPIC: [text]})
    return partitions


def _letter(record: SeenRecord) -> Answer:
    """A dead letter as JSON; what is known about its error apart from its own headers."""
    error = {h["key"]: h["value"] for h in record.headers if str(h["key"]).startswith(_CONTEXT)}
    own = [header for header in record.headers if header["key"] not in error]
    reason = {str(key).removeprefix(_CONTEXT): value for key, value in error.items()}
    return {**asdict(record), "headers": own, "error": reason}


def _text(letter: Answer) -> Text:
    time = datetime.fromtimestamp(letter["timestamp"] / 1000, UTC).isoformat(timespec="milliseconds")
    text = Text.assemble((f"{letter['topic']}-{letter['partition']}@{letter['offset']} {time}", "dim"))
    if error := letter["error"]:
        origin = f"{error.get('topic')}-{error.get('partition')}@{error.get('offset')}"
        text.append(f"\n  from {origin}, {error.get('stage')} by {error.get('class.name')}")
        text.append(f"\n  {error.get('exception.class.name')}: {error.get('exception.message')}", style="red")
    for name in ("key", "value"):
        text.append(f"\n  {name}=", style="bold").append("null" if letter[name] is None else letter[name])
    for header in letter["headers"]:
        text.append(f"\n  header {header['key']}=", style="bold").append(json.dumps(header["value"]))
    return text
