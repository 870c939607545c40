"""The folder of connector files."""

from __future__ import annotations

import ast
import json
import stat
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.migration.folder import DAG_FILE, ConnectorFolder

CONFIG = {"connector.class": "FileStreamSource", "file": "/in", "password": "${file:/run/x:y}", "name": "c"}


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.parametrize("name", ["orders", "a/b", "..", ".hidden", "mit Leerzeichen", "ünïcode", "100%"])
def test_any_name_makes_a_file_in_the_folder(tmp_path: Path, name: str) -> None:
    folder = ConnectorFolder(tmp_path / "connectors")
    folder.write(name, {**CONFIG, "name": name})
    (file,) = folder.path.iterdir()
    assert not file.name.startswith(".")
    assert folder.read(name) == {**CONFIG, "name": name}


def test_variables_stay_variables(tmp_path: Path) -> None:
    ConnectorFolder(tmp_path).write("c", CONFIG)
    assert json.loads((tmp_path / "c.json").read_text()) == CONFIG


def test_a_file_with_a_secret_is_for_its_owner_only(tmp_path: Path) -> None:
    done = ConnectorFolder(tmp_path).write("c", {**CONFIG, "password": "s3cret"})
    assert mode(tmp_path / "c.json") == 0o600
    assert done.endswith("readable by its owner only: it has secrets in it")


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"name": "c", "file": "/other"}')
    assert ConnectorFolder(tmp_path).write("c", CONFIG) == f"kept {tmp_path}/c.json"
    assert ConnectorFolder(tmp_path).read("c") == {"name": "c", "file": "/other"}


def test_a_file_of_another_connector(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"name": "d", "config": {}}')
    with pytest.raises(ConfigError, match="is not of connector c: its `name` is d"):
        ConnectorFolder(tmp_path).read("c")


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="`--to`: cannot write"):
        ConnectorFolder(tmp_path / "file").write("c", CONFIG)


class TestDagFile:
    WORKER = {
        "bootstrap.servers": "b:9092",
        "group.id": "connect-cluster",
        "config.storage.topic": "kconnect-configs",
        "sasl.jaas.config": "user s3cret",
        "value.converter": "X",
        "value.converter.schema.registry.basic.auth.user.info": "ann:s3cret",
    }

    def test_has_the_keys_of_the_worker_that_the_connection_does_not_have(self, tmp_path: Path) -> None:
        ConnectorFolder(tmp_path).write_dag(self.WORKER)
        assigned = next(
            node
            for node in ast.parse((tmp_path / DAG_FILE).read_text()).body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        )
        assert ast.literal_eval(assigned.value) == {
            "group.id": "connect-cluster",
            "config.storage.topic": "kconnect-configs",
            "value.converter": "X",
        }

    def test_is_not_written_twice(self, tmp_path: Path) -> None:
        ConnectorFolder(tmp_path).write_dag(self.WORKER)
        assert ConnectorFolder(tmp_path).write_dag(self.WORKER) is None

    def test_is_not_written_if_a_dag_above_reads_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "orders.py").write_text('connectors_from_folder("connectors")')
        assert ConnectorFolder(tmp_path / "connectors").write_dag(self.WORKER) is None
