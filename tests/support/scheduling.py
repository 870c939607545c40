"""Which tests stay together when several processes share them, and which of them begin."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScopeScheduling

# An Airflow is shared by the tests of its folder, as are a browser and its shop, servers of stores, and a broker that
# checks tokens; what imports Airflow takes seconds to do so.
_SHARED = {
    "tests/airflow/standalone": "an Airflow with all its processes",
    "tests/airflow": "tasks in Airflow",
    "tests/integration/rest/page": "pages in a browser",
    "tests/integration/kafka/logins": "logins with tokens",
    **dict.fromkeys(
        (
            "tests/integration/places",
            "tests/integration/connectors/test_cloud_storage_stores.py",
            "tests/integration/connectors/test_directory_in_stores.py",
            "tests/integration/connectors/test_stopped_runs.py",
        ),
        "servers of all kinds of stores",
    ),
    **dict.fromkeys(
        (f"tests/unit/{name}" for name in ("hooks", "operators", "sensors", "triggers")), "units in Airflow"
    ),
}
_UNIT = "tests/unit/"
# What takes long begins, so that the processes end at the same time. Of two that match, the first counts.
_ORDER = (
    "tests/airflow/standalone",
    "tests/newcomer/test_pages",
    "tests/airflow",
    "tests/integration/rest/page",
    "tests/newcomer",
    "tests/integration/runtime/test_interoperation",
    "tests/integration/connectors/jdbc/test_source_connector",
    "tests/integration/migration",
    "tests/integration/runtime/sink/test_jdbc_sink_failures",
    "tests/integration/runtime/source/test_failures",
    "tests/integration/operators/test_registered",
    "tests/integration/connectors/jdbc/sink/test_schema_changes",
    "tests/integration/runtime/test_schema_changes",
    "tests/integration/transforms/test_transforms_golden",
    "tests/torture",
)


def scope(nodeid: str) -> str:
    """What has the same scope is run by one process: a file, a folder of unit tests, or what shares an Airflow."""
    file = nodeid.partition("::")[0]
    for folder, name in _SHARED.items():
        if file == folder or file.startswith(f"{folder}/"):
            return name
    return "/".join(file.split("/")[:3]) if file.startswith(_UNIT) else file


def rank(nodeid: str) -> int:
    """Its place in the order of tests; those of equal rank stay as they are."""
    first = next((k for k, start in enumerate(_ORDER) if nodeid.startswith(start)), len(_ORDER))
    return first + nodeid.startswith(_UNIT)


class Together(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process whole scopes."""

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


def sort(items: list[pytest.Item]) -> None:
    """Bring tests into the order in which they are to begin."""
    items.sort(key=lambda item: rank(item.nodeid))
