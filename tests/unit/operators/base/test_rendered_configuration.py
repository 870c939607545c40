"""What Airflow's page of rendered templates shows of a connector that is a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import redact

from airflow_kconnect.hosting.password_keys import note
from airflow_kconnect.operators.base import ConnectorOperator
from tests.support.airflow.operator_runs import CONFIG, context, source
from tests.support.spark.fake_spark import FakeSpark


@pytest.fixture
def stored(spark: FakeSpark, tmp_path: Path) -> Any:
    """What is stored after a run."""
    file = tmp_path / "lines.json"
    config = {**CONFIG, "errors.tolerance": "all", "producer.override.sasl.password": "literal-pw-77"}
    file.write_text(json.dumps({"name": "lines", "config": config}), encoding="utf-8")
    operator = source(connector=str(file))
    operator.render_template_fields({})
    assert operator.configuration is None
    operator.execute(context())
    return redact(operator.configuration)


def test_it_is_the_configuration_that_was_read(stored: dict[str, str]) -> None:
    assert "configuration" in ConnectorOperator.template_fields
    assert ConnectorOperator.overwrite_rtif_after_execution
    assert (stored["name"], stored["errors.tolerance"]) == ("lines", "all")


def test_it_has_no_secrets(stored: dict[str, str]) -> None:
    assert "literal-pw-77" not in str(stored)
    assert "producer.override.sasl.password" in stored


def test_of_a_java_class_it_is_only_stored_once_its_passwords_are_known(
    spark: FakeSpark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    config = {"name": "x", "connector.class": "org.acme.AcmeSource", "acme.word": "literal-88"}
    unknown, known = source(connector=config), source(connector=config)
    unknown._given_config()
    note("org.acme.AcmeSource", [{"name": "acme.word", "type": "PASSWORD"}])
    known._given_config()
    assert (unknown.configuration, known.configuration) == (None, {**config, "acme.word": "[hidden]"})
