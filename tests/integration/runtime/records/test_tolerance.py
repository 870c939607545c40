"""Bad records end to end: tolerated, dead-lettered, or the end of the run; and what a filter drops."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, DataError, WarnedError
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.runtime.sink.run import SinkRun
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import NumberedFile, Run, Source
from tests.integration.runtime.test_directory_pipeline import SCHEMALESS, lines
from tests.support import unique
from tests.support.connectors.picky_sink import PickySink
from tests.support.kafka import Record, create_topic, produce, read_all

MESSAGES = ['{"n":0}', "no json", '{"n":2}', "neither", '{"n":4}']
TOLERANT = {
    "errors.tolerance": "all",
    "errors.deadletterqueue.context.headers.enable": "true",
}
DROP_VALUES = {
    "transforms": "drop",
    "transforms.drop.type": "Filter",
    "transforms.drop.predicate": "empty",
    "transforms.drop.negate": "true",
    "predicates": "empty",
    "predicates.empty.type": "RecordIsTombstone",
}


@pytest.fixture
def dead() -> str:
    """Name of a dead-letter topic that does not exist yet."""
    return unique("dead")


@pytest.fixture
def sink(topic: Callable[..., str], bootstrap: str, tmp_path: Path) -> Callable[..., dict[str, str]]:
    """A directory sink over a topic with two bad messages."""

    def config(**more: str) -> dict[str, str]:
        name = topic()
        produce(bootstrap, name, MESSAGES, key="k", headers=[("own", b"1")])
        base = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(tmp_path / "out")}
        return {**base, "topics": name, "key.converter": "StringConverter", **SCHEMALESS, **more}

    return config


@dataclass
class Outcome:
    """What a run over a topic with two bad messages has left."""

    config: dict[str, str]
    report: RunReport
    dead_letters: list[Record]


@pytest.fixture(scope="module")
def tolerated(
    spark: SparkSession, bootstrap: str, worker_topics: str, tmp_path_factory: pytest.TempPathFactory
) -> Outcome:
    """A directory sink with a dead-letter topic."""
    name, dead = create_topic(bootstrap, unique("topic")), unique("dead")
    produce(bootstrap, name, MESSAGES, key="k", headers=[("own", b"1")])
    config = {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "directory": str(tmp_path_factory.mktemp("out")),
        "topics": name,
        "key.converter": "StringConverter",
        **SCHEMALESS,
        **TOLERANT,
        "errors.deadletterqueue.topic.name": dead,
    }
    return Outcome(config, run(RunSpec(config, worker_config(bootstrap)), spark), read_all(bootstrap, dead))


class TestSinkWithDeadLetters:
    def test_good_records_are_written(self, tolerated: Outcome) -> None:
        assert lines(tolerated.config) == [{"n": 0}, {"n": 2}, {"n": 4}]

    def test_dead_letters_are_the_original_records(self, tolerated: Outcome) -> None:
        assert [(record.key, record.value, record.headers[0]) for record in tolerated.dead_letters] == [
            (b"k", b"no json", ("own", b"1")),
            (b"k", b"neither", ("own", b"1")),
        ]

    def test_context_headers_say_where_and_why(self, tolerated: Outcome) -> None:
        found = {name: value for name, value in tolerated.dead_letters[0].headers if name.startswith("__")}
        expected = {
            "topic": tolerated.config["topics"].encode(),
            "partition": b"0",
            "offset": b"1",
            "connector.name": tolerated.config["name"].encode(),
            "task.id": b"0",
            "stage": b"VALUE_CONVERTER",
            "class.name": b"org.apache.kafka.connect.json.JsonConverter",
            "exception.class.name": b"org.apache.kafka.connect.errors.DataException",
        }
        assert {name: found[f"__connect.errors.{name}"] for name in expected} == expected

    def test_the_report_reconciles(self, tolerated: Outcome) -> None:
        assert tolerated.report.records == {"read": 5, "written": 3, "filtered": 0, "dead_lettered": 2}

    def test_they_are_a_warning_that_says_where_they_are(self, tolerated: Outcome) -> None:
        name, dead = tolerated.config["name"], tolerated.config["errors.deadletterqueue.topic.name"]
        expected = f"2 records could not be moved and are dead letters in {dead}: `kconnect dlq show {name}` shows why"
        assert (tolerated.report.warnings, tolerated.report.warning_kinds) == ([expected], ["dead_letters"])


class TestFailOnWarning:
    def test_the_run_fails_when_all_is_committed(self, sink: Any, run_here: Run) -> None:
        config = sink(**TOLERANT, **{"kconnect.fail.on.warning": "lost, dead_letters"})
        with pytest.raises(WarnedError, match=r"what was moved is committed.*: 2 records could not be moved and were"):
            run_here(config)
        assert lines(config) == [{"n": 0}, {"n": 2}, {"n": 4}]
        assert run_here(config).records["read"] == 0


class TestSink:
    def test_without_tolerance_the_first_bad_record_is_named_and_a_dead_letter_too(
        self, sink: Any, run_here: Run, dead: str, bootstrap: str
    ) -> None:
        config = sink(**{**TOLERANT, "errors.tolerance": "none", "errors.deadletterqueue.topic.name": dead})
        with pytest.raises(DataError, match=rf"{config['topics']}-0@1: VALUE_CONVERTER by .*JsonConverter"):
            run_here(config)
        assert [r.value for r in read_all(bootstrap, dead)] == [b"no json"]

    def test_dropped_records_are_counted_and_warnings_of_other_kinds_are_only_reported(
        self, sink: Any, run_here: Run
    ) -> None:
        report = run_here(sink(**TOLERANT, **DROP_VALUES, **{"kconnect.fail.on.warning": "lost"}))
        assert report.records == {"read": 5, "written": 0, "filtered": 3, "dead_lettered": 2}
        assert report.warning_kinds == ["configuration", "dead_letters"]


class TestReplay:
    def test_what_fails_again_keeps_its_place_until_a_converter_can_read_it(
        self, sink: Any, run_here: Run, dead: str, bootstrap: str
    ) -> None:
        """Transformations see that place."""
        config = sink(**TOLERANT, **{"errors.deadletterqueue.topic.name": dead})
        run_here(config)
        assert run_here(config, replay=True).records["dead_lettered"] == 2
        places = [dict(record.headers)["__connect.errors.offset"] for record in read_all(bootstrap, dead)]
        assert places == [b"1", b"3", b"1", b"3"]

        wrapped = {"transforms": "w,t", "transforms.w.type": "HoistField$Value", "transforms.w.field": "was"}
        fields = {"transforms.t.topic.field": "topic", "transforms.t.offset.field": "offset"}
        insert = {"transforms.t.type": "InsertField$Value", **fields}
        readable = {**config, "value.converter": "StringConverter", **wrapped, **insert}
        run_here(readable, replay=True)
        of_topic = {"topic": config["topics"]}
        assert lines(config) == [
            {"was": "no json", **of_topic, "offset": 1},
            {"was": "neither", **of_topic, "offset": 3},
            {"n": 0},
            {"n": 2},
            {"n": 4},
        ]
        assert run_here(readable, replay=True).records["read"] == 0

    def test_a_python_task_is_put_records_with_the_places_that_they_had(
        self, sink: Any, run_here: Run, dead: str, tmp_path: Path
    ) -> None:
        log = {"connector.class": "VerifiableSink", "log.file": str(tmp_path / "log")}
        config = sink(**TOLERANT, **log, **{"errors.deadletterqueue.topic.name": dead})
        run_here(config)
        run_here({**config, "value.converter": "StringConverter"}, replay=True)
        put = [json.loads(line) for line in (tmp_path / f"log-{config['topics']}-0").read_text().splitlines()]
        offsets = {line["seqno"]: line["offset"] for line in put if isinstance(line["seqno"], str)}
        assert offsets == {"no json": 1, "neither": 3}

    def test_a_source_has_no_replay(self, numbered: NumberedFile, file_source: Source, run_here: Run) -> None:
        with pytest.raises(ConfigError, match="only sinks can replay"):
            run_here(file_source(), replay=True)


class TestErrantRecords:
    """What a Python task cannot write."""

    @pytest.fixture
    def picky(
        self, topic: Callable[..., str], bootstrap: str, worker_props: dict[str, str], spark: SparkSession
    ) -> Callable[..., RunReport]:
        def go(**errors: str) -> RunReport:
            name = topic()
            produce(bootstrap, name, [json.dumps({"n": n}) for n in range(5)])
            base = {"name": unique("picky"), "connector.class": "VerifiableSink", "topics": name}
            config = validate_connector({**base, **SCHEMALESS, **errors})
            settings = run_settings(config, WorkerConfig.from_props(worker_props), "run")
            return SinkRun(settings, PickySink(config.props), LazySession("picky", spark)).run()

        return go

    def test_are_counted_and_dead_letters_of_their_stage(self, picky: Any, dead: str, bootstrap: str) -> None:
        report = picky(**TOLERANT, **{"errors.deadletterqueue.topic.name": dead})
        assert (report.records["written"], report.records["dead_lettered"]) == (3, 2)
        letters = read_all(bootstrap, dead)
        assert [json.loads(record.value or b"") for record in letters] == [{"n": 1}, {"n": 3}]
        assert {dict(record.headers)["__connect.errors.stage"] for record in letters} == {b"TASK_PUT"}

    def test_end_the_run_without_tolerance(self, picky: Any) -> None:
        with pytest.raises(DataError, match="-0@1: TASK_PUT: ValueError: odd"):
            picky(**{"errors.log.enable": "true"})


class TestSource:
    def test_dropped_records_do_not_come_back(self, numbered: NumberedFile, file_source: Source, run_here: Run) -> None:
        numbered.append(10)
        config = file_source(**DROP_VALUES)
        first = run_here(config).records
        assert (first["read"], first["filtered"], run_here(config).records["read"]) == (10, 10, 0)

    def test_a_dead_letter_is_what_the_record_was_and_names_its_place_in_the_file(
        self, numbered: NumberedFile, file_source: Source, run_here: Run, bootstrap: str, dead: str
    ) -> None:
        numbered.append(3)
        run_here(file_source(**TOLERANT, **{"errors.deadletterqueue.topic.name": dead, **TO_NUMBER}))
        letters = read_all(bootstrap, dead)
        assert [record.value for record in letters] == numbered.expected()
        headers = dict(letters[0].headers)
        assert json.loads(headers["__connect.errors.partition"] or b"") == {"filename": str(numbered.path)}

    def test_without_tolerance_nothing_is_committed(
        self, numbered: NumberedFile, file_source: Source, run_here: Run
    ) -> None:
        numbered.append(3)
        config = file_source(**TO_NUMBER)
        for _ in range(2):
            with pytest.raises(DataError, match=r"TRANSFORMATION by .*Cast\$Value"):
                run_here(config)


TO_NUMBER = {"transforms": "cast", "transforms.cast.type": "Cast$Value", "transforms.cast.spec": "int32"}
