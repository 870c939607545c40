"""Moving several connectors: each of them on its own, so that one that cannot move does not hold up the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.migration.arrival import Arrival
from airflow_kconnect.migration.cluster import ConnectCluster
from airflow_kconnect.migration.departure import Departure
from airflow_kconnect.migration.folder import ConnectorFolder
from airflow_kconnect.migration.here import Here
from airflow_kconnect.migration.survey import Candidate, Survey

Tell = Callable[[str, str], None]
"""Called with the name of a connector and what was done to it."""


@dataclass
class Outcome:
    """What was done to one connector.

    :param error: why it is not where it should be; None if it is.
    """

    name: str
    steps: list[str] = field(default_factory=list)
    error: ConnectError | None = None


class Moves:
    """Moves the connectors of a survey.

    :param tell: called for each step when it is done.
    """

    def __init__(self, cluster: ConnectCluster, here: Here, survey: Survey, tell: Tell) -> None:
        self._cluster, self._here, self._survey, self._tell = cluster, here, survey, tell

    def to_here(self, folder: ConnectorFolder, named: Sequence[str]) -> list[Outcome]:
        """Move them from Connect to here.

        :param named: connectors that were asked for by name: that one of these cannot move is an error.
        :raises ConfigError: the two clusters do not go together; nothing was changed.
        """
        self._check_clusters()
        chosen = [candidate for candidate in self._survey.candidates if candidate.can_move or candidate.name in named]
        outcomes = self._each(chosen, lambda candidate, say: self._arrive(candidate, folder, say))
        if any(outcome.error is None for outcome in outcomes):
            done = folder.write_dag(self._here.props)
            if done:
                self._tell("", done)
        return outcomes

    def back(self, named: Sequence[str]) -> list[Outcome]:
        """Give those back to Connect that have moved here, and those that were asked for by name.

        :raises ConfigError: the two clusters do not go together; nothing was changed.
        """
        self._check_clusters()
        chosen = [each for each in self._survey.candidates if each.has_moved or each.name in named]
        return self._each(chosen, lambda each, say: Departure(each, self._cluster, self._here, say).run())

    def _check_clusters(self) -> None:
        if self._survey.problems:
            raise ConfigError({"--worker": self._survey.problems})

    def _arrive(self, candidate: Candidate, folder: ConnectorFolder, say: Callable[[str], None]) -> None:
        if not candidate.can_move:
            raise ConfigError(candidate.assessment.problems, candidate.name)
        Arrival(candidate, folder, self._cluster, self._here, say).run()

    def _each(
        self, candidates: Sequence[Candidate], move: Callable[[Candidate, Callable[[str], None]], None]
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for candidate in candidates:
            outcome = Outcome(candidate.name)
            outcomes.append(outcome)

            def say(text: str, outcome: Outcome = outcome) -> None:
                outcome.steps.append(text)
                self._tell(outcome.name, text)

            try:
                move(candidate, say)
            except ConnectError as error:
                outcome.error = error
        return outcomes
