"""The connections that the guide of services tells a reader to create."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from airflow.sdk import Connection

from airflow_kconnect.hooks.services.registry import SERVICES, open_service

GUIDE = Path(__file__).parents[4] / "docs/guides/spark-services.md"
ADDED = re.compile(r"^airflow connections add (.*?)(?=^```|^airflow )", re.MULTILINE | re.DOTALL)


def _connections() -> dict[str, dict[str, str]]:
    """Host -> all options."""
    found = {}
    for command in ADDED.findall(GUIDE.read_text(encoding="utf-8")):
        _, *words = shlex.split(command.replace("\\\n", " "))
        options = dict(zip(words[::2], words[1::2], strict=True))
        if options["--conn-type"] == "spark":
            found[options["--conn-host"]] = options
    return found


@pytest.mark.parametrize("host", _connections())
def test_a_connection_of_the_guide_can_be_used(host: str) -> None:
    extra = _connections()[host]["--conn-extra"]
    connection = Connection(conn_id="spark", conn_type="spark", host=host, extra=extra)
    service = open_service(connection, "spark")
    assert set(connection.extra_dejson) <= {
        name for key, field in type(service.extras).model_fields.items() for name in (key, field.alias)
    }


def test_the_guide_has_a_connection_of_each_service() -> None:
    assert {host.partition("://")[0] for host in _connections()} == set(SERVICES)
