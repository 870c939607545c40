"""What looks at the connectors of the app's control plane."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from airflow_kconnect.control.overview.watch import Watch, watch_of
from airflow_kconnect.rest.serving import Plane


def app_watch(plane: Plane) -> Watch:
    """The watch of the app's control plane."""
    return watch_of(plane)


Watching = Annotated[Watch, Depends(app_watch)]
"""What looks at the connectors."""
