"""Runs resume where the offsets of their connector were set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.operations import STOPPED, alter_offsets, reset_offsets, set_target_state
from tests.integration.runtime.conftest import STRING, NumberedFile, Run, Source
from tests.integration.runtime.test_directory_pipeline import lines
from tests.support import unique
from tests.support.kafka import produce, read_values

Alter = Callable[[Mapping[str, str], Any], None]


@pytest.fixture
def alter(worker_props: dict[str, str]) -> Alter:
    """Stop a connector and alter its offsets; None resets them."""

    def go(config: Mapping[str, str], offsets: Any) -> None:
        set_target_state(config["name"], STOPPED, worker_props)
        if offsets is None:
            reset_offsets(config, worker_props)
        else:
            alter_offsets(config, worker_props, offsets)

    return go


class TestSource:
    def test_a_run_begins_at_the_altered_byte(
        self, numbered: NumberedFile, file_source: Source, run_here: Run, alter: Alter, bootstrap: str
    ) -> None:
        numbered.append(3)
        config = file_source()
        run_here(config)
        position = len("line-0\nline-1\n")
        alter(config, [{"partition": {"filename": str(numbered.path)}, "offset": {"position": position}}])
        run_here(config)
        assert read_values(bootstrap, config["topic"]) == [*numbered.expected(), b"line-2"]

    def test_a_replaced_file_is_read_after_a_reset(
        self, numbered: NumberedFile, file_source: Source, run_here: Run, alter: Alter, bootstrap: str
    ) -> None:
        numbered.append(3)
        config = file_source()
        run_here(config)
        numbered.path.write_text("other\n")
        alter(config, None)
        run_here(config)
        assert read_values(bootstrap, config["topic"]) == [*numbered.expected(), b"other"]


class TestSink:
    @pytest.fixture
    def config(self, topic: Callable[..., str], bootstrap: str, tmp_path: Path) -> dict[str, str]:
        """A directory sink over a topic of four records."""
        name = topic()
        produce(bootstrap, name, ["a", "b", "c", "d"])
        directory = {"directory": str(tmp_path / "out"), "value.converter": STRING}
        return {"name": unique("sink"), "connector.class": "DirectorySink", "topics": name, **directory}

    def test_a_first_run_begins_at_the_altered_offset(
        self, config: dict[str, str], run_here: Run, alter: Alter
    ) -> None:
        place = {"kafka_topic": config["topics"], "kafka_partition": 0}
        alter(config, [{"partition": place, "offset": {"kafka_offset": 2}}])
        run_here(config)
        assert lines(config) == ["c", "d"]

    def test_an_offset_in_the_middle_of_a_file_is_refused(
        self, config: dict[str, str], run_here: Run, alter: Alter, bootstrap: str
    ) -> None:
        run_here(config)
        place = {"kafka_topic": config["topics"], "kafka_partition": 0}
        with pytest.raises(ConfigError, match=r"offset 2 may be in the middle of .* use 0 or 4"):
            alter(config, [{"partition": place, "offset": {"kafka_offset": 2}}])
        assert run_here(config).records["read"] == 0
        admin, third = AdminClient({"bootstrap.servers": bootstrap}), TopicPartition(config["topics"], 0, 2)
        admin.delete_records([third])[third].result(30)
        with pytest.raises(ConfigError, match="offset 2 may be in the middle of"):
            alter(config, None)

    def test_after_a_reset_everything_is_read_again(self, config: dict[str, str], run_here: Run, alter: Alter) -> None:
        run_here(config)
        alter(config, None)
        assert run_here(config).records["read"] == 4
