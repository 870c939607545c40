"""What decorators return: the function itself, which is also a plug-in."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from airflow_kconnect.functions.parameters import summary_of
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import CONNECTORS, registry

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Decorated(Protocol[P, R]):
    """A function that is called as before. `plugin_class` is what configurations get by its name."""

    __name__: str
    plugin_class: type[Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def configured(self, name: str | None = None, **config: Any) -> dict[str, Any]:
        """A connector's JSON, for an operator.

        :param name: of the connector; None: that of the function.
        :param config: its keys, with two underscores in place of a dot; None leaves one out.
        """


def decorated(function: Callable[P, R], base: type[Any], spec: Any) -> Decorated[P, R]:
    """The function with a class for the engine.

    :param base: of the class. :param spec: its class attribute `spec`.
    """
    members = {
        "spec": spec,
        "summary": summary_of(function),
        "__doc__": function.__doc__,
        "__module__": function.__module__,
    }
    own: Any = function
    own.plugin_class = type(function.__name__, (base,), members)

    def configured(name: str | None = None, **config: Any) -> dict[str, Any]:
        as_json = {each.name for each in spec.parameters if each.is_json}
        set_ = {key: value for key, value in config.items() if value is not None}
        texts = {key.replace("__", "."): _text(value, as_json=key in as_json) for key, value in set_.items()}
        return {"name": name or function.__name__, "config": {"connector.class": _class_name(function), **texts}}

    own.configured = configured
    made: Decorated[P, R] = own
    return made


def _class_name(function: Callable[..., Any]) -> str:
    """The name by which configurations know it: installed, or in a file that is sent along."""
    known = registry()
    target = f"{function.__module__}:{function.__qualname__}"
    if (installed := known.installed_as(CONNECTORS, target)) is not None:
        return installed
    file = PluginFile.read(Path(inspect.getfile(function)))
    known.add(file)
    return f"{file.stem}.{function.__name__}"


def _text(value: Any, *, as_json: bool) -> str:
    """A value as that of a key. A text is one already, or names a variable."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and not as_json:
        return ",".join(map(str, value))
    return json.dumps(value) if as_json or isinstance(value, bool) else str(value)
