"""A connector under test: its configuration and data, and what has arrived; each check has one of its own."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from airflow_kconnect.conformance.bench import Bench
from airflow_kconnect.conformance.findings import Broken, Difference, DoesNotApply, Guarantee, Passed
from airflow_kconnect.conformance.harness import (
    Arrived,
    ConfigOnly,
    Harness,
    SinkHarness,
    SourceHarness,
    has,
    with_converters,
)
from airflow_kconnect.conformance.runs import Ended, Job
from airflow_kconnect.connect.config.types import texts_of
from airflow_kconnect.connect.connector.source import PollSourceConnector
from airflow_kconnect.kafka.sink_topics import GROUP_OVERRIDE
from airflow_kconnect.runs.events import EXIT_OK

RECORDS = 10
"""How many records a check adds to the source, or to the topic of a sink."""
MAX_RECORDS = "kconnect.max.records"
LIMIT_S = 180.0
"""How long a run may take."""
_TOPICS = {"topic", "topic.prefix"}
"""Keys of sources that say where they write to, or with what its name begins."""
_DEAD_LETTERS = "errors.deadletterqueue.topic.name"

Message = tuple[bytes | None, bytes | None]


class Trial(ABC):
    """A connector under test."""

    def __init__(self, lab: Bench, harness: Harness, name: str) -> None:
        self.lab, self.harness, self.name = lab, harness, name
        self.added = 0
        own = {"name": name, "connector.class": lab.subject.name}
        self.config: dict[str, Any] = {**self._given(), **own}

    def _given(self) -> Mapping[str, Any]:
        return self.harness.configured

    @property
    def props(self) -> dict[str, str]:
        """The configuration as a run gives it to the connector. :raises ConfigError: a variable has no value."""
        texts, _ = texts_of(self.lab.resolver.resolve(self.config))
        return texts

    @property
    def grows(self) -> bool:
        """Whether there can be more records later."""
        return True

    @property
    def total(self) -> int:
        """How many records there are to move."""
        return self.added

    def check_countable(self) -> None:
        """:raises DoesNotApply: what arrives cannot be looked at."""

    @abstractmethod
    def add(self, count: int) -> None:
        """More records to move."""

    @abstractmethod
    def difference(self) -> Difference:
        """How what has arrived differs from what was added."""

    def attempt(self, keys: Mapping[str, str] | None = None) -> Ended:
        """A run, however it ends. :raises Broken: it does not end."""
        with self.lab.runs.started({**self.config, **(keys or {})}) as job:
            return self.end_of(job)

    def run(self, keys: Mapping[str, str] | None = None) -> Ended:
        """A run that has to succeed. :raises Broken: it does not."""
        return succeeded(self.attempt(keys))

    def end_of(self, job: Job) -> Ended:
        """How a run has ended. :raises Broken: it does not end."""
        ended = job.wait(LIMIT_S)
        if ended is None:
            text = f"a run has not ended within {LIMIT_S:.0f} s: return None from `poll` once all is read, or set"
            raise Broken(f"{text} `kconnect.max.duration.ms`")
        return ended

    def killed_at(self, failpoint: str, keys: Mapping[str, str] | None = None) -> bool:
        """Kill a run where it stops; False: it has ended without coming there."""
        with self.lab.runs.started({**self.config, **(keys or {})}, failpoint) as job:
            reached = job.wait_for_failpoint(LIMIT_S)
            if reached:
                job.kill()
            return reached

    def judged(self, after: str, *, may_double: bool = False) -> Passed:
        """See `Difference.judged`. :param may_double: if the connector claims no more than at least once."""
        allowed = (may_double or self.lab.reads_all_again) and self.lab.claims is not Guarantee.EXACTLY_ONCE
        return self.difference().judged(after, may_double=allowed, of_sink=self.lab.is_sink)


class SourceTrial(Trial):
    """A source under test."""

    def __init__(self, lab: Bench, harness: Harness, name: str) -> None:
        super().__init__(lab, harness, name)
        assert isinstance(harness, SourceHarness)
        self.source = harness
        self._begins = lab.topics.ends()

    def _given(self) -> Mapping[str, Any]:
        """A configuration alone cannot choose the topics of a trial: they would be those of live runs."""
        given = super()._given()
        if not isinstance(self.harness, ConfigOnly):
            return given
        return {**given, **dict.fromkeys(_TOPICS & self.lab.subject.connector.config().keys.keys(), self.harness.topic)}

    @property
    def grows(self) -> bool:
        return has(self.source, "add")

    @property
    def total(self) -> int:
        return len(self.lab.reference.records)

    def add(self, count: int) -> None:
        if self.grows:
            self.source.add(count)
        self.added += count

    def difference(self) -> Difference:
        reference = self.lab.reference
        # A killed run has not reported its topics.
        topics = {topic.replace(reference.topic, self.harness.topic) for topic in reference.topics}
        return Difference.of(reference.arrived, Counter(map(self.source.identity, self.records_in(topics))))

    def records_in(self, topics: Iterable[str]) -> list[Arrived]:
        """The records that have been written to topics since the trial began."""
        return self.lab.topics.since(self._begins, topics)


class SinkTrial(Trial):
    """A sink under test, and its topic.

    `knows_texts`: whether what has arrived was looked at with its texts; else the harness gives numbers alone.
    """

    def __init__(self, lab: Bench, harness: Harness, name: str) -> None:
        assert isinstance(harness, SinkHarness)
        self.sink = harness
        super().__init__(lab, harness, name)
        lab.topics.create(harness.topic)
        self._expected: Counter[str] = Counter()
        self.knows_texts = True

    def _given(self) -> Mapping[str, Any]:
        """The configuration may be that of a live connector, whose group and topics are not for trials."""
        live = {GROUP_OVERRIDE, "topics.regex"}
        config = with_converters(self.harness.configured, own_records=has(self.harness, "record"))
        given = {key: value for key, value in config.items() if key not in live}
        if given.get(_DEAD_LETTERS):
            given[_DEAD_LETTERS] = f"{self.harness.topic}-dead-letters"
        return {**given, "topics": self.harness.topic}

    def check_countable(self) -> None:
        if not has(self.sink, "arrived"):
            raise DoesNotApply("what is in the target is not known: give the harness the method `arrived`")

    def add(self, count: int) -> None:
        self.add_texts([f"text {number}" for number in range(self.added, self.added + count)])

    def add_texts(self, texts: Sequence[str | None], changed: Callable[..., Message] = lambda *kept: kept) -> None:
        """Records with these texts. :param changed: makes of their bytes what is written."""
        numbered = list(enumerate(texts, start=self.added))
        self.write([changed(*self.sink.record(number, text)) for number, text in numbered])
        self._expected.update(_canonical({"id": number, "text": text}) for number, text in numbered)
        self.added += len(texts)

    def write(self, records: list[Message]) -> None:
        """Other records, which are not expected in the target."""
        self.lab.topics.write(self.sink.topic, records)

    def difference(self) -> Difference:
        arrived = Counter(_canonical(each) for each in self.sink.arrived())
        self.knows_texts = not all(each.isdigit() for each in arrived)
        if not self.knows_texts:
            return Difference.of(Counter({_number(each): n for each, n in self._expected.items()}), arrived)
        return Difference.of(self._expected, arrived)


def drained(trial: Trial, bound: int) -> None:
    """Run with a bound until there is nothing left; a source that has more than a check adds is read by a last run
    without one. :raises Broken: a run moves more, or they stop moving records.
    """
    moved = 0
    for _ in range(2 * RECORDS // bound + 3):
        ended = trial.run({MAX_RECORDS: str(bound)})
        most = max(bound, int(ended.report["splits"]) if ended.report else 0)
        if ended.written > most and not _belong_together(trial):
            raise Broken(f"a run with `{MAX_RECORDS}` {bound} wrote {ended.written} records")
        if ended.written == 0:
            return
        moved += ended.written
    if moved > trial.total:
        raise Broken(
            f"runs with `{MAX_RECORDS}` {bound} write the same records again and again: an offset must say what is done"
        )
    trial.run()


def _belong_together(trial: Trial) -> bool:
    """Whether a bound waits for the end of what belongs together."""
    kind = trial.lab.subject.connector
    return issubclass(kind, PollSourceConnector) and kind(trial.props).commits_at_offsets()


def succeeded(ended: Ended) -> Ended:
    """The same. :raises Broken: the run has failed."""
    if ended.exit_code != EXIT_OK or ended.report is None:
        raise Broken(f"a run failed: {ended.text}")
    return ended


def _canonical(record: Any) -> str:
    if isinstance(record, str):
        record = json.loads(record)
    if isinstance(record, Mapping):
        record = {"id": record["id"], "text": record.get("text")}
    return json.dumps(record, ensure_ascii=False, sort_keys=True)


def _number(record: str) -> str:
    return str(json.loads(record)["id"])
