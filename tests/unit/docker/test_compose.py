"""The set-up in containers against what the code needs; no container is started."""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.local.broker import KAFKA_VERSION
from airflow_kconnect.machine.java import MIN_VERSION
from tests.support.airflow.home import use_own_airflow_home
from tests.support.compose import FILE, FOLDER, OUR_IMAGE, image_environment, instructions, kafka_properties, services
from tests.support.pages.markdown import REPOSITORY

use_own_airflow_home()

SERVICES = services()
OURS = [name for name, service in SERVICES.items() if service["image"] == OUR_IMAGE]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())


def _mounts(service: dict[str, Any]) -> dict[str, str]:
    """Volume or file -> path in the container."""
    parts = (mount.split(":") for mount in service.get("volumes", ()))
    return {source: target for source, target, *_ in parts}


class TestServices:
    def test_only_one_builds_the_image(self) -> None:
        assert [name for name, service in SERVICES.items() if "build" in service] == ["airflow"]

    @pytest.mark.parametrize("name", [name for name in OURS if name != "airflow"])
    def test_the_others_never_look_for_it_in_a_registry(self, name: str) -> None:
        assert SERVICES[name]["pull_policy"] == "never"

    @pytest.mark.parametrize("name", SERVICES)
    def test_each_has_a_health_check(self, name: str) -> None:
        assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"

    @pytest.mark.parametrize("name", SERVICES)
    def test_each_waits_until_what_it_needs_is_healthy(self, name: str) -> None:
        needed = SERVICES[name].get("depends_on", {})
        assert {service["condition"] for service in needed.values()} <= {"service_healthy"}

    def test_airflow_needs_all_others(self) -> None:
        assert {*SERVICES["airflow"]["depends_on"], "airflow"} == set(SERVICES)

    @pytest.mark.parametrize("name", SERVICES)
    def test_ports_are_published_on_the_loopback_address_only(self, name: str) -> None:
        assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", ()))

    def test_no_port_is_published_twice(self) -> None:
        published = [port.split(":")[1] for service in SERVICES.values() for port in service.get("ports", ())]
        assert len(published) == len(set(published))

    def test_driver_and_executors_see_the_same_data(self) -> None:
        assert _mounts(SERVICES["airflow"])["data"] == _mounts(SERVICES["spark-worker"])["data"] == "/data"

    def test_each_volume_is_declared_and_used(self) -> None:
        import yaml

        used = {name for service in SERVICES.values() for name in _mounts(service) if not name.startswith(".")}
        assert used == set(yaml.safe_load(FILE.read_text())["volumes"])

    def test_files_that_are_mounted_exist(self) -> None:
        files = [name for service in SERVICES.values() for name in _mounts(service) if name.startswith(".")]
        assert files and all((FOLDER / name).is_file() for name in files)


class TestKafka:
    def test_is_the_version_that_the_tests_run(self) -> None:
        assert SERVICES["kafka"]["image"] == f"apache/kafka:{KAFKA_VERSION}"

    def test_keeps_its_data_in_the_volume(self) -> None:
        assert kafka_properties()["log.dirs"] == _mounts(SERVICES["kafka"])["kafka"]

    def test_one_broker_holds_everything(self) -> None:
        replicas = {key: value for key, value in kafka_properties().items() if key.endswith(("factor", "min.isr"))}
        assert set(replicas.values()) == {"1"}
        assert {"offsets.topic.replication.factor", "transaction.state.log.replication.factor"} <= set(replicas)

    def test_containers_reach_it_where_airflow_looks(self) -> None:
        kafka = json.loads(SERVICES["airflow"]["environment"]["AIRFLOW_CONN_KAFKA_DEFAULT"])
        assert f"PLAINTEXT://{kafka['host']}" in kafka_properties()["advertised.listeners"]

    def test_this_machine_reaches_it_at_the_published_port(self) -> None:
        address, published, inside = SERVICES["kafka"]["ports"][0].split(":")
        assert f"HOST://{address}:{published}" in kafka_properties()["advertised.listeners"]
        assert f"HOST://:{inside}" in kafka_properties()["listeners"]


class TestImage:
    def test_has_a_java_that_is_new_enough(self) -> None:
        (version,) = re.findall(r"openjdk-(\d+)-jre", " ".join(instructions("RUN")))
        assert int(version) >= MIN_VERSION

    def test_has_a_python_that_the_package_takes(self) -> None:
        (version,) = re.findall(r"python:(\d+\.\d+)", instructions("FROM")[0])
        assert PROJECT["project"]["requires-python"] == f">={version}"

    def test_installs_the_extras_that_jobs_need(self) -> None:
        assert "'.[spark,jdbc]'" in " ".join(instructions("RUN"))

    @pytest.mark.parametrize("folder", ["AIRFLOW_HOME", "SPARK_WORKER_DIR", "KCONNECT_CACHE"])
    def test_its_user_may_write_to(self, folder: str) -> None:
        (made,) = [line for line in instructions("RUN") if "chown" in line]
        (owned,) = re.findall(r"chown -R airflow (.+)", made)
        assert f"${folder}" in owned.split()
        assert f"${folder}" in made.partition("&&")[0].split()
        (user,) = instructions("USER")
        assert any(line.endswith(f"--uid {user} airflow") for line in instructions("RUN"))

    @pytest.mark.parametrize("name", OURS)
    def test_each_volume_is_on_a_folder_that_its_user_owns(self, name: str) -> None:
        (made,) = [line for line in instructions("RUN") if "chown" in line]
        environment = image_environment()
        owned = {environment.get(word.removeprefix("$"), word) for word in made.rpartition("airflow ")[2].split()}
        assert set(_mounts(SERVICES[name]).values()) <= owned

    def test_has_the_health_check(self) -> None:
        assert "docker/healthy.py ." in instructions("COPY")
        scripts = {word for name in OURS for word in SERVICES[name]["healthcheck"]["test"] if word.endswith(".py")}
        assert scripts == {f"{instructions('WORKDIR')[0]}/healthy.py"}

    def test_has_all_that_the_build_of_the_package_reads(self) -> None:
        copied = [word for line in instructions("COPY") for word in line.split()[:-1]]
        needed = {"pyproject.toml", "constraints.txt", *_read_by_the_build()}
        assert {name for name in needed if not any(fnmatch.fnmatch(name, pattern) for pattern in copied)} == set()

    def test_what_is_copied_is_sent_to_the_builder(self) -> None:
        sent = [line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")]
        copied = {word for line in instructions("COPY") for word in line.split()[:-1]}
        assert copied == set(sent)


def _read_by_the_build() -> set[str]:
    """Files and top folders that pyproject.toml names for the wheel."""
    project, hatch = PROJECT["project"], PROJECT["tool"]["hatch"]
    fragments = hatch.get("metadata", {}).get("hooks", {}).get("fancy-pypi-readme", {}).get("fragments", [])
    wheel = hatch["build"]["targets"]["wheel"]
    paths = [*wheel["packages"], *wheel.get("force-include", {}), *project["license-files"], project.get("readme")]
    return {Path(path).parts[0] for path in [*paths, *(f["path"] for f in fragments if "path" in f)] if path}


class TestSettings:
    def test_airflow_knows_each_of_its_settings(self) -> None:
        from airflow.configuration import conf

        names = [*SERVICES["airflow"]["environment"], *image_environment()]
        settings = [name.split("__")[1:] for name in names if name.startswith("AIRFLOW__")]
        assert settings
        unknown = [(section, key) for section, key in settings if conf.get(section, key, fallback=None) is None]
        assert unknown == []

    def test_the_dag_folder_is_where_the_dags_are(self) -> None:
        assert image_environment()["AIRFLOW__CORE__DAGS_FOLDER"] == f"{instructions('WORKDIR')[0]}/dags"
        assert "dags dags" in instructions("COPY")

    def test_connections_lead_to_the_services(self) -> None:
        environment = SERVICES["airflow"]["environment"]
        hosts = [json.loads(value)["host"] for key, value in environment.items() if key.startswith("AIRFLOW_CONN_")]
        names = {re.sub(r"^\w+://|:\d+$", "", host) for host in hosts}
        assert names == {"kafka", "postgres", "spark-master"}

    def test_the_connection_to_postgres_is_what_postgres_is_set_up_with(self) -> None:
        shop = json.loads(SERVICES["airflow"]["environment"]["AIRFLOW_CONN_SHOP"])
        server = SERVICES["postgres"]["environment"]
        assert [shop["login"], shop["password"], shop["schema"]] == [
            server[f"POSTGRES_{name}"] for name in ("USER", "PASSWORD", "DB")
        ]


@pytest.mark.skipif(shutil.which("docker") is None, reason="there is no Docker here")
def test_compose_accepts_the_file() -> None:
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no Docker Compose here")
    checked = subprocess.run(
        ["docker", "compose", "--file", str(FILE), "config", "--quiet"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
