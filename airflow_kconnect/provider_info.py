"""What Airflow learns about this package: called by its provider manager, so it imports nothing."""

from __future__ import annotations

from typing import Any

_INTEGRATION = "Kafka Connect on Spark"


def get_provider_info() -> dict[str, Any]:
    """Provider metadata, as in Airflow's provider_info.schema.json."""
    return {
        "package-name": "airflow-kconnect",
        "name": _INTEGRATION,
        "description": "Runs Kafka Connect connectors as Airflow tasks on Spark, without a Connect cluster.",
        "integrations": [
            {
                "integration-name": _INTEGRATION,
                "external-doc-url": "https://kafka.apache.org/documentation/#connect",
                "tags": ["software"],
            }
        ],
        "operators": [
            {
                "integration-name": _INTEGRATION,
                "python-modules": ["airflow_kconnect.operators.kafka_connect"],
            }
        ],
        "hooks": [
            {
                "integration-name": _INTEGRATION,
                "python-modules": ["airflow_kconnect.hooks.kafka", "airflow_kconnect.hooks.spark_job"],
            }
        ],
    }
