"""A test of what a connector connects to, for a form: of the connection alone, then of the whole configuration."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.variables.resolver import ConfigResolver
from airflow_kconnect.variables.secret_forms import in_texts
from airflow_kconnect.worker_config.keys import WorkerConfig

# A transformation could show the value of a variable in disguise.
_UNRESOLVED = ("transforms", "predicates")
_LOOKING_S = 5.0


def checked(config: Mapping[str, str], worker: Mapping[str, Any], variables: dict[str, str] | None) -> dict[str, Any]:
    """Connect as a run would, and move nothing.

    :param config: maybe not complete, variables not resolved. :param variables: see `RunSpec`.
    :returns: `errors` by key; a `problem` of none of the keys, or null; `choices`: by key;
        `complete`: whether the whole configuration was checked. Values of variables are not shown.
    """
    answer: dict[str, Any] = {"errors": {}, "problem": None, "choices": {}, "complete": False}
    hide: Callable[[str], str] = str
    try:
        resolver = ConfigResolver.from_worker(worker, variables)
        hide = resolver.hide
        _check(config, worker, resolver, answer)
    except ConfigError as error:
        answer["errors"] = error.errors
    except ConnectError as error:
        answer["problem"] = str(error)
    hidden: dict[str, Any] = in_texts(hide, answer)
    return hidden


def _check(
    config: Mapping[str, str], worker: Mapping[str, Any], resolver: ConfigResolver, answer: dict[str, Any]
) -> None:
    known = WorkerConfig.from_props(resolver.resolve(worker))
    chains = {key: text for key, text in config.items() if key.startswith(_UNRESOLVED)}
    props, _ = texts_of({**resolver.resolve({k: v for k, v in config.items() if k not in chains}), **chains})
    plugin = registry().connector(props.get("connector.class", ""))
    part = plugin.connection_only(props)
    if part is None:
        raise ConfigError({"connector.class": ["connections of this class are tested by its runs only"]})
    answer["choices"] = plugin(validate_connector(part, worker=known).props).offered(_LOOKING_S)
    try:
        validated = validate_connector(props, worker=known)
    except ConfigError:
        return  # the form shows what is missing
    plugin(validated.props).check()
    answer["complete"] = True


def main() -> int:
    """``python -m airflow_kconnect.runtime.checking``: parameters as JSON on standard input; the answer is JSON."""
    sys.stdout.write(json.dumps(checked(**json.load(sys.stdin))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
