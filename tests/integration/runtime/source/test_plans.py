"""Plans that a run leaves unfinished, and what a later run makes of them, under whatever has changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.runtime.source import kinds as source_kinds
from airflow_kconnect.runtime.source import run as source_run
from tests.integration.runtime.conftest import STRING, NumberedFile, Run, Source, missing_and_doubled
from tests.support import unique
from tests.support.kafka import add_partitions, read_all, read_values

Interrupted = Callable[[str], AbstractContextManager[None]]


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Interrupted:
    """`with interrupted("before-final-commit"): ...`: runs end there with an error."""

    @contextmanager
    def within(point: str) -> Iterator[None]:
        def stop(reached: str) -> None:
            if reached == point:
                raise RetriableError(f"interrupted at {point}")

        with monkeypatch.context() as patch, pytest.raises(RetriableError, match=f"interrupted at {point}"):
            patch.setattr(source_run, "failpoint", stop)
            yield

    return within


def left_of_runs(bootstrap: str, topic: str) -> list[bytes]:
    """Keys of claims, plans and markers that are still in an offset topic, wherever they lie."""
    last = {(record.partition, record.key): record.value for record in read_all(bootstrap, topic)}
    kinds = (b'["kconnect","claim"', b'["kconnect","plan"', b'["kconnect","split"')
    return [key for (_, key), value in last.items() if key and key.startswith(kinds) and value is not None]


class TestUnderADuration:
    @pytest.fixture
    def begun(self, numbered: NumberedFile, file_source: Source, run_here: Run) -> dict[str, str]:
        """A file whose first split failed when its second one was done."""
        numbered.path.write_text("x" * 5000 + "\n")
        numbered.append(60_000)
        config = file_source(**{"split.bytes": "300000"})
        with pytest.raises(DataError, match=r"max\.line\.bytes"):
            run_here({**config, "max.line.bytes": "1000"})
        return config

    def test_a_run_that_stops_in_the_middle_of_a_plan_leaves_it_to_the_next_one(
        self, begun: dict[str, str], numbered: NumberedFile, bootstrap: str, run_here: Run
    ) -> None:
        stopped = run_here({**begun, "kconnect.max.duration.ms": "1"})
        assert (stopped.incomplete, stopped.offsets) == (["max_duration"], [])
        assert stopped.records["read"] == stopped.records["written"] + stopped.records["already_done"]
        assert run_here(begun).complete
        expected = [b"x" * 5000, *numbered.expected()]
        assert missing_and_doubled(expected, read_values(bootstrap, begun["topic"])) == (set(), [])


class TestMorePartitions:
    """The offset topic gets more partitions while a plan is unfinished."""

    @pytest.fixture
    def config(self, file_source: Source, topic: Callable[..., str]) -> dict[str, str]:
        offsets = topic(partitions=2, prefix="offsets", config={"cleanup.policy": "compact"})
        return file_source(**{"offsets.storage.topic": offsets})

    def test_the_finished_plan_is_gone_from_all_of_them(
        self, config: dict[str, str], numbered: NumberedFile, bootstrap: str, run_here: Run, interrupted: Interrupted
    ) -> None:
        numbered.append(100)
        with interrupted("before-final-commit"):
            run_here(config)
        offsets = config["offsets.storage.topic"]
        add_partitions(bootstrap, offsets, 50)
        assert run_here(config).resumed_plan
        assert left_of_runs(bootstrap, offsets) == []
        assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


class TestGoneFile:
    @pytest.fixture
    def begun(self, tmp_path: Path, run_here: Run) -> dict[str, str]:
        """A folder with two files, one of which has failed, and is gone."""
        folder = tmp_path / "in"
        folder.mkdir()
        (folder / "a.txt").write_text("x" * 5000 + "\n")
        (folder / "b.txt").write_text("b\n")
        name = unique("folder")
        config = {
            "name": name,
            "connector.class": "FileStreamSource",
            "files": str(folder),
            "topic": f"t-{name}",
            "value.converter": STRING,
        }
        with pytest.raises(DataError, match=r"max\.line\.bytes"):
            run_here({**config, "max.line.bytes": "1000"})
        (folder / "a.txt").unlink()
        return config

    def test_it_is_given_up_where_files_may_be_replaced(
        self, begun: dict[str, str], run_here: Run, bootstrap: str
    ) -> None:
        run_here({**begun, "on.replaced": "restart"})
        assert run_here(begun).complete
        assert read_values(bootstrap, begun["topic"]) == [b"b"]


class TestManyFiles:
    @pytest.fixture
    def config(self, tmp_path: Path) -> dict[str, str]:
        """A folder with eleven files of one line each; `tmp_path` is its parent."""
        folder = tmp_path / "in"
        folder.mkdir()
        for n in range(11):
            (folder / f"{n:02}.txt").write_text(f"line-{n}\n")
        name = unique("folder")
        return {
            "name": name,
            "connector.class": "FileStreamSource",
            "files": str(folder),
            "topic": f"t-{name}",
            "value.converter": STRING,
        }

    def test_a_run_that_finishes_the_plan_of_a_killed_one_moves_what_that_did_not_hold(
        self,
        config: dict[str, str],
        run_here: Run,
        bootstrap: str,
        monkeypatch: pytest.MonkeyPatch,
        interrupted: Interrupted,
    ) -> None:
        monkeypatch.setattr(source_kinds, "SPLITS_PER_PLAN", 4)
        with interrupted("before-final-commit"):
            run_here(config)
        report = run_here(config)
        assert (report.resumed_plan, report.complete, len(report.offsets)) == (True, True, 11)
        expected = [f"line-{n}".encode() for n in range(11)]
        assert missing_and_doubled(expected, read_values(bootstrap, config["topic"])) == (set(), [])

    def test_under_a_bound_of_records_it_only_finishes_that_plan_and_says_so(
        self, config: dict[str, str], run_here: Run, bootstrap: str, interrupted: Interrupted
    ) -> None:
        bounded = {**config, "kconnect.max.records": "5"}
        with interrupted("before-final-commit"):
            run_here(bounded)
        report = run_here(bounded)
        assert (report.resumed_plan, report.incomplete) == (True, ["resumed"])
        assert run_here(config).complete
        assert len(read_values(bootstrap, config["topic"])) == 11

    def test_a_dry_run_creates_no_topic(self, config: dict[str, str], run_here: Run, bootstrap: str) -> None:
        offsets = unique("offsets")
        report = run_here({**config, "offsets.storage.topic": offsets}, dry_run=True)
        assert (len(report.notes["would_read"]), report.incomplete) == (11, ["dry_run"])
        assert offsets not in AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).topics

    def test_a_replay_is_one_plan(
        self, config: dict[str, str], run_here: Run, bootstrap: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(source_kinds, "SPLITS_PER_PLAN", 4)
        report = run_here(config, interval=Replay(0, 4_000_000_000_000, unique("key")))
        assert (report.complete, report.splits, len(read_values(bootstrap, config["topic"]))) == (True, 11, 11)

    def test_a_plan_that_is_too_large_for_a_record_is_an_error_with_a_cure(
        self, config: dict[str, str], run_here: Run
    ) -> None:
        with pytest.raises(DataError, match=r"the plan has 11 splits, too many for one record .*max\.request\.size"):
            run_here({**config, "producer.override.max.request.size": "1000"})

    @pytest.mark.exhaustive
    def test_more_files_than_a_real_plan_has_room_for(
        self, config: dict[str, str], tmp_path: Path, run_here: Run, bootstrap: str
    ) -> None:
        for n in range(11, 1100):
            (tmp_path / "in" / f"{n}.txt").write_text(f"line-{n}\n")
        report = run_here(config)
        expected = [f"line-{n}".encode() for n in range(1100)]
        assert missing_and_doubled(expected, read_values(bootstrap, config["topic"])) == (set(), [])
        assert (report.complete, report.splits) == (True, 1100)
