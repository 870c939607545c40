"""What moves in both directions have in common: how steps are reported, and what must hold before and after."""

from __future__ import annotations

from collections.abc import Callable

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.migration.cluster import ConnectCluster
from airflow_kconnect.migration.here import Here
from airflow_kconnect.migration.offsets import Comparison, compare
from airflow_kconnect.migration.survey import Candidate

Say = Callable[[str], None]
"""Called with what each step did, in one sentence."""


class Move:
    """One connector between two sides. Every step can be repeated; a record here says which of them are done.

    :param say: called with what each step did.
    """

    def __init__(self, candidate: Candidate, cluster: ConnectCluster, here: Here, say: Say) -> None:
        self._candidate, self._name, self._config = candidate, candidate.name, candidate.config
        self._cluster, self._here, self._say = cluster, here, say

    def _compared(self) -> Comparison:
        return compare(self._cluster.offsets(self._name), self._here.offsets(self._config))

    def _verify(self) -> None:
        """:raises DataError: the copied offsets are not those of the other side."""
        compared = self._compared()
        if not compared.equal:
            raise DataError(
                f"connector {self._name}: {compared}, after they were copied: something else alters them. It is "
                "stopped on both sides; run the command again"
            )

    def _check_stopped_there(self) -> None:
        """:raises DataError: a connector that was moved here was resumed in Connect."""
        connector = self._cluster.connector(self._name)
        if not connector.is_stopped:
            raise DataError(
                f"connector {self._name} has moved here, but is {connector.state} in Connect: it was resumed there, "
                "and may have moved the same records again. Stop it there (PUT .../stop), compare the offsets of both "
                "sides, and run the command again"
            )
