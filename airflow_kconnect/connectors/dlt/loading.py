"""From a configuration to dlt's source: the function that it names, its arguments, hints for its resources."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError, in_one_line
from airflow_kconnect.connectors.dlt.failures import temporary, told
from airflow_kconnect.connectors.dlt.settings import ARGUMENTS, HINTS, RESOURCES, REST_API, SOURCE, DltSettings

if TYPE_CHECKING:
    from dlt.extract.source import DltSource

# dlt looks for arguments that are not given in its own files and in the environment. Airflow's variables are for
# `${airflow:...}`: to look there would import Airflow into the job.
_ENVIRONMENT = {"PROVIDERS__ENABLE_AIRFLOW_SECRETS": "false", "RUNTIME__DLTHUB_TELEMETRY": "false"}


def loaded(settings: DltSettings) -> DltSource:
    """A new source with the resources to read selected. Resources of one object may share generators, which can be read
    once: each resource is read from a source of its own.

    :raises ConfigError: dlt is not installed; or the function, its arguments or its resources are wrong.
    """
    for key, value in _ENVIRONMENT.items():
        os.environ.setdefault(key, value)
    try:
        import dlt  # noqa: F401
    except ImportError as error:
        text = f"dlt cannot be imported here ({in_one_line(error)}): pip install 'airflow-kconnect[dlt]'"
        raise ConfigError({SOURCE: [text]}) from error
    source = _rest_api(settings) if settings.reference is None else _of_function(settings, *settings.reference)
    _apply_hints(source, settings.hints)
    return _selected(source, settings.resources)


def _rest_api(settings: DltSettings) -> DltSource:
    from dlt.sources.rest_api import rest_api_resources
    from dlt.sources.rest_api.typing import RESTAPIConfig

    config = typing.cast(RESTAPIConfig, settings.rest_api_config())
    return _called(lambda: rest_api_resources(config), REST_API, "rest_api")


def _of_function(settings: DltSettings, module: str, name: str) -> DltSource:
    try:
        found: Any = getattr(importlib.import_module(module), name, None)
    except Exception as error:  # any error of the module's own code
        raise ConfigError({SOURCE: [f"module {module} cannot be imported here: {in_one_line(error)}"]}) from error
    if not _makes_sources(found, module):
        text = f"module {module} has no function or resource {name} of its own"
        raise ConfigError({SOURCE: [text]})
    arguments = _arguments(found, settings.arguments, f"{module}:{name}")
    return _called(lambda: found(**arguments), SOURCE, name)


def _makes_sources(found: object, module: str) -> bool:
    """Functions that a module has only imported are not what the worker has allowed."""
    from dlt.extract.reference import SourceFactory
    from dlt.extract.resource import DltResource

    if isinstance(found, DltResource | SourceFactory) or hasattr(found, "_factory"):
        return True
    return inspect.isfunction(found) and found.__module__ == module


def _called(make: Callable[[], Any], key: str, name: str) -> DltSource:
    """What the function returns, as a source. :param key: which errors are about."""
    from dlt.common.schema import Schema
    from dlt.extract.resource import DltResource
    from dlt.extract.source import DltSource

    try:
        made = make()
        if isinstance(made, DltSource):
            return made
        resources = [made] if isinstance(made, DltResource) else list(made) if isinstance(made, Iterable) else []
        if resources and all(isinstance(resource, DltResource) for resource in resources):
            return DltSource(Schema(name), resources[0].section or name, resources)
    except ConnectError:
        raise
    except Exception as error:  # of dlt, or of the user's code
        text = f"the source cannot be made: {told(error)}"
        raise (RetriableError(text) if temporary(error) else ConfigError({key: [text]})) from error
    found = "no resources" if made == [] else f"{type(made).__name__}, and not a source or resources of dlt"
    raise ConfigError({key: [f"{name} returns {found}"]})


def _arguments(function: Callable[..., Any], texts: Mapping[str, str], name: str) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        unknown = []
    else:
        unknown = [argument for argument in texts if argument not in parameters]
    if unknown:
        text = f"{name} has no such argument; it has {', '.join(parameters) or 'none'}"
        raise ConfigError({f"{ARGUMENTS}{argument}": [text] for argument in unknown})
    types = _types(function)
    return {
        argument: argument_of(text, types.get(argument), f"{ARGUMENTS}{argument}") for argument, text in texts.items()
    }


def _types(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function's parameters, as far as they can be evaluated."""
    try:
        return typing.get_type_hints(inspect.unwrap(function))
    except Exception:  # of names that exist for type checkers only
        return {}


def argument_of(text: str, annotation: Any, key: str) -> Any:
    """The value of an argument by its annotation. What is not annotated is JSON if it can be read as such, else text.

    :raises ConfigError: for `key`.
    """
    from dlt.extract.incremental import Incremental

    kinds = set(_kinds(annotation))
    looks_structured = text.lstrip().startswith(("{", "["))
    if str in kinds and not (looks_structured and kinds & {dict, list}):
        return text
    try:
        for kind in (datetime, date):
            if kind in kinds:
                return kind.fromisoformat(text)
        value = json.loads(text)
    except ValueError:
        if kinds & {int, float, bool, dict, list, datetime, date, Incremental}:
            wanted = ", ".join(sorted(kind.__name__ for kind in kinds if kind is not type(None)))
            raise ConfigError({key: [f"cannot be read as {wanted}"]}) from None
        return text
    return Incremental(**value) if Incremental in kinds and isinstance(value, dict) else value


def _kinds(annotation: Any) -> typing.Iterator[type]:
    """The classes that an annotation allows, without their parameters."""
    origin: Any = typing.get_origin(annotation)
    if isinstance(annotation, type) and origin is None:
        yield annotation
    elif isinstance(origin, type) and not _is_union(origin):
        yield origin
    elif origin is typing.Literal:
        yield from {type(value) for value in typing.get_args(annotation)}
    else:
        for part in typing.get_args(annotation):
            yield from _kinds(part)


def _is_union(origin: Any) -> bool:
    return getattr(origin, "__name__", "") in ("UnionType", "Union", "Annotated")


def _apply_hints(source: DltSource, hints: Mapping[str, Mapping[str, Any]]) -> None:
    for name, wanted in hints.items():
        resource = source.resources.get(name)
        if resource is None:
            raise ConfigError({f"{HINTS}{name}": [_no_resource(source, [name])]})
        try:
            resource.apply_hints(**wanted)
        except Exception as error:  # dlt's, of many classes
            raise ConfigError({f"{HINTS}{name}": [f"dlt refuses them: {in_one_line(error)}"]}) from error


def _selected(source: DltSource, names: tuple[str, ...]) -> DltSource:
    missing = [name for name in names if name not in source.resources]
    if missing:
        raise ConfigError({RESOURCES: [_no_resource(source, missing)]})
    source = source.with_resources(*names) if names else source
    if not source.selected_resources:
        raise ConfigError({RESOURCES: [f"the source has selected no resources; it has {_listed(source)}"]})
    return source


def _no_resource(source: DltSource, names: list[str]) -> str:
    return f"the source has no resource {', '.join(names)}; it has {_listed(source)}"


def _listed(source: DltSource) -> str:
    return ", ".join(sorted(source.resources)) or "none"
