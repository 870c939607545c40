"""The configuration of ReplaceField."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.replace_field import ReplaceFieldValue
from airflow_kconnect.validation.connector import validate_connector


@pytest.mark.parametrize("mapping", ["a", "a:b:c", "a:", ":", "a::b", ""])
def test_a_rename_is_a_pair_of_names(mapping: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ReplaceFieldValue({"renames": f"x:y,{mapping}"})
    message = f"Invalid value [x:y, {mapping}] for configuration renames: Invalid rename mapping: {mapping}"
    assert caught.value.errors == {"renames": [message]}


@pytest.mark.parametrize("renames", ["", ":a", "a:b::", "a:b,a:c"])
def test_renames_that_connect_accepts(renames: str) -> None:
    ReplaceFieldValue({"renames": renames})


@pytest.mark.parametrize(
    ("names", "message"), [("a,a", "values must not be duplicated."), ("a,,b", "values must not be empty.")]
)
def test_lists_of_fields_name_each_once(names: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ReplaceFieldValue({"exclude": names, "include": names})
    assert caught.value.errors == {key: [f"Configuration '{key}' {message}"] for key in ("exclude", "include")}


@pytest.mark.parametrize(("old", "new"), [("blacklist", "exclude"), ("whitelist", "include")])
def test_the_new_name_of_a_key_that_kafka_4_ignores_is_said(old: str, new: str) -> None:
    config = {
        "name": "files",
        "connector.class": "FileStreamSource",
        "file": "/a",
        "topic": "t",
        "value.converter": "StringConverter",
        "transforms": "r",
        "transforms.r.type": "ReplaceField$Value",
        f"transforms.r.{old}": "a",
    }
    text = f"`transforms.r.{old}` has no effect since Kafka 4, in which it is called `transforms.r.{new}`"
    assert text in validate_connector(config).warnings
