"""Keys about Java plug-ins: where they are, which are downloaded, and which ones connectors may bring along.

A plug-in is code that runs with the rights of the job: a connector may name Maven coordinates only if its worker
allows them. What the worker's file names, and what is installed below `plugin.path`, needs no permission.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from airflow_kconnect.connect.config import ConfigDef, Importance, LambdaValidator, Type, Width
from airflow_kconnect.plugins.java.places import coordinates_problem

PLUGIN_PATH = "plugin.path"
COORDINATES = "kconnect.plugin.coordinates"
INSTALL = "kconnect.plugin.install"
OFF = "off"


def define_worker_keys(definition: ConfigDef) -> ConfigDef:
    """Add the worker's keys."""
    return (
        definition.define(
            PLUGIN_PATH,
            Type.LIST,
            [],
            Importance.MEDIUM,
            "Folders of Java plug-ins, comma-separated: each folder in them is one plug-in with all its jars, as in "
            "Kafka Connect. Default: `plugins` in the cache folder, where `kconnect plugins install` puts them.",
        )
        .define(
            COORDINATES,
            Type.LIST,
            [],
            Importance.MEDIUM,
            "Maven coordinates (`group:artifact:version`) of Java plug-ins for all connectors, comma-separated. They "
            "are downloaded once, with what they need, into the cache.",
            validator=LambdaValidator(_bad_coordinates),
        )
        .define(
            INSTALL,
            Type.LIST,
            [OFF],
            Importance.MEDIUM,
            f"Which Java plug-ins connectors may bring along with `{COORDINATES}`: `off`, or patterns of Maven "
            "coordinates such as `io.debezium:*` or `org.apache.iceberg:iceberg-kafka-connect:1.10.0`, or `*` for "
            "any. A plug-in is code that runs in the job. Installed ones need no entry.",
            validator=LambdaValidator(_bad_patterns),
        )
    )


def define_connector_key(definition: ConfigDef, group: str) -> ConfigDef:
    """Add the connector's key, which hosted connectors have."""
    return definition.define(
        COORDINATES,
        Type.LIST,
        [],
        Importance.MEDIUM,
        "Maven coordinates (`group:artifact:version`) of Java plug-ins that this connector needs, comma-separated: "
        f"its own, converters, transformations. The worker's `{INSTALL}` must allow them.",
        validator=LambdaValidator(_bad_coordinates),
        group=group,
        width=Width.LONG,
        display_name="Plug-ins",
    )


def coordinates_of(props: Mapping[str, object]) -> list[str]:
    """The Maven coordinates that a connector or a worker names."""
    return [part.strip() for part in str(props.get(COORDINATES) or "").split(",") if part.strip()]


def coordinates_errors(props: Mapping[str, str], allowed: Sequence[str]) -> dict[str, list[str]]:
    """Key -> messages for the coordinates of a connector.

    :param props: the connector's keys. :param allowed: `kconnect.plugin.install` of the worker.
    """
    given = coordinates_of(props)
    problems = [problem for text in given if (problem := coordinates_problem(text))]
    refused = [text for text in given if not coordinates_problem(text) and not _is_allowed(text, allowed)]
    if refused:
        names = ", ".join(refused)
        problems.append(
            f"{names} may not be brought along by a connector: a plug-in is code that runs in the job, and the "
            f"worker's `{INSTALL}` {_what_is_allowed(allowed)}. Add {_pattern(refused[0])} there, or install it once: "
            f"kconnect plugins install {refused[0]}"
        )
    return {COORDINATES: problems} if problems else {}


def _is_allowed(coordinates: str, allowed: Sequence[str]) -> bool:
    """A pattern without a version allows all of them."""
    return any(
        pattern != OFF and (fnmatchcase(coordinates, pattern) or fnmatchcase(coordinates, f"{pattern}:*"))
        for pattern in allowed
    )


def _what_is_allowed(allowed: Sequence[str]) -> str:
    patterns = [pattern for pattern in allowed if pattern != OFF]
    return f"allows only {', '.join(patterns)}" if patterns else "is off"


def _pattern(coordinates: str) -> str:
    return ":".join(coordinates.split(":")[:2])


def _bad_coordinates(name: str, entries: list[str]) -> str | None:
    return next((problem for entry in entries if (problem := coordinates_problem(entry))), None)


def _bad_patterns(name: str, entries: list[str]) -> str | None:
    if OFF in entries and len(entries) > 1:
        return f"{OFF} stands alone; remove it, or the patterns next to it"
    wrong = [entry for entry in entries if entry not in (OFF, "*") and (":" not in entry or " " in entry)]
    if wrong:
        return f"expected {OFF}, * or patterns such as io.debezium:*; not {', '.join(wrong)}"
    return None
