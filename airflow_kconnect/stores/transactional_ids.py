"""Names of transactional ids: acquiring one fences its previous holder."""

from __future__ import annotations


def task_id(group_id: str, connector: str, task: int) -> str:
    """Connect's own id of a task: acquiring it fences a live Connect task too.

    :param group_id: the worker's ``group.id``.
    :param connector: name of the connector, or of a replay of it.
    """
    return f"{group_id}-{connector}-{task}"


def driver_id(group_id: str, connector: str) -> str:
    """Id of the driver of a run; only one run at a time holds it."""
    return f"{group_id}-{connector}-driver"


def leader_id(group_id: str) -> str:
    """Id of the writer of the config topic: Connect's own, of the leader of the worker group."""
    return f"connect-cluster-{group_id}"
