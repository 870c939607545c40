"""Previews of what a source would read next: nothing moves, nothing is written, and a run afterwards sees it all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.admin import KafkaAdmin
from tests.integration.runtime.conftest import NumberedFile, Preview, Run
from tests.support import unique
from tests.support.kafka import read_values

Config = Callable[..., dict[str, str]]
CHAIN = {
    "transforms": "hoist,named,first",
    "transforms.hoist.type": "HoistField$Value",
    "transforms.hoist.field": "line",
    "transforms.named.type": "InsertField$Value",
    "transforms.named.static.field": "by",
    "transforms.named.static.value": "${env:PREVIEW_SECRET}",
    "transforms.first.type": "Filter",
    "transforms.first.predicate": "other",
    "predicates": "other",
    "predicates.other.type": "TopicNameMatches",
    "predicates.other.pattern": "nothing",
}


def values(answer: Mapping[str, Any], step: int = 0) -> list[Any]:
    """What the records are after so many transformations."""
    return [json.loads(each[step]["value"]) for each in answer["records"]]


def ends(bootstrap: str, worker: Mapping[str, str]) -> dict[int, int]:
    """Of the offset topic."""
    admin, topic = KafkaAdmin({"bootstrap.servers": bootstrap}), worker["offset.storage.topic"]
    return admin.end_offsets(topic, range(admin.topics()[topic]), committed=False)


def test_the_next_lines_of_a_file(
    numbered: NumberedFile,
    file_source: Config,
    run_here: Run,
    preview_here: Preview,
    bootstrap: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After each transformation, without the values of variables; the next run begins where it would have begun."""
    monkeypatch.setenv("PREVIEW_SECRET", "geheim")
    config, offsets = file_source(**CHAIN), {"offset.storage.topic": unique("offsets")}
    plain = {**config, "transforms": "hoist"}
    numbered.append(5)
    run_here(plain, **offsets)
    numbered.append(100)
    before = ends(bootstrap, offsets)
    answer = preview_here(config, 3, **offsets)
    assert [each["alias"] for each in answer["transformations"]] == ["hoist", "named", "first"]
    assert values(answer) == ["line-5", "line-6", "line-7"]
    assert values(answer, 3)[0] == {"line": "line-5", "by": "${env:PREVIEW_SECRET}"}
    assert {each[3]["topic"] for each in answer["records"]} == {config["topic"]}
    assert ends(bootstrap, offsets) == before
    assert len(read_values(bootstrap, config["topic"])) == 5
    assert run_here(plain, **offsets).records["written"] == 100
    assert preview_here(config, 3, **offsets)["records"] == []


@pytest.mark.exhaustive
def test_the_next_records_of_python_tasks(run_here: Run, preview_here: Preview, bootstrap: str, tmp_path: Path) -> None:
    """Tasks are polled and stopped, and hear of no commit."""
    name = unique("verifiable")
    config = {
        "connector.class": "VerifiableSource", "name": name, "topic": f"t-{name}", "throughput": "-1", "tasks.max": "2",
        "max.seqno": "999", "log.file": str(tmp_path / "log"),
    }  # fmt: skip
    assert sorted(values(preview_here(config, 4))) == [0, 0, 1, 1]
    assert "committed" not in "".join(path.read_text() for path in tmp_path.glob("log*"))
    assert config["topic"] not in KafkaAdmin({"bootstrap.servers": bootstrap}).topics()
    assert run_here(config).records["written"] == 2000


def test_what_cannot_be_read_is_an_error(preview_here: Preview) -> None:
    java = {"name": "j", "connector.class": "io.debezium.connector.postgresql.PostgresConnector"}
    with pytest.raises(ConfigError, match="only in runs"):
        preview_here(java)
    with pytest.raises(ConfigError, match="nothing"):
        preview_here({"name": "f", "connector.class": "FileStreamSource", "file": "/nowhere/nothing.txt", "topic": "t"})
