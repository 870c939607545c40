"""Reads a connector's configuration from YAML, if PyYAML is installed (it comes with Airflow)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from airflow_kconnect.validation.connector_file import flat_content, read_connector_file, wrong_file

YAML_SUFFIXES = (".yaml", ".yml")


def load_yaml_file(path: Path) -> dict[str, Any]:
    """The configuration in a YAML file, in the formats of `load_connector_file`; all values are kept as the text
    written.

    :raises ConfigError: keyed by the path: what is wrong. The text is never shown.
    """
    try:
        import yaml
    except ImportError:
        raise wrong_file(path, "is YAML, which needs PyYAML: pip install PyYAML, or write JSON") from None
    try:
        # This loader converts no words to other types: no dates, no `on` for true.
        node = yaml.compose(read_connector_file(path), Loader=yaml.BaseLoader)
        _refuse_repeated(path, node)
        content = None if node is None else yaml.BaseLoader("").construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        # A quoted part may be a value, such as a password that begins with an asterisk.
        problem = re.sub(r" '(?!<)[^']*'", "", getattr(error, "problem", None) or "malformed")
        raise wrong_file(path, f"is not YAML: {problem}{where}") from None
    return dict(flat_content(path, content))


def _refuse_repeated(path: Path, node: Any) -> None:
    pairs = node.value if getattr(node, "id", "") == "mapping" else []
    keys = [key.value for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise wrong_file(path, f"has the key `{key}` twice; which value counts is not defined, so remove one")
    for _, value in pairs:
        _refuse_repeated(path, value)
