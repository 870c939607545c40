"""What Airflow learns about this package: called by its provider manager, so it imports nothing.

provider.yaml has the same content, for readers of the repository and for Airflow's stricter schema.
"""

from __future__ import annotations

from typing import Any

_INTEGRATION = "Kafka Connect on Spark"


def get_provider_info() -> dict[str, Any]:
    """Provider metadata, following Airflow's provider_info.schema.json."""
    return {
        "package-name": "airflow-kconnect",
        "name": _INTEGRATION,
        "description": "Runs Kafka Connect connectors as Airflow tasks on Spark, without a Connect cluster.",
        "integrations": [
            {
                "integration-name": _INTEGRATION,
                "external-doc-url": "https://kafka.apache.org/documentation/#connect",
                "how-to-guide": ["/docs/operators.md"],
                "tags": ["kafka", "software"],
            }
        ],
        "operators": _modules(
            *("operators.approvals", "operators.group", "operators.kafka_connect", "operators.lake_maintenance"),
            "operators.operations",
        ),
        "sensors": _modules("sensors.files", "sensors.positions", "sensors.slots", "sensors.states"),
        "triggers": _modules("triggers.lag", "triggers.positions", "triggers.spark_job"),
        "hooks": _modules("hooks.kconnect", "hooks.spark_job", "hooks.spark_service"),
        "extra-links": [f"airflow_kconnect.operators.links.{name}" for name in ("SparkUiLink", "RunbookLink")],
        "connection-types": [_connection_type()],
    }


def _modules(*names: str) -> list[dict[str, Any]]:
    return [{"integration-name": _INTEGRATION, "python-modules": [f"airflow_kconnect.{name}" for name in names]}]


def _connection_type() -> dict[str, Any]:
    return {
        "connection-type": "kconnect",
        "hook-class-name": "airflow_kconnect.hooks.kconnect.KafkaConnectHook",
        "hook-name": _INTEGRATION,
        "ui-field-behaviour": {
            "hidden-fields": ["port", "schema"],
            "relabeling": {
                "host": "Bootstrap servers",
                "login": "SASL username",
                "password": "SASL password",
                "extra": "Other worker keys",
            },
            "placeholders": {
                "host": "broker-1:9092,broker-2:9092",
                "extra": '{"offset.storage.replication.factor": "3"}',
            },
        },
        "conn-fields": {
            "group_id": _field("Group id", "`group.id` of the worker: the first part of all transactional ids"),
            "security_protocol": _field("Security protocol", enum=["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]),
            "sasl_mechanism": _field(
                "SASL mechanism", enum=["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER"]
            ),
            "oauth_provider": _field(
                "Token provider", "For OAUTHBEARER: whose identity logs in", enum=["aws_msk_iam", "azure", "gcp"]
            ),
            "ssl_ca": _field(
                "SSL CA certificates", "A path on Spark's machines, or the text (PEM)", format="multiline"
            ),
            "ssl_certificate": _field(
                "SSL certificate", "A path on Spark's machines, or the text (PEM)", format="multiline"
            ),
            "ssl_private_key": _field(
                "SSL private key", "A path on Spark's machines, or the text (PEM)", format="password"
            ),
            "ssl_key_password": _field("SSL key password", format="password"),
            "offset_storage_topic": _field("Offset topic", "Default: connect-offsets"),
            "config_storage_topic": _field("Config topic", "Default: connect-configs"),
            "status_storage_topic": _field("Status topic", "Default: connect-status"),
            "schema_registry_url": _field("Schema registry URL", "For the worker's converters"),
            "schema_registry_username": _field("Schema registry user"),
            "schema_registry_password": _field("Schema registry password", format="password"),
        },
    }


def _field(label: str, description: str | None = None, **schema: Any) -> dict[str, Any]:
    about = {"label": label} if description is None else {"label": label, "description": description}
    return {**about, "schema": {"type": ["string", "null"], **schema}}
