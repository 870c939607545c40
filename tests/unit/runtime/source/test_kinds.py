"""Plans of Python sources: the tasks that run are those that were planned."""

from __future__ import annotations

from typing import Any, cast

from airflow_kconnect.connect.connector.source import PollSourceConnector
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.runtime.source.kinds import PollKind
from airflow_kconnect.stores.offset_topic.view import OffsetView
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.connectors.scripted_task import ScriptedTask

CONFIG = {"name": "fs", "connector.class": "FileStreamSource", "file": "/data/in", "topic": "t", "tasks.max": "9"}


class Growing(PollSourceConnector):
    """Its source has another part whenever it is asked."""

    parts = 0

    @classmethod
    def config(cls) -> Any:
        raise NotImplementedError

    def task_class(self) -> type[ScriptedTask]:
        return ScriptedTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        self.parts += 1
        return [{"part": str(n)} for n in range(self.parts)]


def test_tasks_are_those_of_the_plan() -> None:
    worker = WorkerConfig.from_props({"bootstrap.servers": "localhost:9092"})
    settings = run_settings(validate_connector(CONFIG, worker=worker), worker, "run-1")
    kind = PollKind(settings, Growing.__new__(Growing), cast("Any", None))
    work = kind.plan(OffsetView("fs"))
    read: Any = kind.batches(work, (0,), None).read
    assert len(read.settings.configs) == work.plan.tasks
