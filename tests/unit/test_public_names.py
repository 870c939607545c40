"""What is public names nothing private: signatures of public names use public types of this package only."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import airflow_kconnect
from airflow_kconnect import sdk
from airflow_kconnect.validation.connector import ValidatedConfig
from tests.support.airflow.home import use_own_airflow_home
from tests.support.pages.markdown import REPOSITORY

use_own_airflow_home()

NAMES = [
    *((airflow_kconnect, name) for name in airflow_kconnect.__all__ if name != "__version__"),
    *((sdk, name) for name in sdk.__all__),
]
PUBLIC = {name for _, name in NAMES}
# Words of annotations that others define, too.
FOREIGN = {"Column", "Sequence"}


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@functools.cache
def _own() -> set[str]:
    """What the package defines. Reading it takes a second."""
    return {
        name
        for path in (REPOSITORY / "airflow_kconnect").rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        for name in _defined(node)
    }


def _words(annotations: dict[str, Any]) -> set[str]:
    return {word for text in annotations.values() for word in re.findall(r"\b[A-Z]\w+", str(text))}


def _functions(value: Any) -> Iterator[Callable[..., Any]]:
    if not inspect.isclass(value):
        yield from [value] if callable(value) else []
        return
    for name, member in vars(value).items():
        if name != "__init__" and name.startswith("_"):
            continue
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if inspect.isroutine(function):
            yield inspect.unwrap(function)


def _named(value: Any) -> set[str]:
    """The types that signatures and fields name."""
    fields = vars(value).get("__annotations__", {}) if inspect.isclass(value) else {}
    named = _words({name: text for name, text in fields.items() if not name.startswith("_")})
    return named.union(*(_words(getattr(function, "__annotations__", {})) for function in _functions(value)))


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda value: getattr(value, "__name__", value))
def test_its_signature_names_public_types_only(module: Any, name: str) -> None:
    assert (_named(getattr(module, name)) & _own()) - PUBLIC - FOREIGN == set()


def test_a_type_that_is_not_public_is_found() -> None:
    def leaks(shape: sdk.Shape, config: ValidatedConfig) -> None: ...

    assert (_named(leaks) & _own()) - PUBLIC == {"ValidatedConfig"}
