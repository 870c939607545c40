"""`kconnect migrate` without a Kafka: what it shows, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.migration.cluster import ClusterFacts
from airflow_kconnect.migration.survey import Survey
from tests.support.connect.api import ConnectApi, connect_api

STRING = "org.apache.kafka.connect.storage.StringConverter"
FILE = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "file": "/in",
    "topic": "t",
    "key.converter": STRING,
    "value.converter": STRING,
}
MONGO = {"connector.class": "com.mongodb.kafka.connect.MongoSinkConnector", "topics": "t", "password": "s3cret"}


@pytest.fixture
def api() -> Iterator[ConnectApi]:
    """A Connect worker with two connectors, of which one can run here."""
    with connect_api() as running:
        running.add("orders", FILE)
        running.add("mongo", MONGO, kind="sink", state="FAILED")
        yield running


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This machine has no broker of ours, so configurations are all that is judged."""
    monkeypatch.setenv("KCONNECT_HOME", str(tmp_path / "home"))
    for name in ("KCONNECT_WORKER", "KCONNECT_BOOTSTRAP_SERVERS", "KCONNECT_CONNECT_USER"):
        monkeypatch.delenv(name, raising=False)


def typed(api: ConnectApi, *words: str) -> Result:
    return CliRunner().invoke(app, ["migrate", "--from", api.url, *words], env={"COLUMNS": "200"})


def answer(api: ConnectApi, *words: str) -> dict[str, Any]:
    return dict(json.loads(typed(api, "--json", *words).stdout))


def test_the_table_says_how_each_connector_would_run_here(api: ConnectApi) -> None:
    lines = [line.split("  ") for line in typed(api).stdout.split("\n\n")[0].splitlines()]
    cells = {line[0]: [cell.strip() for cell in line[1:] if cell.strip()] for line in lines}
    assert cells["orders"] == ["source", "RUNNING, 1 task", "Spark", "can move"]
    assert cells["mongo"] == ["sink", "FAILED, 1 task", "hosted, once its Java class is installed", "needs changes"]


def test_the_last_line_says_what_comes_next(api: ConnectApi) -> None:
    last = typed(api).stdout.splitlines()[-1]
    assert last == "Nothing was changed. 1 of 2 connectors can move; --to FOLDER --apply moves them."


@pytest.mark.parametrize(
    ("words", "last"),
    [
        ((), "Nothing was changed: solve the problem above."),
        (("--apply", "--to", "."), "Not moved: solve the problem above."),
        (("--apply", "--back"), "Not given back: solve the problem above."),
    ],
)
def test_a_problem_that_forbids_every_move_is_an_error_and_comes_first(
    api: ConnectApi, words: tuple[str, ...], last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = ClusterFacts(api.url, "4.3.0", "abc")
    monkeypatch.setattr("airflow_kconnect.migration.survey.survey", lambda *_, **__: Survey(facts, [], ["no way"]))
    monkeypatch.setattr("airflow_kconnect.migration.recreation.recreate", lambda *_: None)
    done = typed(api, "--bootstrap-servers", "broker.example:9092", *words)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (1, last)


def test_json_has_the_same(api: ConnectApi) -> None:
    printed = answer(api)
    verdicts = {each["name"]: each["verdict"] for each in printed["connectors"]}
    assert (verdicts, printed["moves"]) == ({"mongo": "needs changes", "orders": "can move"}, [])


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_secrets_are_not_shown(api: ConnectApi, words: tuple[str, ...]) -> None:
    done = typed(api, *words)
    assert "password" in done.output
    assert "s3cret" not in done.output


def test_a_paused_connector_is_started_by_a_move(api: ConnectApi) -> None:
    api.add("paused", FILE, state="PAUSED")
    (connector,) = answer(api, "--connector", "paused")["connectors"]
    assert connector["notes"][0].startswith("is PAUSED in Connect, and is started here once it has moved")


def test_only_the_named_connectors(api: ConnectApi) -> None:
    assert [each["name"] for each in answer(api, "--connector", "orders")["connectors"]] == ["orders"]


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(api: ConnectApi) -> None:
    done = typed(api, "--connector", "order")
    assert done.exit_code == 1
    assert "Connect has no connector order; it has: mongo, orders" in done.stderr


def test_a_dry_run_only_asks(api: ConnectApi) -> None:
    typed(api)
    assert {request.split()[0] for request in api.asked} == {"GET"}


def test_moving_needs_a_folder(api: ConnectApi) -> None:
    done = typed(api, "--apply")
    assert (done.exit_code, "--to" in done.stderr) == (1, True)


def test_moving_needs_a_worker(api: ConnectApi, tmp_path: Path) -> None:
    done = typed(api, "--apply", "--to", str(tmp_path))
    assert (done.exit_code, "no Kafka is named" in done.stderr) == (1, True)


def test_a_file_in_the_folder_is_what_is_judged(api: ConnectApi, tmp_path: Path) -> None:
    changed = {"name": "orders", **FILE, "topic": "other", "tasks.max": "x"}
    (tmp_path / "orders.json").write_text(json.dumps(changed))
    (connector,) = answer(api, "--connector", "orders", "--to", str(tmp_path))["connectors"]
    assert (connector["edited"], list(connector["problems"])) == (["tasks.max", "topic"], ["tasks.max"])


def test_a_file_must_not_move_the_offsets(api: ConnectApi, tmp_path: Path) -> None:
    changed = {"name": "orders", **FILE, "offsets.storage.topic": "mine"}
    (tmp_path / "orders.json").write_text(json.dumps(changed))
    (connector,) = answer(api, "--connector", "orders", "--to", str(tmp_path))["connectors"]
    assert "the offsets are elsewhere then" in connector["problems"]["offsets.storage.topic"][0]


def test_something_else_than_connect(api: ConnectApi) -> None:
    api.say("GET /", (200, {"name": "elasticsearch"}))
    done = typed(api)
    assert (done.exit_code, "does not answer like Connect's REST API" in done.stderr) == (1, True)
