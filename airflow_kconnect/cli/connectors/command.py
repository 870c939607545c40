"""Gives commands the options that choose a target, and the connectors there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter
from typing import Any, Concatenate, ParamSpec

import typer

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.target import ProfileName, Server, Servers, Target, WorkerFile, chosen
from airflow_kconnect.cli.errors import errors_shown

P = ParamSpec("P")

_OPTIONS = {"server": Server, "profile": ProfileName, "worker": WorkerFile, "bootstrap_servers": Servers}


def on_connectors(function: Callable[Concatenate[Connectors, P], None]) -> Callable[..., None]:
    """A command whose first parameter are the connectors of the target that its options choose.

    The options are added to its own. Errors are shown; at the end the connectors are closed.
    """

    def on_opened(target: Target, *args: P.args, **kwargs: P.kwargs) -> None:
        with opened(target) as connectors:
            function(connectors, *args, **kwargs)

    return _with_options(on_opened, function, tuple(_OPTIONS))


def on_target(
    *without: str,
) -> Callable[[Callable[Concatenate[Target, P], None]], Callable[..., None]]:
    """A command whose first parameter is the target that its options choose. Errors are shown.

    :param without: options that it does not have.
    """
    names = tuple(name for name in _OPTIONS if name not in without)
    return lambda function: _with_options(function, function, names)


@contextmanager
def opened(target: Target) -> Iterator[Connectors]:
    """The connectors of a target, closed afterwards."""
    connectors = target.connectors()
    try:
        yield connectors
    finally:
        connectors.close()


def _with_options(
    run: Callable[..., None], function: Callable[..., None], names: tuple[str, ...]
) -> Callable[..., None]:
    def command(context: typer.Context, **given: Any) -> None:
        options = {name: given.pop(name) for name in names}
        with errors_shown():
            run(_chosen(context, options), **given)

    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    keyword = Parameter.KEYWORD_ONLY
    parameters = [
        Parameter("context", keyword, annotation=typer.Context),
        *(each.replace(kind=keyword) for each in own),
        *(Parameter(name, keyword, default=None, annotation=_OPTIONS[name]) for name in names),
    ]
    # What Typer looks at.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__name__, command.__doc__, command.__module__ = function.__name__, function.__doc__, function.__module__
    return command


def _chosen(context: typer.Context, options: dict[str, Any]) -> Target:
    """Only what was typed: values from the environment count as the environment."""
    typed = {name: value for name, value in options.items() if is_typed(context, name)}
    return chosen(typed.get("server"), typed.get("profile"), typed.get("worker"), typed.get("bootstrap_servers"))


def is_typed(context: typer.Context, name: str) -> bool:
    """Whether an option was on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
