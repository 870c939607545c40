"""Creating connectors again that were deleted in Connect after they had moved here."""

from __future__ import annotations

from collections.abc import Callable, Collection

from airflow_kconnect.migration.cluster import ConnectCluster
from airflow_kconnect.migration.folder import ConnectorFolder
from airflow_kconnect.migration.here import Here

# Connect would accept these keys, and warn of them.
_OURS = "kconnect."


def recreate(
    cluster: ConnectCluster,
    here: Here,
    folder: ConnectorFolder,
    names: Collection[str],
    tell: Callable[[str, str], None],
) -> None:
    """Create those of the connectors in Connect, stopped, that are here and have a file, and are not there.

    :param tell: called with the name of each and what was done.
    :raises DataError: Connect refuses a configuration.
    :raises RetriableError: Connect is unavailable, or older than 3.7 and cannot create a connector that is stopped.
    """
    existing = cluster.connectors()
    for name in names:
        handover, config = here.handover(name), folder.read(name)
        if name in existing or config is None or handover is None or not handover.counts_here:
            continue
        cluster.create_stopped(name, {key: text for key, text in config.items() if not key.startswith(_OURS)})
        cluster.stop(name)
        tell(name, f"created in Connect again from {folder.file_of(name)}, stopped")
