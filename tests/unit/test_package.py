"""The package as others meet it: imports stay light, and Airflow accepts what it says of itself."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import airflow_kconnect
from airflow_kconnect.provider_info import get_provider_info


def _modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys, json\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stdout.splitlines()[-1]))


class TestImports:
    def test_the_package_imports_neither_airflow_nor_spark(self) -> None:
        assert not {"airflow", "pyspark", "confluent_kafka"} & _modules_after("import airflow_kconnect")

    def test_the_provider_info_imports_nothing_beyond_the_package(self) -> None:
        loaded = _modules_after("from airflow_kconnect.provider_info import get_provider_info; get_provider_info()")

        assert not {"airflow", "pyspark", "confluent_kafka"} & loaded

    @pytest.mark.parametrize("name", ["KafkaSourceOperator", "KafkaSinkOperator"])
    def test_an_operator_imports_no_spark(self, name: str) -> None:
        loaded = _modules_after(f"from airflow_kconnect import {name}")

        assert "airflow" in loaded
        assert not {"pyspark", "pandas", "pyarrow"} & loaded

    def test_the_command_line_imports_neither_airflow_nor_spark(self) -> None:
        assert not {"airflow", "pyspark", "pandas"} & _modules_after("import airflow_kconnect.cli")

    def test_an_unknown_name_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'KafkaOperator'"):
            _ = airflow_kconnect.KafkaOperator

    def test_dir_lists_the_lazy_names(self) -> None:
        assert set(airflow_kconnect.__all__) <= set(dir(airflow_kconnect))


class TestProviderInfo:
    def test_is_valid_by_airflows_schema(self) -> None:
        jsonschema = pytest.importorskip("jsonschema")
        code = "import airflow, pathlib; print(pathlib.Path(airflow.__file__).parent / 'provider_info.schema.json')"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        schema = json.loads(Path(ran.stdout.splitlines()[-1]).read_text())

        jsonschema.validate(get_provider_info(), schema)

    def test_all_modules_it_names_exist(self) -> None:
        info = get_provider_info()
        modules = [
            module for kind in ("operators", "hooks") for entry in info[kind] for module in entry["python-modules"]
        ]

        assert len(modules) == 3
        for module in modules:
            assert importlib.util.find_spec(module) is not None

    def test_is_found_by_its_entry_point(self) -> None:
        found = [
            point
            for point in entry_points(group="apache_airflow_provider")
            if point.value.startswith("airflow_kconnect")
        ]

        assert [point.load() for point in found] == [get_provider_info]
        assert found[0].dist is not None
        assert found[0].dist.name == get_provider_info()["package-name"]
