"""Giving a connector back to Connect."""

from __future__ import annotations

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.migration.handing_over import Move
from airflow_kconnect.migration.offsets import changes, counted
from airflow_kconnect.migration.survey import foreign_offsets
from airflow_kconnect.stores.handovers import Handover
from airflow_kconnect.submit.operations import STOPPED


class Departure(Move):
    """Stops a connector here and resumes it in Connect. At no time may both of them run it.

    1 record LEAVING: the offsets here still count
    2 stop it here, fence a run in progress, and make sure that none is unfinished: its offsets are final
    3 compare the offsets; where they differ, copy them to Connect, where the connector is stopped
    4 record LEFT: from now on the offsets in Connect count, and are never overwritten
    5 resume it in Connect; record RETURNED. Here it stays stopped

    A call after a failure begins at 1 until LEFT is recorded, and at 5 afterwards.
    """

    def run(self) -> None:
        """Give it back, or finish what had begun.

        :raises ConnectError: it could not be given back. It runs on one side at most then.
        """
        recorded = self._here.handover(self._name)
        there = self._cluster.connector(self._name)
        if recorded is Handover.RETURNED or (recorded is None and not there.is_stopped):
            self._say(f"it is in Connect, where it is {there.state}: nothing was changed")
            return
        if recorded is Handover.STOPPING and not there.is_stopped:
            self._here.set_state(self._name, STOPPED)
            self._say("its move had not begun in Connect")
        elif recorded is Handover.ARRIVING:
            self._here.set_state(self._name, STOPPED)
            self._say("its move had not been completed: its offsets in Connect are untouched")
        elif recorded is not Handover.LEFT:
            self._give_offsets(recorded)
        self._here.record(self._name, Handover.LEFT)  # 4
        self._resume()  # 5
        self._here.record(self._name, Handover.RETURNED)

    def _give_offsets(self, recorded: Handover | None) -> None:
        first = recorded in (None, Handover.STOPPING)
        if first:
            self._check_unrecorded()
        else:
            self._check_stopped_there()
            self._here.record(self._name, Handover.LEAVING)  # 1
        self._here.settle(self._config, self._name)  # 2
        self._say("stopped here; no run is in progress or unfinished")
        if first:
            return
        compared = self._compared()  # 3
        if compared.equal:
            self._say(f"offsets: {compared}; nothing to copy")
            return
        here = self._here.offsets(self._config)
        self._cluster.alter_offsets(self._name, changes(here, self._cluster.offsets(self._name)))
        self._verify()
        self._say(f"copied the offsets of {counted(len(compared.here), 'partition')} to Connect")

    def _check_unrecorded(self) -> None:
        """:raises DataError: it may have moved without this command, and run here since."""
        compared = self._compared()
        if compared.here and not compared.equal:
            raise DataError(f"connector {self._name}: {foreign_offsets(self._name, compared)}")

    def _resume(self) -> None:
        connector = self._cluster.resume(self._name)
        if connector.trace:
            self._say(f"resumed in Connect, where it is {connector.state} with an error: {connector.trace}")
        else:
            tasks = f" with {counted(len(connector.tasks), 'task')}" if connector.tasks else ""
            self._say(f"resumed in Connect: {connector.state}{tasks}")
