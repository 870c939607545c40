"""What requests are answered with: the control plane of the app."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from airflow_kconnect.control.plane import ControlPlane


def _plane(request: Request) -> ControlPlane:
    plane: ControlPlane = request.app.state.plane()
    return plane


Plane = Annotated[ControlPlane, Depends(_plane)]
"""The control plane."""
