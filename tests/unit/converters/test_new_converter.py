"""Which converter a connector gets, and with which settings."""

from __future__ import annotations

import subprocess
import sys

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.converters.base import new_converter
from airflow_kconnect.converters.byte_array import ByteArrayConverter
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.converters.string import StringConverter

JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
WORKER = {
    "key.converter": STRING,
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
}


class TestSelection:
    def test_without_a_class_of_its_own_the_connector_gets_the_workers_class_and_settings(self) -> None:
        converter = new_converter(None, {"value.converter.schemas.enable": "true"}, WORKER)
        assert isinstance(converter, JsonConverter)
        assert not converter.schemas_enable

    def test_a_class_of_its_own_comes_with_settings_of_its_own_only(self) -> None:
        converter = new_converter(JSON, {"value.converter": JSON}, WORKER)
        assert isinstance(converter, JsonConverter)
        assert converter.schemas_enable

    def test_keys_and_values_are_chosen_separately(self) -> None:
        converter = new_converter(None, {}, WORKER, "key")
        assert isinstance(converter, StringConverter)
        assert converter.is_key
        assert converter.config_values["converter.type"] == "key"

    def test_a_simple_name_will_do(self) -> None:
        assert isinstance(new_converter("ByteArrayConverter", {}, {}), ByteArrayConverter)


class TestErrors:
    def test_no_class_at_all(self) -> None:
        with pytest.raises(ConfigError) as raised:
            new_converter(None, {}, {})
        assert list(raised.value.errors) == ["value.converter"]

    @pytest.mark.parametrize(
        ("name", "key", "value"),
        [
            pytest.param(JSON, "schemas.enable", "maybe", id="no boolean"),
            pytest.param(JSON, "decimal.format", "ROMAN", id="unknown format"),
            pytest.param(JSON, "schema.content", "{", id="schema that is not JSON"),
            pytest.param(JSON, "schema.content", '{"type":"int3"}', id="schema that is none"),
            pytest.param(JSON, "schema.content", "null", id="schema that is null"),
            pytest.param(STRING, "converter.encoding", "UTF-16", id="other encoding"),
        ],
    )
    def test_wrong_settings_are_named_by_their_full_key(self, name: str, key: str, value: str) -> None:
        with pytest.raises(ConfigError) as raised:
            new_converter(name, {f"value.converter.{key}": value}, {})
        assert list(raised.value.errors) == [f"value.converter.{key}"]


def test_validation_does_not_import_spark() -> None:
    program = (
        "import sys\n"
        "from airflow_kconnect.plugins.registry import registry\n"
        "for name in registry().names('airflow_kconnect.converters'):\n"
        "    registry().converter(name).config()\n"
        "assert 'pyspark' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
