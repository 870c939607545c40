"""Moving a connector from Connect to here."""

from __future__ import annotations

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.migration.advice import ICEBERG
from airflow_kconnect.migration.assessment import How
from airflow_kconnect.migration.cluster import ConnectCluster
from airflow_kconnect.migration.folder import ConnectorFolder
from airflow_kconnect.migration.handing_over import Move, Say
from airflow_kconnect.migration.here import Here
from airflow_kconnect.migration.offsets import changes, counted
from airflow_kconnect.migration.survey import Candidate, foreign_offsets
from airflow_kconnect.stores.handovers import Handover
from airflow_kconnect.submit.operations import STARTED, STOPPED

_FIRST = (None, Handover.STOPPING)


class Arrival(Move):
    """Stops a connector in Connect and makes it ready here. At no time may both of them run it.

    1 stop it here: runs are skipped until it has arrived
    2 write its file
    3 record STOPPING or, if it has moved before, ARRIVING; stop it in Connect, and wait until its tasks have ended. All
      that they have read must be in their target
    4 compare the offsets; where they differ, record ARRIVING, and copy them. Those of a first move are not overwritten
    5 record ARRIVED: from now on the offsets here count, and are never overwritten
    6 start it here; record HERE

    A call after a failure begins at 1 until ARRIVED is recorded, and at 6 afterwards.
    """

    def __init__(
        self, candidate: Candidate, folder: ConnectorFolder, cluster: ConnectCluster, here: Here, say: Say
    ) -> None:
        super().__init__(candidate, cluster, here, say)
        self._folder = folder

    def run(self) -> None:
        """Move it, or finish a move that had begun.

        :raises ConnectError: it could not be moved. It runs on one side at most then.
        """
        recorded = self._here.handover(self._name)
        if recorded is not None and recorded.counts_here:
            self._check_stopped_there()
            self._say(self._folder.write(self._name, self._config))
            if recorded is Handover.HERE:
                self._say("it is here already: nothing was changed")
                return
        else:
            self._stop_both(recorded)
            self._bring_offsets(recorded)
            self._here.record(self._name, Handover.ARRIVED)  # 5
        self._here.set_state(self._name, STARTED)  # 6
        self._here.record(self._name, Handover.HERE)
        self._say("started here: the next run resumes where Connect stopped")

    def _stop_both(self, recorded: Handover | None) -> None:
        self._here.set_state(self._name, STOPPED)  # 1
        self._say(self._folder.write(self._name, self._config))  # 2
        self._here.record(self._name, Handover.STOPPING if recorded in _FIRST else Handover.ARRIVING)  # 3
        self._cluster.stop(self._name)
        self._say("stopped in Connect")
        self._check_drained()

    def _check_drained(self) -> None:
        """:raises DataError: what its tasks have read is not in the tables, and only its Java class would find it."""
        assessment = self._candidate.assessment
        if assessment.connector_class != ICEBERG or assessment.how is How.HOSTED:
            return
        if (problem := self._here.files_left(self._config)) is not None:
            text = "`kconnect migrate --back --apply` gives it back; afterwards run the command again"
            raise DataError(f"connector {self._name} is stopped on both sides: {problem}: {text}")

    def _bring_offsets(self, recorded: Handover | None) -> None:
        compared = self._compared()  # 4
        if compared.equal:
            self._here.settle(self._config, self._name)
            self._say(f"offsets: {compared}; nothing to copy")
            return
        if recorded in _FIRST and compared.here:
            text = foreign_offsets(self._name, compared)
            raise DataError(f"connector {self._name} is stopped on both sides. {text}")
        self._here.record(self._name, Handover.ARRIVING)
        there = self._cluster.offsets(self._name)
        self._here.alter_offsets(self._config, changes(there, self._here.offsets(self._config)))
        self._verify()
        self._say(f"copied the offsets of {counted(len(compared.there), 'partition')} from Connect")
