"""The parameters of a function as configuration keys: their types, defaults and texts."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from airflow_kconnect.connect.config import (
    NO_DEFAULT,
    ConfigDef,
    Importance,
    Password,
    Type,
    Validator,
    ValidString,
    all_of,
    nullable,
)
from airflow_kconnect.connect.errors import ConfigError, in_one_line

_TAKEN = ("name", "topic", "topics", "transforms", "predicates")
_TYPES: Mapping[Any, Type] = {
    str: Type.STRING,
    int: Type.LONG,
    float: Type.DOUBLE,
    bool: Type.BOOLEAN,
    list[str]: Type.LIST,
    Password: Type.PASSWORD,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter that is a key of the same name.

    :param is_json: whether the key's text is JSON: the parameter has a type that no key has, such as a dict.
    """

    name: str
    type: Type
    default: Any
    documentation: str
    validator: Validator | None
    is_json: bool


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function, evaluated. Spark's `DataFrame` may be known to type checkers only.

    :raises TypeError: a name in one of them is not known.
    """
    missing = {} if "DataFrame" in getattr(function, "__globals__", {}) else {"DataFrame": object}
    try:
        return get_type_hints(function, localns=missing, include_extras=True)
    except Exception as error:
        raise TypeError(f"{function.__name__}: its annotations cannot be evaluated: {in_one_line(error)}") from error


def refuse_unawaited(function: Callable[..., Any]) -> None:
    """For functions that are done when they return. :raises TypeError: calling it only begins it."""
    unfinished = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if any(is_such(function) for is_such in unfinished):
        raise TypeError(f"{function.__name__}: it must be done when it returns: no `async def`, no `yield`")


def first_parameter(function: Callable[..., Any]) -> str:
    """The name of what gets the records. :raises TypeError: there is none."""
    names = list(inspect.signature(function).parameters)
    if not names:
        raise TypeError(f"{function.__name__}: its first parameter gets the records, and it has none")
    return names[0]


def parameters_of(
    function: Callable[..., Any], given: Collection[str], first: int = 0, taken: Collection[str] = _TAKEN
) -> tuple[Parameter, ...]:
    """The parameters that are keys.

    :param given: names of those that are not: the engine gives them.
    :param first: how many at the beginning are not, whatever their names.
    :param taken: keys that all of its kind have.
    :raises TypeError: one has the name of such a key, or cannot have a name.
    """
    hints, docs = hints_of(function), documented(function)
    found = []
    for parameter in list(inspect.signature(function).parameters.values())[first:]:
        if parameter.name in given:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{function.__name__}: {parameter} cannot be a key: give each parameter a name")
        if parameter.name in taken:
            text = f"`{parameter.name}` is a key of all connectors or transformations: rename the parameter"
            raise TypeError(f"{function.__name__}: {text}")
        hint = hints.get(parameter.name, _type_of(parameter.default))
        found.append(_parameter(parameter.name, hint, parameter.default, docs.get(parameter.name, "")))
    return tuple(found)


def define(config: ConfigDef, parameters: Collection[Parameter]) -> ConfigDef:
    """Add the keys."""
    for each in parameters:
        importance = Importance.HIGH if each.default is NO_DEFAULT else Importance.MEDIUM
        config.define(
            each.name,
            each.type,
            each.default,
            importance,
            each.documentation or "Not documented.",
            validator=each.validator,
        )
    return config


def arguments(parameters: Collection[Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call. :param values: parsed by the definition of `define`."""
    given = ((each, values[each.name]) for each in parameters)
    return {each.name: json.loads(v) if each.is_json and v is not None else v for each, v in given}


def summary_of(function: Callable[..., Any]) -> str:
    """The first paragraph of its docstring, in one line."""
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


def documented(function: Callable[..., Any]) -> dict[str, str]:
    """The text of each parameter in the docstring: ``:param name: text``, or ``name: text`` after ``Args:``."""
    text = inspect.getdoc(function) or ""
    fields = re.findall(r"^:param (?:\w+ )?(\w+):((?:.|\n(?!:))*)", text, re.MULTILINE)
    arguments = re.search(r"^(?:Args|Arguments|Parameters):\n((?:[ \t]+.*\n?|\n)+)", text, re.MULTILINE)
    if arguments:
        block = inspect.cleandoc("\n" + arguments[1])
        fields += re.findall(r"^(\w+)(?: *\([^)]*\))?:((?:.|\n(?!\S))*)", block, re.MULTILINE)
    return {name: " ".join(found.split()) for name, found in fields}


def _parameter(name: str, hint: Any, default: Any, documentation: str) -> Parameter:
    hint, extras = _without_extras(hint)
    hint, is_optional = _without_none(hint)
    texts = [extra for extra in extras if isinstance(extra, str)]
    validators = [extra for extra in extras if callable(extra)]
    if get_origin(hint) is Literal:
        validators.append(ValidString.in_(*map(str, get_args(hint))))
    if default is inspect.Parameter.empty:
        default = None if is_optional else NO_DEFAULT
    type_ = Type.STRING if get_origin(hint) is Literal else _TYPES.get(hint)
    is_json = type_ is None
    if is_json:
        validators.append(_is_json)
        default = default if default in (None, NO_DEFAULT) else json.dumps(default)
    validator = all_of(*validators) if validators else None
    if validator is not None and default is None:
        validator = nullable(validator)
    return Parameter(name, type_ or Type.STRING, default, documentation or " ".join(texts), validator, is_json)


def _is_json(name: str, value: Any) -> None:
    try:
        json.loads(value)
    except (TypeError, ValueError) as error:
        raise ConfigError({name: [f"Invalid value for configuration {name}: it is not JSON: {error}"]}) from None


def _type_of(default: Any) -> Any:
    """For a parameter without an annotation."""
    return str if default in (inspect.Parameter.empty, None) else type(default)


def _without_extras(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())


def _without_none(hint: Any) -> tuple[Any, bool]:
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else ()
    others = tuple(member for member in members if member is not NoneType)
    if len(others) == len(members):
        return hint, False
    return (others[0] if len(others) == 1 else Union[others]), True  # noqa: UP007
