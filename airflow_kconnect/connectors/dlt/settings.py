"""The keys of the connector, and rules about them that need neither dlt nor the source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.json_objects import object_problem, with_prefix
from airflow_kconnect.validation.connector_keys import KCONNECT
from airflow_kconnect.worker_config.keys import DLT_SOURCES

SOURCE, REST_API, RESOURCES, RESUME_AFTER = "dlt.source", "dlt.rest_api", "dlt.resources", "dlt.resume.after"
PREFIX = "topic.prefix"
ARGUMENTS, HINTS = "dlt.args.", "dlt.hints."
OF_TASK = "dlt.task.resources"
"""Which resources a task has: in the configurations of tasks only."""
SCHEMAS, SCHEMAS_OF_TASK = "dlt.schemas", "dlt.task.schemas"

# What dlt brings along. A configuration can give them addresses and files to read, but no code.
OF_DLT = ("dlt.sources.rest_api", "dlt.sources.sql_database", "dlt.sources.filesystem")
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_HINTS = ("primary_key", "incremental", "columns", "table_name", "write_disposition")


def dlt_config() -> ConfigDef:
    """The keys that are known by name; there are also `dlt.args.*` and `dlt.hints.*`."""
    return (
        ConfigDef()
        .define(SOURCE, Type.STRING, None, Importance.HIGH,
                "The function that makes the source, `module:function`: decorated with `@dlt.source` or "
                "`@dlt.resource`, or one that returns such a thing. The module must be importable where the job runs, "
                f"and allowed by the worker's `{DLT_SOURCES}`. `dlt.args.<name>` are its arguments.", group=KCONNECT,
                example="dlt.sources.sql_database:sql_database")
        .define(REST_API, Type.STRING, None, Importance.HIGH,
                "In place of a function: dlt's declarative configuration of a REST API as JSON, or the absolute path "
                "of a file with it where the job runs. Secrets in the JSON are best references such as `${file:...}`.",
                group=KCONNECT)
        .define(RESOURCES, Type.LIST, [], Importance.HIGH,
                "The resources to read; default: all that the source has selected.", group=KCONNECT)
        .define(PREFIX, Type.STRING, "", Importance.HIGH,
                "A resource's records go to the topic with this before the name of its table in dlt, which is that of "
                "the resource unless the resource says otherwise.")
        .define(RESUME_AFTER, Type.STRING, "auto", Importance.MEDIUM,
                "After what a run that was interrupted can be resumed, and so what a transaction holds at least: "
                "`resource`: all that a resource yields in a run; `page`: what it yields at once, for resources whose "
                "state then covers all that they have yielded; `auto`: `page` for those whose incremental cursor "
                "proves it, else `resource`.", group=KCONNECT, validator=ValidString.in_("auto", "resource", "page"))
        .define(SCHEMAS, Type.STRING, "none", Importance.MEDIUM,
                "`declared`: records of resources that declare the types of all columns are structs with these "
                "columns, as those of tables of a database do; `none`: all records are JSON without a schema.",
                group=KCONNECT, validator=ValidString.in_("none", "declared"))
    )  # fmt: skip


@dataclass(frozen=True)
class DltSettings:
    """A configuration, parsed.

    :param reference: module and function; None with a REST API.
    :param rest_api: dlt's declarative configuration, or the path of a file with it.
    :param resources: those to read; empty: what the source has selected.
    :param arguments: of the function, as text. :param hints: of resources, by their names.
    """

    reference: tuple[str, str] | None
    rest_api: str | None = field(repr=False)
    resources: tuple[str, ...]
    topic_prefix: str
    resume_after: str
    schemas: str
    arguments: Mapping[str, str] = field(repr=False)
    hints: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, props: Mapping[str, str]) -> DltSettings:
        """:raises ConfigError: a configuration that `problems_of` finds wrong."""
        values = dlt_config().parse(props)
        named = values[SOURCE]
        module, _, function = (named or "").partition(":")
        return cls(
            reference=(module, function) if named else None,
            rest_api=values[REST_API],
            resources=tuple(values[RESOURCES]),
            topic_prefix=values[PREFIX],
            resume_after=values[RESUME_AFTER],
            schemas=values[SCHEMAS],
            arguments=with_prefix(ARGUMENTS, props),
            hints={name: json.loads(text) for name, text in with_prefix(HINTS, props).items()},
        )

    def rest_api_config(self) -> dict[str, Any]:
        """:raises ConfigError: it is not JSON, or its file cannot be read."""
        text = self.rest_api or ""
        if not text.lstrip().startswith("{"):
            try:
                text = Path(text.strip()).read_text("utf-8")
            except (OSError, UnicodeError) as error:
                raise ConfigError({REST_API: [f"the file cannot be read here: {error}"]}) from error
        problem = object_problem(text)
        if problem:
            raise ConfigError({REST_API: [problem]})
        config: dict[str, Any] = json.loads(text)
        return config


def problems_of(props: Mapping[str, str]) -> dict[str, list[str]]:
    """What is wrong with a configuration: key -> messages."""
    problems: dict[str, list[str]] = {}
    named, api = (props.get(SOURCE) or "").strip(), (props.get(REST_API) or "").strip()
    if bool(named) == bool(api):
        problems[SOURCE] = [f"exactly one of {SOURCE} and {REST_API} must be set"]
    elif named and not _REFERENCE.fullmatch(named):
        problems[SOURCE] = [f"`{named}` is not of the form module:function"]
    elif api and (problem := _rest_api_problem(api)):
        problems[REST_API] = [problem]
    if api:
        text = f"has no effect with {REST_API}, which takes no arguments"
        problems |= {f"{ARGUMENTS}{name}": [text] for name in with_prefix(ARGUMENTS, props)}
    for name, text in with_prefix(HINTS, props).items():
        if problem := _hints_problem(text):
            problems[f"{HINTS}{name}"] = [problem]
    return problems


def forbidden(props: Mapping[str, str], allowed: Sequence[str]) -> dict[str, list[str]]:
    """What is wrong with the code that a connector names: key -> messages.

    :param allowed: `kconnect.dlt.sources.allowed` of the worker.
    """
    reference = (props.get(SOURCE) or "").strip()
    module = reference.partition(":")[0]
    if not _REFERENCE.fullmatch(reference) or "*" in allowed or module in OF_DLT or {reference, module} & set(allowed):
        return {}
    why = f"a source is code, and the worker's `{DLT_SOURCES}` does not name it: add {module} or {reference} there"
    return {SOURCE: [f"`{reference}` is not allowed: {why}"]}


def offset_problems(partition: Mapping[str, Any], offset: Mapping[str, Any]) -> list[str]:
    """What is wrong with an offset that is to be committed."""
    if set(partition) != {"source", "resource"}:
        return [f"the source partition {dict(partition)} is not of this connector: it needs `source` and `resource`"]
    state = offset.get("state")
    problem = object_problem(state) if isinstance(state, str) else "is missing, or not a text"
    return [f"`state` of resource {partition['resource']}: {problem}"] if problem or set(offset) != {"state"} else []


def _rest_api_problem(text: str) -> str | None:
    if text.startswith("{"):
        return object_problem(text)
    return None if text.startswith("/") else "is neither JSON nor the absolute path of a file"


def _hints_problem(text: str) -> str | None:
    if problem := object_problem(text):
        return problem
    unknown = sorted(set(json.loads(text)) - set(_HINTS))
    return f"does not know {', '.join(unknown)}, only {', '.join(_HINTS)}" if unknown else None
