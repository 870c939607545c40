"""Records that only the broker refuses: nothing is skipped because of them, with transactions and without."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import DataError
from tests.integration.runtime.conftest import Run, Source
from tests.integration.runtime.source.test_plans import left_of_runs
from tests.support.kafka import change_setting, create_topic, read_values

_LARGE = {"producer.override.max.request.size": "3000000", "producer.override.compression.type": "none"}


@pytest.mark.parametrize("support", ["enabled", "disabled"])
def test_a_record_that_the_broker_refuses_is_written_by_the_next_run(
    support: str, file_source: Source, run_here: Run, bootstrap: str, tmp_path: Path
) -> None:
    lines = [random.Random(n).randbytes(20).hex() for n in range(2000)]
    lines[1000] = "x" * 50_000
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n")
    config = file_source(**_LARGE)
    create_topic(bootstrap, config["topic"], 1, {"max.message.bytes": "10000"})
    worker = {"exactly.once.source.support": support}
    with pytest.raises(DataError, match=r"`max\.message\.bytes`"):
        run_here(config, **worker)
    change_setting(bootstrap, config["topic"], "max.message.bytes", "3000000")
    report = run_here({**config, "split.bytes": "20000"}, **worker)
    # Nothing of the first plan is committed: the second run plans with what the configuration says now.
    assert (report.resumed_plan, report.splits > 1) == (False, True)
    found = read_values(bootstrap, config["topic"])
    assert {line.encode() for line in lines} - set(found) == set()


def test_a_plan_for_which_nothing_is_left_ends(
    file_source: Source, run_here: Run, topic: Callable[..., str], bootstrap: str, tmp_path: Path
) -> None:
    offsets = topic(prefix="offsets", config={"cleanup.policy": "compact"})
    config = file_source(**_LARGE, **{"offsets.storage.topic": offsets})
    (tmp_path / "in.txt").write_text("x" * 50_000 + "\n")
    create_topic(bootstrap, config["topic"], 1, {"max.message.bytes": "10000"})
    with pytest.raises(DataError, match=r"`max\.message\.bytes`"):
        run_here(config)
    (tmp_path / "in.txt").write_text("")
    report = run_here(config)
    assert (report.splits, report.complete) == (0, True)
    assert left_of_runs(bootstrap, offsets) == []
