"""Processes that this package starts do not have Airflow's keys in their environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import airflow_kconnect
from airflow_kconnect.machine.environment import child_environment
from airflow_kconnect.machine.java import java_environment

AIRFLOWS = {
    "AIRFLOW__CORE__FERNET_KEY": "f",
    "AIRFLOW__API_AUTH__JWT_SECRET": "j",
    "AIRFLOW_CONN_KAFKA_DEFAULT": "c",
    "AIRFLOW_VAR_TOKEN": "v",
    "_AIRFLOW_PROCESS_CONTEXT": "p",
    "__AIRFLOW_SUPERVISOR_FD": "3",
}
OTHERS = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "AIRFLOW_HOME": "/airflow", "DB_PASSWORD": "d"}

_STARTS = {"subprocess.Popen", "subprocess.run", "subprocess.check_output", "psutil.Popen"}
_MADE = ("java_environment", "child_environment", "submit_environment", "inherited_variables")
# Airflow itself, and the editor of the person at the terminal.
_MAY_HAVE_THEM = {"demo/airflow.py", "doctor/airflow.py", "cli/connectors/editing.py"}
# Where the environment comes from somewhere else, without Airflow's settings.
_GIVEN = {
    "submit/submit.py": "environment: submit_environment",
    "submit/previewing.py": "environment: java_environment",
    "runtime/process/early_workers.py": "own: the job's, which was started without them",
    "conformance/runs.py": "environment: submit_environment",
    "credentials/java_stores.py": "env: a few variables",
    "connectors/programs/leash.py": "that of the leash",
    "connectors/programs/running.py": "variables: inherited_variables",
}


@pytest.mark.parametrize("environment", [child_environment, java_environment])
def test_airflows_settings_are_left_out(environment: object) -> None:
    assert environment({**OTHERS, **AIRFLOWS}) == OTHERS  # type: ignore[operator]


def starts() -> Iterator[tuple[str, ast.Call]]:
    """Each call that starts a process, with its module."""
    package = Path(airflow_kconnect.__file__).parent
    for path in sorted(package.rglob("*.py")):
        text = path.read_text()
        if "subprocess" not in text and "psutil" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in _STARTS:
                yield path.relative_to(package).as_posix(), node


def test_every_process_is_started_with_an_environment_of_its_own() -> None:
    found = dict[str, list[str]]()
    for module, call in starts():
        given = next((ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "env"), "nothing")
        found.setdefault(module, []).append(given)
    bare = {
        module: given
        for module, given in found.items()
        if module not in _MAY_HAVE_THEM | _GIVEN.keys()
        and not all(any(f"{name}(" in text for name in _MADE) for text in given)
    }
    assert found and not bare
