"""`kconnect describe`, `tasks` and `topics`: what is known about one connector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer, Connectors
from airflow_kconnect.cli.connectors.arguments import (
    AsJson,
    Name,
    plain_table,
    print_json,
    print_texts,
    say,
    state_text,
)
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.offset_texts import offset_text
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.control.errors import ForbiddenError, NotFoundError
from airflow_kconnect.remote.errors import ServerError
from airflow_kconnect.validation.hidden import shown_as_known

_MOST_OFFSETS = 10


@on_connectors
def describe(connectors: Connectors, name: Name, as_json: AsJson = False) -> None:
    """Show all of a registered connector: configuration, states and errors, tasks, topics, offsets.

    Example: kconnect describe orders-sink

    Secrets in the configuration are `[hidden]`, variables such as `${file:...}` are shown as they were written. Topics
    and offsets that cannot be read are shown with the reason.
    """
    info = connectors.info(name)
    known: Answer = {**info, "config": without_secrets(info["config"])}
    problems: dict[str, str] = {}
    parts: dict[str, Callable[[], Any]] = {
        "status": lambda: connectors.status(name),
        "topics": lambda: connectors.topics(name),
        "offsets": lambda: connectors.offsets(name),
    }
    for part, ask in parts.items():
        known[part] = _asked(part, ask, problems)
    if as_json:
        print_json({**known, "problems": problems})
    else:
        _show(known, problems)


@on_connectors
def tasks(connectors: Connectors, name: Name, as_json: AsJson = False) -> None:
    """Show the tasks of a connector: number, state, worker, error.

    Example: kconnect tasks orders-sink

    Here a task is a Spark task of the last run; in a Connect cluster it is one of at most `tasks.max`.
    """
    known = {task["id"]["task"]: task["config"] for task in connectors.tasks(name)}
    try:
        states = {task["id"]: task for task in connectors.status(name)["tasks"]}
    except NotFoundError:
        states = {}
    rows = [
        {**states.get(number, {"id": number, "state": "UNKNOWN"}), "config": without_secrets(known.get(number, {}))}
        for number in sorted({*known, *states})
    ]
    if as_json:
        print_json({"tasks": rows})
    elif rows:
        Console().print(_task_table(rows))
        _show_traces(rows)
    else:
        typer.echo(f"Connector {name} has no tasks: it has not run yet, or is stopped.")


@on_connectors
def topics(
    connectors: Connectors,
    name: Name,
    reset: Annotated[bool, typer.Option("--reset", help="Forget which they were; no topic is changed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the topics that a connector has used since it was registered, or since they were reset.

    Examples: `kconnect topics orders-sink`, `kconnect topics orders-sink --reset`
    """
    if reset:
        connectors.reset_topics(name)
        say(f"The topics of connector {name} are forgotten: its next run notes them again.", as_json)
        return
    names = connectors.topics(name)
    if as_json:
        print_json({"topics": names})
    else:
        print_texts(names, f"Connector {name} has used no topic yet.")


def without_secrets(config: Mapping[str, str]) -> dict[str, str]:
    """A configuration whose secrets are `[hidden]`, also one from a Connect cluster, which shows them."""
    return shown_as_known(config)


def _asked(part: str, ask: Callable[[], Any], problems: dict[str, str]) -> Any:
    """The answer; None and the reason among the problems if it is refused."""
    try:
        return ask()
    except (ConfigError, NotFoundError, ForbiddenError, ServerError) as error:
        problems[part] = _reason(error)
        return None


def _reason(error: ConnectError) -> str:
    if isinstance(error, ConfigError):
        return "; ".join(message for messages in error.errors.values() for message in messages)
    return str(error)


def _show(known: Answer, problems: Mapping[str, str]) -> None:
    console = Console()
    status = known["status"]
    facts = plain_table()
    facts.show_header = False
    facts.add_column(style="bold")
    facts.add_column(overflow="fold")
    facts.add_row("Connector", Text(f"{known['name']} ({known['type']})"))
    facts.add_row("State", _state(status["connector"]) if status else Text(problems["status"]))
    facts.add_row("Topics", Text(_or_problem("topics", known, problems, ", ")))
    facts.add_row("Offsets", Text(_or_problem("offsets", known, problems, "\n")))
    console.print(facts)
    _heading(console, "Configuration")
    for key, value in sorted(known["config"].items()):
        console.print(Text.assemble((key, "bold"), f"={value}"), soft_wrap=True)
    if status and status["tasks"]:
        _heading(console, "Tasks")
        console.print(_task_table(status["tasks"]))
    if status:
        _show_traces([status["connector"], *status["tasks"]])


def _state(status: Mapping[str, Any]) -> Text:
    return Text.assemble(state_text(status["state"]), f" at {status['worker_id']}")


def _or_problem(part: str, known: Answer, problems: Mapping[str, str], between: str) -> str:
    if part in problems:
        return f"not known: {problems[part]}"
    lines = [each if isinstance(each, str) else offset_text(each) for each in known[part]]
    more = len(lines) - _MOST_OFFSETS
    return between.join([*lines[:_MOST_OFFSETS], *([f"and {more} more"] if more > 0 else [])]) or "none"


def _task_table(tasks: list[Answer]) -> Any:
    table = plain_table("Task", "State", "Worker")
    for task in tasks:
        table.add_row(str(task["id"]), state_text(task["state"]), Text(task.get("worker_id", "")))
    return table


def _show_traces(statuses: list[Answer]) -> None:
    """Each error once: that of a run is the connector's and that of its task."""
    console = Console()
    shown: set[str] = set()
    for status in statuses:
        trace = (status.get("trace") or "").rstrip()
        if trace and trace not in shown:
            _heading(console, f"Error of task {status['id']}" if "id" in status else "Error")
            console.print(Text(trace), soft_wrap=True)
            shown.add(trace)


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold underline"))
