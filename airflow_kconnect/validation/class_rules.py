"""Rules about the classes that a configuration names: their versions exist, and their values are full names."""

from __future__ import annotations

from airflow_kconnect.connect.config import Type
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation.inspection import Inspection
from airflow_kconnect.validation.plugin_classes import full_name, version_keys, version_of, version_problem
from airflow_kconnect.variables.syntax import has_reference


def check_versions(inspection: Inspection) -> None:
    """Add an error to each class and version of a configuration where the version does not exist."""
    for key, class_key, group in version_keys(inspection.framework):
        name, wanted = inspection.props.get(class_key), inspection.props.get(key)
        if name is None or wanted is None or has_reference(wanted) or not plugins.registry().knows(group, name):
            continue
        version = version_of(group, name)
        resolved = plugins.registry().resolve(group, name, key=class_key)
        if (problem := version_problem(resolved, version, wanted)) is not None:
            inspection.add(class_key, problem)
            inspection.add(key, problem)


def show_full_names(inspection: Inspection) -> None:
    """Let the value of each class be its full name, and null where the one given does not exist, as in Connect."""
    for key in inspection.definition.keys.values():
        value = inspection.values.get(key.name)
        if key.type is Type.CLASS and value and isinstance(value.value, str) and not has_reference(value.value):
            found = full_name(value.value)
            value.value = found if found or key.name in inspection.props else value.value
