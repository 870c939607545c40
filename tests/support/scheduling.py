"""Which tests stay together when several processes share them."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling


class Together(LoadScopeScheduling):  # type: ignore[misc]
    """A file stays together; so do all of Airflow's tests, which share an Airflow, and all unit tests."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        folder = next((name for name in ("tests/airflow", "tests/unit") if file.startswith(f"{name}/")), None)
        return folder or file
