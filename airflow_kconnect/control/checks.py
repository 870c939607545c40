"""Tests of a connection for a form: like previews, they are made by a process of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.control import previews, secrets
from airflow_kconnect.control.configurations import RequestError
from airflow_kconnect.control.errors import ForbiddenError
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.hosting.inspection import looks_hosted
from airflow_kconnect.submit.previewing import checked_connection
from airflow_kconnect.validation.inspection import Inspection
from airflow_kconnect.variables.secret_forms import in_texts
from airflow_kconnect.worker_config.keys import PREVIEW_SOURCES

_TIMEOUT_S = 60.0


def possible(plane: ControlPlane, inspection: Inspection) -> dict[str, Any] | None:
    """At which `key` a form offers the test of the connection, and the `problem` that prevents it or null; None if the
    class cannot be tested.
    """
    plugin = inspection.plugin
    if plugin is None or plugin.connection_only({}) is None:
        return None
    return {
        "key": next((key for key in plugin.first_keys if key.endswith(".password")), None),
        "problem": _problem(plane),
    }


def of_connection(plane: ControlPlane, name: str, config: Mapping[str, Any] | None) -> dict[str, Any]:
    """Connect with a configuration, which may lack keys that no connection needs.

    :param config: instead of the registered one; `[hidden]` stands for what is registered.
    :returns: see `runtime.checking.checked`; registered secrets are hidden, too.
    :raises NotFoundError: there is no such connector, and no configuration was given.
    :raises ConfigError: the configuration is not one of texts, or that of a Java class.
    :raises ForbiddenError: the worker does not let this server connect.
    :raises RetriableError: there is no answer in time, or others wait already.
    """
    chosen = previews.configuration(plane, name, config)
    if looks_hosted(chosen):
        raise RequestError({"connector.class": [f"{name} is a Java connector: its class connects as it validates"]})
    if problem := _problem(plane):
        raise ForbiddenError(problem)
    props, variables = plane.for_run({**chosen, "name": name})
    request = {"config": props, "worker": dict(plane.worker_props), "variables": variables}
    with previews.place():
        answer = checked_connection(request, _TIMEOUT_S)
    hidden: dict[str, Any] = in_texts(secrets.hider(chosen, config or {}), answer)
    return hidden


def _problem(plane: ControlPlane) -> str | None:
    if plane.worker.get(PREVIEW_SOURCES):
        return None
    return f"This server connects to no databases: `{PREVIEW_SOURCES}` of the worker is false."
