"""Validates a changed configuration as it would be submitted, without showing the secrets that it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.control import checks, secrets
from airflow_kconnect.control.classes.catalogue import described
from airflow_kconnect.control.classes.forms import with_form
from airflow_kconnect.control.configurations import named
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.validation.before_variables import inspect_without_references


def of_change(plane: ControlPlane, name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Connect's `ConfigInfos` of a configuration of a registered connector, with what a form needs: `with_form`.

    :param config: `[hidden]` stands for what is registered under the same key; such values stay hidden in the answer.
    :raises NotFoundError: there is no such connector. :raises ConfigError: it has another name.
    """
    registered = plane.registered_state(name)
    complete = secrets.restored(named(config, name), registered.texts)
    texts, _ = texts_of(complete)
    inspection = inspect_without_references(complete, plane.worker_props)
    for key, messages in secrets.still_hidden(texts).items():
        inspection.add(key, *messages)
    hide = secrets.hider(complete, config)
    answer = with_form(described(inspection, complete), inspection) | {"test": checks.possible(plane, inspection)}
    for entry in answer["configs"]:
        value = entry["value"]
        if value:
            value["value"] = value["value"] and hide(value["value"])
            value["recommended_values"] = [hide(str(text)) for text in value["recommended_values"]]
            value["errors"] = [hide(text) for text in value["errors"]]
    return answer
