"""What Airflow loads in each of its processes; the app itself is imported by the API server only."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any

from airflow.plugins_manager import AirflowPlugin

log = logging.getLogger(__name__)


class KafkaConnectPlugin(AirflowPlugin):
    """Connect's REST API under `/kconnect`, the page `Connectors` in Airflow's navigation, and a tab at DAG runs."""

    name = "kconnect"

    def __init__(self) -> None:
        super().__init__()
        # Airflow removes entries that it does not accept: a list of the class would be shared.
        # Without a category: Airflow would put the entry into the menu of the category, not next to its own entries.
        self.external_views = [
            {
                "name": "Connectors",
                "href": "kconnect/ui/",
                "destination": "nav",
                "url_route": "connectors",
                "nav_top_level": True,
            },
            # At DAG runs only: Airflow would show it at each task of each DAG.
            {
                "name": "Connectors",
                "href": "kconnect/ui/run.html?dag_id={DAG_ID}&run_id={RUN_ID}",
                "destination": "dag_run",
                "url_route": "connector-reports",
            },
        ]

    @cached_property
    def deadline_references(self) -> list[Any]:  # type: ignore[override]
        """The references that the scheduler may take from a DAG; none below Airflow 3.3."""
        from airflow.providers.common.compat.sdk import AirflowOptionalProviderFeatureException

        try:
            from airflow_kconnect.operators.deadlines import FreshBy
        except AirflowOptionalProviderFeatureException:
            return []
        return [FreshBy]

    @cached_property
    def fastapi_apps(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """The app; none, and a line in the log, if it cannot be made: Airflow starts all the same."""
        try:
            from airflow_kconnect.airflow_plugin.application import application

            return [{"app": application(), "url_prefix": "/kconnect", "name": "Kafka Connect's REST API"}]
        except Exception:
            log.exception("Kafka Connect's REST API is not served")
            return []
