"""What operators and sensors have in common: their connector is a template or a file, and its secrets are hidden."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from airflow.sdk import BaseOperator

from airflow_kconnect.hooks.masking import register_secrets
from airflow_kconnect.submit.registered import Connector

if TYPE_CHECKING:
    import jinja2
    from airflow.sdk import Context


class RendersConnector(BaseOperator):
    """A mixin for classes with the template field ``connector``."""

    connector: Connector

    def render_template_fields(self, context: Context, jinja_env: jinja2.Environment | None = None) -> None:
        """Render, and register literal secrets before Airflow stores the rendered fields."""
        super().render_template_fields(context, jinja_env)
        if isinstance(self.connector, Mapping):
            register_secrets(self.connector)

    def _dag_folder(self) -> Path | None:
        """What the path of a connector's file is relative to; None outside of a DAG."""
        dag = self.get_dag()
        return None if dag is None else Path(dag.folder)
