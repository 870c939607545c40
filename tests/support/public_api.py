"""``python -m tests.support.public_api``: writes down what users may rely on, into tests/golden/public-api.txt.

A line for each name: functions and classes with their parameters, and public methods, properties and attributes. The
parameters of a class are its own and those of the classes of this package to which it hands `**kwargs`. What it takes
or overrides of a class of another package, such as Airflow's operators, is left out.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from tests.support.airflow.home import use_own_airflow_home

FILE = Path(__file__).parents[1] / "golden" / "public-api.txt"
COMMAND = "python -m tests.support.public_api"
_OURS = "airflow_kconnect"
MODULES = (_OURS, *(f"{_OURS}.{name}" for name in ("conformance", "pytest_plugin", "sdk", "spark", "testing")))
"""Those that users import from."""


def lines() -> list[str]:
    """All that is public, sorted."""
    use_own_airflow_home()
    found: list[str] = []
    for name in MODULES:
        module = import_module(name)
        for public in module.__all__:
            found += described(f"{name}.{public}", inspect.unwrap(getattr(module, public)))
    return sorted(found)


def described(name: str, value: Any) -> Iterator[str]:
    """The lines of a name and of what it has."""
    if inspect.isclass(value):
        yield f"{name}{_constructor(value)}"
        for member, found in _members(value).items():
            yield f"{name}.{member}{found}"
    elif inspect.isroutine(value):
        yield f"{name}{_signature(value)}"
    else:
        yield name


def _constructor(cls: type) -> str:
    parameters: dict[str, Parameter] = {}
    for each in filter(_is_ours, cls.__mro__):
        init = vars(each).get("__new__" if issubclass(cls, tuple) else "__init__")
        if init is None or getattr(each, "_is_protocol", False) or issubclass(cls, Enum):
            continue
        _, *own = inspect.signature(getattr(init, "__func__", init)).parameters.values()
        parameters = {each.name: each for each in own} | parameters
        if all(each.kind is not Parameter.VAR_KEYWORD for each in own):
            parameters = {name: each for name, each in parameters.items() if each.kind is not Parameter.VAR_KEYWORD}
            break
    in_order = sorted(parameters.values(), key=lambda each: (each.kind, each.default is not Parameter.empty))
    return _text(Signature(in_order)) if in_order else ""


def _members(cls: type) -> dict[str, str]:
    found: dict[str, str] = {}
    others = {name for each in cls.__mro__ if not _is_ours(each) for name in dir(each)} - {"__call__"}
    for each in filter(_is_ours, cls.__mro__):
        annotations = vars(each).get("__annotations__", {})
        for name in {**annotations, **vars(each)}.keys() - others:
            if name == "__call__" or not name.startswith("_"):
                found.setdefault(name, _member(vars(each).get(name), annotations.get(name)))
    return found


def _member(value: Any, annotation: Any) -> str:
    function = getattr(value, "__func__", value)
    if isinstance(value, property | functools.cached_property):
        getter: Any = value.fget if isinstance(value, property) else value.func
        return f": {inspect.signature(getter).return_annotation}"
    if inspect.isroutine(function):
        return _signature(function)
    return f": {annotation}" if isinstance(annotation, str) else ""


def _signature(function: Any) -> str:
    return _text(inspect.signature(inspect.unwrap(function)))


class _AsWritten:
    """Shown by a signature without the quotes of a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _text(signature: Signature) -> str:
    parameters = [
        each.replace(annotation=_annotation(each.annotation), default=_default(each.default))
        for each in signature.parameters.values()
    ]
    return str(Signature(parameters, return_annotation=_annotation(signature.return_annotation)))


def _annotation(annotation: Any) -> Any:
    text = getattr(annotation, "__forward_arg__", annotation)  # as named tuples have them
    return _AsWritten(text) if isinstance(text, str) else annotation


def _default(value: Any) -> Any:
    if value is Parameter.empty:
        return value
    text = f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
    return _AsWritten("..." if text.startswith("<") else text)


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == _OURS


if __name__ == "__main__":
    FILE.write_text("\n".join([*lines(), ""]), encoding="utf-8")
