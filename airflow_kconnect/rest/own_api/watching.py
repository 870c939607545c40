"""What looks at the connectors of the app's control plane."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from airflow_kconnect.control.watching.watch import Watch, watch_of
from airflow_kconnect.rest.serving import Plane


def _watch(plane: Plane) -> Watch:
    return watch_of(plane)


Watching = Annotated[Watch, Depends(_watch)]
"""What looks at the connectors."""
