"""What Airflow learns about the package: complete, valid, the same in both places, and light to import."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution, entry_points
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from airflow_kconnect.provider_info import get_provider_info
from tests.support.airflow.home import use_own_airflow_home
from tests.support.airflow.versions import needs_airflow_3_2

use_own_airflow_home()

REPOSITORY = Path(__file__).parents[2]
# What releases need and Airflow does not.
_ONLY_IN_YAML = ("versions", "state", "lifecycle", "build-system", "source-date-epoch")
_KINDS = ("operators", "hooks", "sensors", "triggers")
_BASES = {
    f"airflow_kconnect.{name}"
    for name in ("operators.base", "operators.jobs", "operators.reporting", "operators.tracking", "sensors.base")
}
_HEAVY = ("pyspark", "confluent_kafka", "pyarrow", "pandas", "numpy")


@pytest.fixture(scope="session")
def provider_yaml() -> dict[str, Any]:
    described: dict[str, Any] = yaml.safe_load((REPOSITORY / "provider.yaml").read_text(encoding="utf-8"))
    return described


def _schema(name: str) -> Any:
    import airflow

    return json.loads((Path(airflow.__file__).parent / name).read_text(encoding="utf-8"))


def _listed(kind: str) -> list[str]:
    return [module for entry in get_provider_info().get(kind, []) for module in entry["python-modules"]]


def _modules_with_classes(kind: str) -> set[str]:
    """Modules of a folder that define a class which Airflow's users name; `_BASES` are for subclasses."""
    suffix = kind.removesuffix("s").capitalize()
    return {
        f"airflow_kconnect.{kind}.{path.stem}"
        for path in (REPOSITORY / "airflow_kconnect" / kind).glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and re.fullmatch(rf"[A-Z]\w*{suffix}", node.name)
    } - _BASES


class TestProviderInfo:
    def test_is_valid_by_airflows_schema(self) -> None:
        jsonschema.validate(get_provider_info(), _schema("provider_info.schema.json"))

    def test_is_what_provider_yaml_says(self, provider_yaml: dict[str, Any]) -> None:
        shared = {key: value for key, value in provider_yaml.items() if key not in _ONLY_IN_YAML}

        assert get_provider_info() == shared

    def test_is_found_by_its_entry_point(self) -> None:
        points = [
            point
            for point in entry_points(group="apache_airflow_provider")
            if point.value.startswith("airflow_kconnect")
        ]

        assert [point.load() for point in points] == [get_provider_info]
        assert points[0].dist is not None
        assert points[0].dist.name == get_provider_info()["package-name"]

    @pytest.mark.parametrize("kind", _KINDS)
    def test_lists_the_modules_with_public_classes(self, kind: str) -> None:
        assert _modules_with_classes(kind) == set(_listed(kind))

    @pytest.mark.parametrize("module", [module for kind in _KINDS for module in _listed(kind)])
    def test_all_modules_can_be_imported(self, module: str) -> None:
        assert import_module(module).__doc__

    @pytest.mark.parametrize("path", get_provider_info()["extra-links"])
    def test_links_are_there(self, path: str) -> None:
        module, _, name = path.rpartition(".")

        assert inspect.isclass(getattr(import_module(module), name))


class TestProviderYaml:
    @needs_airflow_3_2  # the schema of 3.1 does not know `conn-fields`
    def test_is_valid_by_airflows_schema(self, provider_yaml: dict[str, Any]) -> None:
        jsonschema.validate(provider_yaml, _schema("provider.yaml.schema.json"))

    def test_the_newest_version_is_that_of_the_package(self, provider_yaml: dict[str, Any]) -> None:
        assert provider_yaml["versions"][0] == distribution("airflow-kconnect").version

    def test_guides_exist(self, provider_yaml: dict[str, Any]) -> None:
        guides = [guide for entry in provider_yaml["integrations"] for guide in entry["how-to-guide"]]

        assert [guide for guide in guides if not (REPOSITORY / guide.lstrip("/")).is_file()] == []


def test_the_package_says_that_it_is_a_provider() -> None:
    classifiers = distribution("airflow-kconnect").metadata.get_all("Classifier") or []

    assert {"Framework :: Apache Airflow", "Framework :: Apache Airflow :: Provider"} <= set(classifiers)


class TestConnectionForm:
    @pytest.fixture(scope="class")
    def manager(self) -> Any:
        from airflow.providers_manager import ProvidersManager

        return ProvidersManager()  # type: ignore[no-untyped-call]

    def test_the_type_is_offered_and_can_be_tested(self, manager: Any) -> None:
        hook = manager.hooks["kconnect"]

        assert (hook.connection_id_attribute_name, hook.connection_testable) == ("kafka_conn_id", True)

    @needs_airflow_3_2
    def test_fields_are_labelled(self, manager: Any) -> None:
        manager.initialize_providers_hooks()

        assert manager.field_behaviours["kconnect"]["relabeling"]["host"] == "Bootstrap servers"

    @needs_airflow_3_2
    def test_secrets_are_sensitive(self, manager: Any) -> None:
        widgets = manager.connection_form_widgets
        sensitive = {
            widget.field_name
            for widget in widgets.values()
            if widget.is_sensitive and "kconnect" in widget.hook_class_name
        }

        assert sensitive == {"ssl_private_key", "ssl_key_password", "schema_registry_password"}


def test_no_module_of_a_dag_file_or_of_a_triggerer_loads_data_libraries() -> None:
    modules = [module for kind in _KINDS for module in _listed(kind)]
    code = (
        "import sys\nfrom importlib import import_module\nimport airflow.sdk\n"
        f"for module in {modules!r}:\n"
        "    import_module(module)\n"
        f"    heavy = sorted(set({_HEAVY!r}) & set(sys.modules))\n"
        "    assert not heavy, f'{module} loads {heavy}'\n"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr[-2000:]
