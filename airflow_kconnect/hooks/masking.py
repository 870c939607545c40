"""Keeps secrets out of logs and rendered fields: by the name of a key, and by registering its value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airflow.providers.common.compat.sdk import mask_secret, redact

from airflow_kconnect.variables.secret_forms import secret_forms
from airflow_kconnect.variables.secret_keys import SECRET_KEYS, is_secret, is_secret_key, passwords_in

MASK = "***"

_NAMES = SECRET_KEYS.removeprefix("(?i)")
# What follows the name of a secret in running text. The quantifiers are bounded: a line may be megabytes long.
_ASSIGNMENT = re.compile(
    rf"((?:{_NAMES})[\w.-]{{0,80}}[\"']?\s{{0,3}}[=:]\s{{0,3}})(\"[^\"]*\"|'[^']*'|[^\s\"',;]+)", re.IGNORECASE
)
# A reference such as ${file:/run/secrets:password} names a secret but is not one.
_REFERENCE = re.compile(r"\s*\$\{[^}]*:[^}]*\}\s*")
_ADDRESS = re.compile(r"jdbc:[\w:+-]+://[\w.,:\[\]-]+(?:/[\w.-]*)?")
_JAAS_OPTION = re.compile(r"\w*(?:password|secret|token)\w*\s*=\s*\"((?:[^\"\\]|\\.)*)\"", re.IGNORECASE)


def register_secrets(config: Mapping[str, Any]) -> None:
    """Have Airflow mask the values of all secret keys of a configuration, wherever they appear in this task."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            register_secrets(value)
        elif isinstance(value, str) and is_secret(key, value) and not _REFERENCE.fullmatch(value):
            register_secret(value)
            for password in passwords_in(value):
                register_secret(password)


def register_secret(value: str) -> None:
    """Have Airflow mask a value wherever it appears in this task; Airflow leaves values of a few characters alone.

    A database's address without a login and parameters is not masked: errors name it, here as on the page.
    """
    if _ADDRESS.fullmatch(value):
        return
    for form in _forms(value):
        mask_secret(form)


def masked(text: str) -> str:
    """A text in which all registered values are masked, for output other than the log."""
    return str(redact(text))


def _forms(value: str) -> Iterator[str]:
    """The forms in which the value may appear elsewhere: escaped, in a URL, line by line, inside a JAAS entry."""
    yield from secret_forms(value)
    yield from _JAAS_OPTION.findall(value)


def mask_command(command: Sequence[str]) -> list[str]:
    """A command with its secret values masked: `--token x`, `--conf my.token=x`, `x:password=...`."""
    masked: list[str] = []
    for word in command:
        follows_option = bool(masked) and re.fullmatch(r"--[\w.-]+", masked[-1]) is not None
        if follows_option and is_secret_key(masked[-1]) and not word.startswith("--"):
            masked.append(MASK)
        else:
            masked.append(_mask_word(word))
    return masked


def _mask_word(word: str) -> str:
    key, equals, value = word.partition("=")
    # The pattern lists the names of secrets; the provider would mistake what follows it for a secret.
    if key == "spark.redaction.regex":
        return f"{key}=..."
    if equals and value and re.fullmatch(r"[\w.-]+", key) and is_secret_key(key):
        return f"{key}={MASK}"
    return mask_text(word)


def mask_text(text: str) -> str:
    """A line of text in which values assigned to secret keys are masked."""
    return _ASSIGNMENT.sub(rf"\1{MASK}", text)
