"""Who looks at a connector obeys the worker's policy too; Kafka is not asked."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.stores.positions.positions import ConnectorPositions

POLICY = "connector.client.config.override.policy"
SINK = {"name": "lake", "topics": "orders"}
WORKER = {"bootstrap.servers": "localhost:9092"}


@pytest.mark.parametrize(
    ("policy", "key"),
    [
        ("None", "consumer.override.linger.ms"),
        ("Allowlist", "admin.override.bootstrap.servers"),
        ("All", "admin.override.ssl.providers"),
        ("All", "consumer.override.sasl.oauthbearer.token.endpoint.url"),
    ],
)
def test_an_override_that_is_not_allowed_is_refused(policy: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ConnectorPositions({**SINK, key: "evil"}, {**WORKER, POLICY: policy})
    assert list(caught.value.errors) == [key]
