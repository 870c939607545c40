"""Who else may be at work on a hosted connector: another run, a Connect cluster, what either has left behind."""

from __future__ import annotations

import time

from airflow_kconnect.connect.errors import OccupiedError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import fence
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.stores.config_topic.store import ConfigStore
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.worker_config.keys import WorkerConfig

# Longer than the session timeout of a worker that was killed.
_PATIENCE_S = 8.0
_POLL_S = 0.25
_MARGIN_S = 2.0


def await_no_members(admin: GroupAdmin, group: str, name: str) -> None:
    """Wait until the group of the hosting worker has no live members: they would take the connector's tasks.

    :param name: of the connector.
    :raises OccupiedError: it still has some when a killed worker would have timed out.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while admin.has_members(group, "connect"):
        if time.monotonic() > deadline:
            raise OccupiedError(
                f"connector {name}: group {group} has live members: another run of this connector is at work, or a"
                " Connect cluster of this `group.id`. Wait for it to end, or stop the cluster"
            )
        time.sleep(_POLL_S)


def await_no_readers(admin: GroupAdmin, group: str, name: str, remembered_s: float) -> None:
    """Wait until the consumer group of a sink has no members.

    :param name: of the connector.
    :param remembered_s: how long the group remembers a consumer that was killed.
    :raises OccupiedError: it still has some then: another process runs the sink.
    """
    deadline = time.monotonic() + remembered_s + _MARGIN_S
    while (state := admin.group_state(group)).members:
        if time.monotonic() > deadline:
            raise OccupiedError(
                f"connector {name}: consumer group {group} is {state.name} with {state.members} members: a Connect"
                " cluster, or another process, still runs this sink. Stop the connector there first"
            )
        time.sleep(_POLL_S)


def refuse_running_cluster(admin: GroupAdmin, worker: WorkerConfig, name: str) -> None:
    """:raises OccupiedError: the Connect cluster of the worker's `group.id` is alive and runs the connector."""
    if not admin.has_members(worker.group_id, "connect"):
        return
    store = ConfigStore(worker)
    try:
        found = store.refresh().connectors.get(name)
    finally:
        store.close()
    if found is not None and found.target_state is not TargetState.STOPPED:
        raise OccupiedError(
            f"connector {name}: the Connect cluster {worker.group_id} runs it. Stop it there first"
            f" (PUT /connectors/{name}/stop), or delete it"
        )


def fence_others(clients: ClientConfigs, worker: WorkerConfig, name: str, tasks: int) -> None:
    """Tasks that a Connect cluster, or a run without Java, has left behind can commit nothing more.

    The hosting worker has other transactional ids than they, and fences only those of former hosted runs.

    :param tasks: how many there may be: ``tasks.max``.
    :raises RetriableError: an id cannot be acquired.
    """
    if not worker.exactly_once:
        return
    for task in range(tasks):
        config = clients.producer(transactional_ids.task_id(worker.group_id, name, task))
        fence(config, f"fencing task {task} of connector {name}")
