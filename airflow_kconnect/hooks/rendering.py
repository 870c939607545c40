"""What operators and sensors have in common: their connectors are templates or files, and their secrets are hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from airflow.sdk import BaseOperator

from airflow_kconnect.hooks.masking import register_secrets
from airflow_kconnect.submit.registered import Connector

if TYPE_CHECKING:
    import jinja2
    from airflow.sdk import Context


class ReadsFiles(BaseOperator):
    """A mixin for classes that read the files of connectors."""

    def _dag_folder(self) -> Path | None:
        """What the path of a connector's file is relative to; None outside of a DAG."""
        dag = self.get_dag()
        return None if dag is None else Path(dag.folder)


class RendersConnector(ReadsFiles):
    """A mixin for classes with the template field ``connector``."""

    connector: Connector

    def render_template_fields(self, context: Context, jinja_env: jinja2.Environment | None = None) -> None:
        """Render, and register literal secrets before Airflow stores the rendered fields."""
        super().render_template_fields(context, jinja_env)
        if isinstance(self.connector, Mapping):
            register_secrets(self.connector)


class RendersConnectors(ReadsFiles):
    """A mixin for classes with the template field ``connectors``."""

    connectors: Sequence[Connector] | None

    def render_template_fields(self, context: Context, jinja_env: jinja2.Environment | None = None) -> None:
        """Render, and register literal secrets before Airflow stores the rendered fields."""
        super().render_template_fields(context, jinja_env)
        for connector in self.connectors or ():
            if isinstance(connector, Mapping):
                register_secrets(connector)
