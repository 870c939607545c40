"""What the server tells the Connectors page: overview, lags, one connector, dead letters."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.control.overview.watch import Watch
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.runs import DagTask
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.kafka.sink_topics import dead_letter_group
from airflow_kconnect.stores.status_topic.records import State
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunState
from tests.support import unique
from tests.support.control import api_client, control_plane, control_worker, plane_with_runs
from tests.support.kafka import create_topic, eventually, produce
from tests.support.registered import Registered, WorkerTopics, commit, dead_letter

FILE = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}
OFFSET = ({"filename": "/data/in.txt"}, {"position": 7})
SECRET = "hush-hush"


Add = Callable[..., None]


@pytest.fixture
def name() -> str:
    """A name that no other connector has."""
    return unique("connector")


def _sink(topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": "DirectorySink", "topics": topic, "directory": "/lake", **more}


def _rows(client: TestClient) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in client.get("/v1/connectors").json()["connectors"]}


class TestOverview:
    def test_a_source(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, FILE, topics=("t",), offsets=(OFFSET,), age_s=60))
        found = _rows(client)[name]
        age_s = time.time() - found.pop("changed_ms") / 1000
        changed_ms = found["offsets"].pop("changed_ms")
        assert found == {
            "name": name,
            "type": "source",
            "class": "FileStreamSource",
            "registered": True,
            "configured": [{"kind": "registered", "dag_id": None, "url": None}],
            "target_state": "STARTED",
            "state": "RUNNING",
            "run_state": "idle",
            "attention": None,
            "worker_id": "spark-7f9c:kconnect",
            "version": "0.1.0",
            "tasks": 1,
            "failed_tasks": 0,
            "cause": None,
            "topics": ["t"],
            "topic_count": 1,
            "offsets": {"partitions": 1, "newest": {"partition": OFFSET[0], "offset": OFFSET[1]}, "records": None},
            "last_run": None,
            "fresh_ms": None,
            "next_run_ms": None,
            "schedule": None,
            "dag_id": None,
            "team": None,
        }
        assert 55 < age_s < 120
        assert changed_ms > 0

    def test_a_failed_task_makes_a_connector_failed(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, FILE, tasks=(State.RUNNING, State.FAILED), trace="IOException: full\n\tat x"))
        found = _rows(client)[name]
        assert (found["state"], found["failed_tasks"], found["cause"]) == ("FAILED", 1, "IOException: full")

    def test_offsets_of_a_sink(self, client: TestClient, add: Add, name: str, bootstrap: str) -> None:
        topic = create_topic(bootstrap, unique("t"))
        add(Registered(name, _sink(topic), committed={topic: 2}))
        assert _rows(client)[name]["offsets"]["records"] == 2

    def test_a_connector_of_an_unknown_class(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, {"connector.class": "com.example.Unknown"}))
        assert _rows(client)[name]["type"] == "unknown"

    def test_a_change_of_state_is_a_change(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, FILE, age_s=500))
        before = _rows(client)[name]["changed_ms"]
        client.put(f"/connectors/{name}/pause")
        assert _rows(client)[name]["changed_ms"] > before + 400_000


class TestLags:
    @pytest.fixture(scope="class")
    def answers(self, bootstrap: str) -> Iterator[list[dict[str, Any]]]:
        """Two answers in turn about sinks of a topic that has 3 and 1 records in its partitions."""
        topic, group, prefix = create_topic(bootstrap, unique("t"), partitions=2), unique("group"), unique("by-pattern")
        produce(bootstrap, topic, ["a", "b", "c"], partition=0)
        produce(bootstrap, topic, ["d"], partition=1)
        commit(bootstrap, group, {topic: 1})
        for number in range(2):
            produce(bootstrap, create_topic(bootstrap, f"{prefix}-{number}"), ["a"])
        by_pattern = {"connector.class": "DirectorySink", "topics.regex": f"{prefix}-.*", "directory": "/lake"}
        read, props = unique("read"), control_worker(bootstrap)
        WorkerTopics(bootstrap, props).add(
            Registered(read, _sink(topic), committed={topic: 2}),
            Registered("unread", _sink(topic)),
            Registered("with a group", _sink(topic, **{"consumer.override.group.id": group})),
            Registered("by pattern", by_pattern),
            Registered("elsewhere", _sink(topic, **{"consumer.override.bootstrap.servers": "elsewhere:9092"})),
            Registered("of a variable", _sink("${env:TOPICS}")),
            Registered("of no topic", _sink("does-not-exist")),
        )
        with control_plane(props) as plane:
            found = [api_client(plane).get("/v1/lags").json() for _ in range(2)]
        found[0]["lags"]["read"] = found[0]["lags"].pop(read)  # the name of its consumer group must be its own
        yield found

    def test_of_all_sinks_but_those_that_cannot_be_asked(self, answers: list[dict[str, Any]]) -> None:
        assert answers[0]["lags"] == {"read": 2, "unread": 4, "with a group": 3, "by pattern": 2}

    def test_the_broker_is_not_asked_again_at_once(self, answers: list[dict[str, Any]]) -> None:
        assert answers[0]["at_ms"] == answers[1]["at_ms"]


class TestDetail:
    def test_secrets_are_hidden(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, {**FILE, "producer.override.sasl.password": SECRET}))
        answer = client.get(f"/v1/connectors/{name}")
        assert answer.json()["config"]["producer.override.sasl.password"] == "[hidden]"
        assert SECRET not in answer.text

    def test_tasks_and_traces(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, FILE, tasks=(State.FAILED,), trace="IOException: full\n\tat x"))
        (task,) = client.get(f"/v1/connectors/{name}").json()["tasks"]
        assert (task["state"], task["trace"]) == ("FAILED", "IOException: full\n\tat x")

    def test_an_unknown_connector(self, client: TestClient) -> None:
        assert client.get("/v1/connectors/nope").status_code == 404

    def test_runs_that_are_remembered(self, plane: ControlPlane, name: str) -> None:
        past = [{"id": "scheduled", "state": "skipped", "start_ms": 1, "end_ms": 2}]

        class Remembering:
            def start(self, connector: str) -> None: ...
            def end(self, connector: str) -> None: ...
            def history(self, tasks: Collection[DagTask]) -> list[dict[str, Any]]:
                return past if tasks == [(f"kconnect.{name}", "run")] else []

        with plane_with_runs(plane, Remembering()) as remembering:
            remembering.create(name, FILE)
            assert api_client(remembering).get(f"/v1/connectors/{name}").json()["history"] == past


class TestUnregistered:
    """A sink that has run from a DAG, and a source of which only offsets are known."""

    @pytest.fixture(scope="class")
    def lake(self, add: Add, bootstrap: str) -> str:
        """The name of the sink, which has read 2 of 3 records; the source is `lines`."""
        topic, letters, name = (
            create_topic(bootstrap, unique("t")),
            create_topic(bootstrap, unique("d")),
            unique("lake"),
        )
        produce(bootstrap, topic, ["a", "b", "c"])
        dead_letter(bootstrap, letters, name, "mine", "broken")
        config = {**_sink(topic), "connection.password": "[hidden]"}
        origin: dict[str, str | int] = {"dag": "shop", "task": "write", "run": "scheduled__1", "map_index": -1}
        run = RunRecord("r", RunState.SUCCESS, 1_000, 2_000, {"read": 2}, complete=True, origin=origin)
        runs = ConnectorRuns(config, "DirectorySink", "sink", (topic,), f"connect-{name}", letters, (run,))
        add(
            Registered(name, config, committed={topic: 2}, runs=runs, registered=False),
            Registered("lines", FILE, tasks=(), offsets=(OFFSET,), registered=False),
        )
        return name

    def test_they_are_rows(self, lake: str, client: TestClient) -> None:
        rows = _rows(client)
        told = [tuple(rows[name][key] for key in ("registered", "type", "run_state")) for name in (lake, "lines")]
        assert told == [(False, "sink", "idle"), (False, "source", "idle")]

    def test_connects_own_list_has_those_that_are_registered(self, lake: str, client: TestClient) -> None:
        assert not {lake, "lines"} & set(client.get("/connectors").json())
        assert client.get(f"/connectors/{lake}").status_code == 404

    def test_one_in_full_can_only_be_looked_at(self, lake: str, client: TestClient) -> None:
        found = client.get(f"/v1/connectors/{lake}").json()
        assert [found[key] for key in ("may_write", "may_replay", "reads_source")] == [False] * 3
        assert (found["config"]["connection.password"], [run["id"] for run in found["history"]]) == ("[hidden]", ["r"])

    def test_lag_offsets_and_dead_letters_are_known(self, lake: str, client: TestClient) -> None:
        (offset,) = client.get(f"/v1/connectors/{lake}/offsets").json()["offsets"]
        assert offset["offset"] == {"kafka_offset": 2}
        assert eventually(lambda: client.get("/v1/lags").json()["lags"].get(lake), 1) == 1
        assert client.get(f"/v1/connectors/{lake}/dead-letters").json()["not_replayed"] == 1
        (letter,) = client.get(f"/v1/connectors/{lake}/dead-letters/last").json()["dead_letters"]
        assert letter["value"] == "mine"

    def test_offsets_of_a_source_are_those_of_the_topic(self, lake: str, client: TestClient) -> None:
        expected = [{"partition": OFFSET[0], "offset": OFFSET[1]}]
        assert client.get("/v1/connectors/lines/offsets").json()["offsets"] == expected

    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("PUT", "config/validate", {}),
            ("POST", "preview", {"latest": 1}),
            ("POST", "replay", {"dead_letters": True}),
        ],
    )
    def test_what_needs_a_registered_one_says_how_to_register_it(
        self, method: str, path: str, body: dict[str, Any], lake: str, client: TestClient
    ) -> None:
        answer = client.request(method, f"/v1/connectors/{lake}/{path}", json=body)
        assert answer.status_code == 404
        assert f"{lake} has run but is not registered" in answer.json()["message"]
        assert "kconnect create" in answer.json()["message"]

    def test_registered_it_is_one_row(self, lake: str, client: TestClient) -> None:
        assert client.put(f"/connectors/{lake}/config", json=_sink("t")).status_code == 201
        row = _rows(client)[lake]
        assert (row["registered"], [place["kind"] for place in row["configured"]]) == (True, ["registered", "dag"])

    def test_a_command_reads_them_on_demand(self, lake: str, control_props: dict[str, str]) -> None:
        plane, new = ControlPlane(control_props, ControlStores(control_props, follow=False)), unique("new")
        watch = Watch(plane, follow=False)
        assert {lake, "lines"} <= {row["name"] for row in watch.rows()}
        plane.create(new, FILE)
        watch.refresh()
        assert new in [row["name"] for row in watch.rows()]

    def test_one_whose_registered_configuration_cannot_be_read_is_not_taken_for_unregistered(
        self, client: TestClient, add: Add, topics: WorkerTopics
    ) -> None:
        topics.write_config("broken", b"{")
        add(Registered("broken", FILE, registered=False))
        assert "broken" not in _rows(client)
        answer = client.get("/v1/connectors/broken")
        assert (answer.status_code, "cannot be read" in answer.json()["message"]) == (500, True)


class TestBulk:
    def test_what_happened_to_each_is_said(self, client: TestClient, add: Add) -> None:
        add(Registered("a", FILE), Registered("b", FILE), Registered("dag", FILE, registered=False))
        body = {"action": "pause", "names": ["b", "dag", "nope", "a", "b"]}
        results = client.post("/v1/connectors/bulk", json=body).json()["results"]
        assert [(each["name"], each["done"]) for each in results] == [
            ("b", True),
            ("dag", False),
            ("nope", False),
            ("a", True),
        ]
        messages = [each["message"] for each in results]
        assert messages[0] == "is paused" and "is not registered" in messages[1]
        assert messages[2] == "Connector nope not found"
        rows = _rows(client)
        assert [(rows[name]["run_state"], rows[name]["state"]) for name in ("a", "b", "dag")] == [
            *[("paused", "PAUSED")] * 2,
            ("idle", "RUNNING"),
        ]

    def test_those_that_have_failed_are_started(self, plane: ControlPlane, add: Add) -> None:
        class Starting:
            def __init__(self) -> None:
                self.started: list[str] = []

            def start(self, connector: str) -> None:
                if connector == "new":
                    raise RetriableError("connector new has no DAG yet")
                self.started.append(connector)

            def end(self, connector: str) -> None: ...

        failed = Registered("failed", FILE, tasks=(State.FAILED,), trace="IOException: full")
        add(Registered("fine", FILE), failed, replace(failed, name="new"))
        runs = Starting()
        body = {"action": "restart_failed", "names": ["fine", "failed", "new"]}
        with plane_with_runs(plane, runs) as starting:
            results = api_client(starting).post("/v1/connectors/bulk", json=body).json()["results"]
        assert [(each["done"], each["message"]) for each in results] == [
            (False, "has not failed"),
            (True, "a run is started"),
            (False, "connector new has no DAG yet"),
        ]
        assert runs.started == ["failed"]

    def test_where_nothing_starts_runs_it_says_so(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, FILE, tasks=(State.FAILED,)))
        body = {"action": "restart_failed", "names": [name]}
        (result,) = client.post("/v1/connectors/bulk", json=body).json()["results"]
        assert (result["done"], "nothing here starts runs" in result["message"]) == (False, True)


class TestValidation:
    def test_a_hidden_secret_is_the_registered_one(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, {**FILE, "producer.override.sasl.password": SECRET}))
        config = client.get(f"/v1/connectors/{name}").json()["config"]
        answer = client.put(f"/v1/connectors/{name}/config/validate", json=config)
        assert (answer.json()["error_count"], SECRET in answer.text) == (0, False)

    def test_a_hidden_value_of_another_key_is_an_error(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, FILE))
        config = {**FILE, "name": name, "producer.override.sasl.password": "[hidden]"}
        answer = client.put(f"/v1/connectors/{name}/config/validate", json=config).json()
        assert answer["error_count"] == 1

    def test_an_error_does_not_quote_a_kept_secret(self, client: TestClient, add: Add, name: str) -> None:
        url = f"jdbc:postgresql://u:{SECRET}@db/shop"
        config = {"connector.class": "JdbcSource", "connection.url": url, "mode": "bulk", "topic.prefix": "p"}
        add(Registered(name, config))
        shown = client.get(f"/v1/connectors/{name}").json()["config"]
        answer = client.put(f"/v1/connectors/{name}/config/validate", json=shown)
        assert (shown["connection.url"], SECRET in answer.text) == ("[hidden]", False)


class TestDeadLetters:
    @pytest.fixture
    def letters(self, bootstrap: str) -> str:
        """A topic for them."""
        return create_topic(bootstrap, unique("letters"))

    def _count(self, client: TestClient, name: str) -> dict[str, Any]:
        found: dict[str, Any] = client.get(f"/v1/connectors/{name}/dead-letters").json()
        return found

    def test_without_a_topic(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, _sink("t")))
        assert self._count(client, name)["topic"] is None

    def test_a_topic_that_does_not_exist_yet(self, client: TestClient, add: Add, name: str) -> None:
        add(Registered(name, _sink("t", **{"errors.deadletterqueue.topic.name": unique("none")})))
        assert self._count(client, name)["records"] is None

    def test_they_are_counted_and_those_that_were_not_replayed_become_fewer_with_a_replay(
        self, client: TestClient, add: Add, name: str, letters: str, bootstrap: str
    ) -> None:
        for value in ("x", "y", "z"):
            dead_letter(bootstrap, letters, name, value, "broken")
        add(Registered(name, _sink("t", **{"errors.deadletterqueue.topic.name": letters})))
        expected = {"topic": letters, "records": 3, "not_replayed": 3, "attributed": False}
        assert eventually(lambda: self._count(client, name), expected) == expected
        commit(bootstrap, dead_letter_group(f"connect-{name}"), {letters: 2})
        assert eventually(lambda: self._count(client, name)["not_replayed"], 1) == 1

    def test_those_of_a_source_cannot_be_replayed(self, client: TestClient, add: Add, name: str, letters: str) -> None:
        add(Registered(name, {**FILE, "errors.deadletterqueue.topic.name": letters}))
        assert self._count(client, name)["not_replayed"] is None

    def test_only_those_of_the_connector_are_shown(
        self, client: TestClient, add: Add, name: str, letters: str, bootstrap: str
    ) -> None:
        dead_letter(bootstrap, letters, "other", "not yours", "broken")
        produce(bootstrap, letters, ["any record of a topic"])
        dead_letter(bootstrap, letters, name, "mine", "broken")
        add(Registered(name, _sink("t", **{"errors.deadletterqueue.topic.name": letters})))
        (letter,) = client.get(f"/v1/connectors/{name}/dead-letters/last").json()["dead_letters"]
        assert (letter["value"], letter["context"]["exception.message"]) == ("mine", "broken")


class TestPage:
    @pytest.mark.parametrize("path", ["/ui/", "/ui/app.js", "/ui/views/list.js", "/ui/parts/dom.js", "/ui/style.css"])
    def test_files_have_a_strict_policy(self, path: str, client: TestClient) -> None:
        policy = client.get(path).headers["content-security-policy"]
        assert ("default-src 'self'" in policy, "unsafe" in policy) == (True, False)

    def test_without_a_slash_it_is_found(self, client: TestClient) -> None:
        assert client.get("/ui", follow_redirects=False).headers["location"] == "ui/"

    @pytest.mark.parametrize(
        "path", ["/ui/nope.js", "/ui/../app.py", "/ui/..%2fapp.py", "/ui/%2e%2e/app.py", "/ui//etc/passwd"]
    )
    def test_other_files_are_not_found(self, path: str, client: TestClient) -> None:
        assert client.get(path).status_code == 404

    def test_an_unchanged_file_is_not_sent_again(self, client: TestClient) -> None:
        tag = client.get("/ui/app.js").headers["etag"]
        assert client.get("/ui/app.js", headers={"If-None-Match": tag}).status_code == 304
