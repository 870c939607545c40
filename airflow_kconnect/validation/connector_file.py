"""Reads a connector's configuration from a file, in the three formats of connect-standalone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from airflow_kconnect.connect.config import coerce, properties
from airflow_kconnect.connect.errors import ConfigError

_MEMBERS = {"name", "config", "initial_state"}

Value = TypeVar("Value")


def load_connector_file(path: str | Path) -> dict[str, str]:
    """The configuration in a file: `{"name": ..., "config": {...}}`, a plain JSON map, or Java .properties.

    A file is .properties if its name ends so, or if the name does not end in .json and the text does not begin with `{`
    or `[`.

    :raises ConfigError: keyed by the path, or by the keys whose values are not text; the text is never shown.
    """
    path = Path(path)
    text = read_connector_file(path)
    try:
        if _is_json(path, text):
            return _from_json(path, text)
        return _unique(path, properties.pairs(text))
    except ConfigError as error:
        if "properties" in error.errors:
            raise ConfigError({str(path): error.errors["properties"]}) from None
        raise


def read_connector_file(path: Path) -> str:
    """The text of a file.

    :raises ConfigError: it cannot be read, or is not UTF-8.
    """
    if path.is_dir():
        raise wrong_file(path, "is a directory; name the file of one connector")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise wrong_file(path, "does not exist") from None
    except UnicodeDecodeError as error:
        raise wrong_file(path, f"is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise wrong_file(path, f"cannot be read: {error.strerror}") from None
    if text.startswith("\ufeff"):
        raise wrong_file(path, "begins with a byte order mark (BOM); save it as UTF-8 without BOM")
    return text


def _is_json(path: Path, text: str) -> bool:
    if path.suffix == ".properties":
        return False
    return path.suffix == ".json" or text.lstrip().startswith(("{", "["))


def _from_json(path: Path, text: str) -> dict[str, str]:
    try:
        content = json.loads(text, object_pairs_hook=lambda pairs: _unique(path, pairs))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise wrong_file(path, f"is not JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise wrong_file(path, "is not a connector configuration: it is nested too deeply") from None
    return flat_content(path, content)


def flat_content(path: Path, content: object) -> dict[str, str]:
    """The configuration in a parsed file: `{"name": ..., "config": {...}}`, or a plain map.

    :raises ConfigError: it is neither, or has values that are not text.
    """
    if not isinstance(content, dict):
        raise wrong_file(path, "is not a map of configuration keys to values")
    if isinstance(content.get("config"), dict):
        content = _with_name(path, content)
    return _as_text(content)


def _with_name(path: Path, content: dict[str, Any]) -> dict[str, Any]:
    """The map inside `{"name": ..., "config": {...}}`; both names must agree."""
    if unknown := sorted(set(content) - _MEMBERS):
        raise wrong_file(path, f"has unknown members next to `config`: {', '.join(unknown)}")
    # A file starts a run now; any other state applies to a registered connector.
    if content.get("initial_state", "RUNNING") != "RUNNING":
        raise wrong_file(
            path, "sets `initial_state` to another value than RUNNING, which is not supported in a file; remove it"
        )
    config: dict[str, Any] = content["config"]
    if "name" not in content:
        return config
    if config.get("name", content["name"]) != content["name"]:
        raise wrong_file(path, "has different values of `name` inside and outside `config`; remove one")
    return {**config, "name": content["name"]}


def _as_text(content: Mapping[str, Any]) -> dict[str, str]:
    texts: dict[str, str] = {}
    errors: dict[str, list[str]] = {}
    for key, value in content.items():
        try:
            texts[key] = coerce(value)
        except ValueError as error:
            errors[key] = [str(error)]
    if errors:
        raise ConfigError(errors)
    return texts


def _unique(path: Path, pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for key, value in pairs:
        if key in result:
            raise wrong_file(path, f"has the key `{key}` twice; it is undefined which value is used, so remove one")
        result[key] = value
    return result


def wrong_file(path: Path, message: str) -> ConfigError:
    """The error for a file with a configuration."""
    return ConfigError({str(path): [f"the file {message}"]})
