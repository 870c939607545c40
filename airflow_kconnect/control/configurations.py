"""Configurations as they are submitted: their name, their validation, Connect's text for what is wrong."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError, SetupError
from airflow_kconnect.control import secrets
from airflow_kconnect.control.classes.java_catalogue import java_key_errors
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS, Inspection

log = logging.getLogger("kconnect.hosted")

NAME = "name"


class InvalidConfigurationError(ConfigError):
    """A configuration that is not accepted; the text is that of Connect's REST API."""

    def _text(self) -> str:
        messages = [message for messages in self.errors.values() for message in messages]
        head = f"Connector configuration is invalid and contains the following {len(messages)} error(s):"
        end = (
            "You can also find the above list of errors at the endpoint"
            " `/connector-plugins/{connectorType}/config/validate`"
        )
        return "\n".join([head, *messages, end])


class RequestError(ConfigError):
    """A request that cannot be understood; the text is the message alone."""

    def _text(self) -> str:
        return "\n".join(message for messages in self.errors.values() for message in messages)


def named(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The configuration with its name in it.

    :raises RequestError: it has another name.
    """
    own = config.get(NAME, name)
    if own != name:
        text = f"Connector name configuration ({own}) doesn't match connector name in the URL ({name})"
        raise RequestError({NAME: [text]})
    return {**config, NAME: name}


def checked(config: Mapping[str, Any], worker: Mapping[str, Any]) -> Inspection:
    """Validate a configuration before it is registered; variables are not resolved, and no connection is made.

    A Java class is asked about each of its keys. Where Java cannot be started only our own keys are checked.

    :param worker: the worker's keys, as they were written.
    :raises RequestError: there is no connector class, or an unknown one.
    :raises InvalidConfigurationError: with all errors.
    :raises RetriableError: Java did not answer.
    """
    texts, _ = texts_of(config)
    if not texts.get(CONNECTOR_CLASS):
        raise RequestError({CONNECTOR_CLASS: ["Connector config contains no connector type"]})
    inspection = inspect_without_references(config, worker)
    if inspection.kind is None:
        raise RequestError({CONNECTOR_CLASS: inspection.errors[CONNECTOR_CLASS]})
    errors = {**inspection.errors, **_java_errors(inspection, config)}
    for key, messages in secrets.still_hidden(texts).items():
        errors.setdefault(key, []).extend(messages)
    if errors:
        raise InvalidConfigurationError(errors, str(config.get(NAME)))
    return inspection


def _java_errors(inspection: Inspection, config: Mapping[str, Any]) -> dict[str, list[str]]:
    """What a Java class says of its keys; nothing of a class of this package."""
    if inspection.hosted is None:
        return {}
    try:
        return java_key_errors(inspection, config)
    except SetupError as error:
        log.warning("The keys of %s are not checked before its first run: %s", inspection.connector_class, error)
        return {}
    except ConfigError as error:
        return error.errors


def accepted(
    name: str, config: Mapping[str, Any], known: Mapping[str, str], worker: Mapping[str, Any]
) -> dict[str, str]:
    """The texts of a configuration that may be registered. Raises what `named` and `checked` do.

    :param known: what is registered now, which `[hidden]` stands for.
    """
    complete = secrets.restored(named(config, name), known)
    checked(complete, worker)
    texts, _ = texts_of(complete)
    return texts
