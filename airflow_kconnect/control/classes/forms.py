"""What a form needs to know that Connect's API does not say: which class to take, which keys matter, their choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import ConfigKey, Importance
from airflow_kconnect.control.classes.java_catalogue import java_list
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation.inspection import Inspection

_OF_JAVA = "A Java class, which runs as in a Connect worker."


def connector_classes(worker: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The connector classes to choose from, those that are recommended first.

    Each has `class`, `type` and `version`, a `summary` of one sentence, whether it is `recommended`, and `others`:
    names that stand for the same class.

    :param worker: variables not resolved; its `plugin.path` has the Java plug-ins.
    """
    registry = plugins.registry()
    found: dict[type[Any], dict[str, Any]] = {}
    for info in registry.connectors():
        if info.error is not None:
            continue
        connector = registry.connector(info.name)
        if connector in found:
            _add_name(found[connector], info.name)
            continue
        found[connector] = {
            "class": info.name,
            "type": info.kind,
            "version": info.version or "undefined",
            "summary": connector.summary,
            "recommended": connector.recommended,
            "others": [],
        }
    own = sorted(found.values(), key=lambda each: (not each["recommended"], each["class"]))
    of_java = java_list(worker, connectors_only=True)
    return own + [{**each, "summary": _OF_JAVA, "recommended": False, "others": []} for each in of_java]


def _add_name(entry: dict[str, Any], name: str) -> None:
    """The first name is that of Connect's or another one's class: with it a configuration runs there, too."""
    names = [entry["class"], *entry["others"], name]
    entry["class"], *entry["others"] = sorted(names, key=lambda each: (each.startswith("airflow_kconnect."), each))


def with_form(answer: dict[str, Any], inspection: Inspection) -> dict[str, Any]:
    """A `ConfigInfos` whose entries have a member `form`, too: null for keys that are not defined here.

    It has `choices`, an `example`, `main` (whether the key is shown at once), `order` (among those; null: as defined)
    and `ignored` (whether the key has no effect).
    """
    for entry in answer["configs"]:
        name = (entry["definition"] or entry["value"])["name"]
        key = inspection.definition.keys.get(name)
        entry["form"] = None if key is None else _form_of(key, inspection)
    return answer


def _form_of(key: ConfigKey, inspection: Inspection) -> dict[str, Any]:
    plugin = inspection.plugin
    first = plugin.first_keys if plugin and key.name in inspection.own.keys else ()
    return {
        "choices": list(key.choices),
        "example": key.example,
        "main": key.required or (key.name in first if first else key.importance is Importance.HIGH),
        "order": first.index(key.name) if key.name in first else None,
        "ignored": bool(key.without_effect),
    }
