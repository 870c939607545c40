"""The package as others meet it: imports stay light."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import airflow_kconnect
from tests.support.airflow.home import use_own_airflow_home

use_own_airflow_home()


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

    def test_the_command_line_imports_neither_airflow_nor_spark(self) -> None:
        assert not {"airflow", "pyspark", "pandas"} & _modules_after("import airflow_kconnect.cli")

    def test_an_unknown_name_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'KafkaOperator'"):
            _ = airflow_kconnect.KafkaOperator

    def test_dir_lists_the_lazy_names(self) -> None:
        assert set(airflow_kconnect.__all__) <= set(dir(airflow_kconnect))

    @pytest.mark.parametrize("name", sorted(set(airflow_kconnect.__all__) - {"preview"}))
    def test_all_names_can_be_imported(self, name: str) -> None:
        assert getattr(airflow_kconnect, name) is not None
