"""Where connectors are tried: what all checks of a connector share, and what an undisturbed run of it delivers."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from airflow_kconnect.conformance.bench import Bench, Reference
from airflow_kconnect.conformance.findings import Guarantee
from airflow_kconnect.conformance.harness import SinkHarness, SourceHarness
from airflow_kconnect.conformance.topics import name_of_trial
from airflow_kconnect.conformance.trials import RECORDS, SinkTrial, SourceTrial, Trial
from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connect.connector.planned import PlannedSinkConnector
from airflow_kconnect.connect.connector.sink import NativeSinkConnector, SinkConnector
from airflow_kconnect.connect.connector.source import ExactlyOnceSupport, SourceConnector
from airflow_kconnect.connect.errors import ConfigError, ConnectError, in_one_line


class Lab(Bench):
    """Makes the trials of a connector, and knows what its undisturbed runs do."""

    @contextmanager
    def trial(self, count: int = RECORDS, *, counted: bool = True) -> Iterator[Trial]:
        """A connector with a name, a harness and this many records of its own.

        :param counted: whether what arrives will be looked at. :raises DoesNotApply: it cannot be.
        """
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix="trial-"))
        name = name_of_trial()
        harness = self.new_harness(folder, name)
        wanted = SinkHarness if self.is_sink else SourceHarness
        if not isinstance(harness, wanted):
            raise ConfigError({"--harness": [f"is of another kind: {self.subject.name} needs a {wanted.__name__}"]})
        try:
            trial = (SinkTrial if self.is_sink else SourceTrial)(self, harness, name)
            if counted:
                trial.check_countable()
            if count:
                trial.add(count)
            yield trial
        finally:
            with suppress(Exception):  # what the check has found counts more
                harness.close()
            with suppress(ConnectError):
                self.topics.remove(name)
            shutil.rmtree(folder, ignore_errors=True)

    @cached_property
    def claims(self) -> Guarantee:
        """What the connector claims with the configuration of its harness.

        :raises ConfigError: it, or the harness, cannot be used at all.
        """
        try:
            with self.trial(0, counted=False) as trial:
                return _claimed(self.subject.connector, trial.props)
        except ConnectError:
            raise
        except Exception as error:  # both are the user's code
            text = f"{self.subject.name} does not say what it claims, or its harness fails: {in_one_line(error)}"
            raise ConfigError({"CLASS": [text]}) from error

    @cached_property
    def reference(self) -> Reference:
        """What an undisturbed run of all records delivers."""
        with self.trial() as trial:
            assert isinstance(trial, SourceTrial)
            expected, begun_s = trial.source.expected(), time.monotonic()
            ended = trial.run()
            took_s = time.monotonic() - begun_s
            topics = frozenset(ended.report["topics"] if ended.report else ())
            records = trial.records_in(topics)
            arrived = Counter(map(trial.source.identity, records))
            values = None if expected is None else tuple(expected)
            return Reference(ended, records, arrived, trial.harness.topic, topics, took_s, values)

    @cached_property
    def reads_all_again(self) -> bool:
        """Whether the connector is a source without offsets: each of its runs begins at the beginning."""
        ended = None if self.is_sink else self.reference.ended
        return ended is not None and ended.report is not None and ended.written > 0 and not ended.report["offsets"]

    @cached_property
    def usual_s(self) -> float:
        """How long an undisturbed run takes."""
        if not self.is_sink:
            return self.reference.took_s
        with self.trial() as trial:
            begun_s = time.monotonic()
            trial.run()
            return time.monotonic() - begun_s

    def dice(self, check: str) -> random.Random:
        """The random choices of a check."""
        return random.Random(f"{self.seed} {check}")


def _claimed(connector: type[Connector], props: dict[str, str]) -> Guarantee:
    if issubclass(connector, SourceConnector):
        promised = connector.exactly_once_support(props) is ExactlyOnceSupport.SUPPORTED
    elif issubclass(connector, NativeSinkConnector | PlannedSinkConnector):
        promised = bool(connector(props).exactly_once)
    else:
        promised = issubclass(connector, SinkConnector) and connector.replay_problem(props) is None
    return Guarantee.EXACTLY_ONCE if promised else Guarantee.AT_LEAST_ONCE
