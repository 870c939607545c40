"""The connector as a template, and what Airflow stores of it."""

from __future__ import annotations

from airflow.providers.common.compat.sdk import redact

from airflow_kconnect.operators.base import ConnectorOperator
from tests.support.airflow.operator_runs import source


class TestTemplates:
    def test_the_connector_is_rendered(self) -> None:
        operator = source(connector={"name": "lines-{{ who }}", "config": {"file": "/data/{{ who }}"}})

        operator.render_template_fields({"who": "me"})  # type: ignore[typeddict-unknown-key]

        assert operator.connector == {"name": "lines-me", "config": {"file": "/data/me"}}

    def test_literal_secrets_are_masked_in_what_is_rendered(self) -> None:
        operator = source(connector={"name": "x", "config": {"sasl.jaas.config": "jaas-literal-7", "topic": "t"}})

        operator.render_template_fields({})

        shown = redact(operator.connector)
        assert isinstance(shown, dict)
        assert shown["config"] == {"sasl.jaas.config": "***", "topic": "t"}

    def test_the_worker_configuration_is_not_stored(self) -> None:
        assert "worker_config" not in ConnectorOperator.template_fields

    def test_all_template_fields_are_attributes(self) -> None:
        operator = source()

        for field in operator.template_fields:
            assert hasattr(operator, field)
