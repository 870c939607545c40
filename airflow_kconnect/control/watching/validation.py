"""Validates a changed configuration as it would be submitted, without showing the secrets that it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.validation.before_variables import inspect_without_references
from airflow_kconnect.connect.variables.secret_forms import secret_forms
from airflow_kconnect.control import secrets
from airflow_kconnect.control.configurations import named
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.plugins.catalogue import described


def of_change(plane: ControlPlane, name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Connect's `ConfigInfos` of a configuration of a registered connector.

    :param config: `[hidden]` stands for what is registered under the same key; such values stay hidden in the answer.
    :raises NotFoundError: there is no such connector. :raises ConfigError: it has another name.
    """
    registered = plane.registered_state(name)
    complete = secrets.restored(named(config, name), registered.texts)
    texts, _ = texts_of(complete)
    kept = {str(complete[key]) for key, value in config.items() if value == secrets.HIDDEN} - {secrets.HIDDEN, ""}
    inspection = inspect_without_references(complete, plane.worker_props)
    for key, messages in secrets.still_hidden(texts).items():
        inspection.add(key, *messages)
    forms = sorted({form for value in kept for form in (value, *secret_forms(value))}, key=len, reverse=True)
    answer = described(inspection, complete)
    for entry in answer["configs"]:
        value = entry["value"]
        if value:
            value["value"] = value["value"] and _hidden(value["value"], forms)
            value["recommended_values"] = [_hidden(str(text), forms) for text in value["recommended_values"]]
            value["errors"] = [_hidden(text, forms) for text in value["errors"]]
    return answer


def _hidden(text: str, forms: list[str]) -> str:
    """The text with `[hidden]` for each of the forms."""
    for form in forms:
        text = text.replace(form, secrets.HIDDEN)
    return text
