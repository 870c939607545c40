"""Secrets in configurations that are shown: hidden on the way out, kept on the way back in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_kconnect.validation.hidden import HIDDEN, shown
from airflow_kconnect.variables.secret_forms import secret_forms

__all__ = ["HIDDEN", "hider", "restored", "shown", "still_hidden"]


def restored(config: Mapping[str, str], registered: Mapping[str, str]) -> dict[str, str]:
    """A submitted configuration in which `[hidden]` is replaced by what is registered under the same key."""
    return {key: registered.get(key, value) if value == HIDDEN else value for key, value in config.items()}


def still_hidden(config: Mapping[str, str]) -> dict[str, list[str]]:
    """Errors, by key, of values that are `[hidden]` although nothing is registered that they could stand for."""
    text = f"is {HIDDEN}, and no value is registered that it could stand for: give the value, or a variable"
    return {key: [f"{key} {text}"] for key, value in config.items() if value == HIDDEN}


def hider(complete: Mapping[str, Any], submitted: Mapping[str, Any]) -> Callable[[str], str]:
    """What replaces, in a text, the secrets by which `[hidden]` was replaced in a submitted configuration."""
    kept = {str(complete[key]) for key, value in submitted.items() if value == HIDDEN} - {HIDDEN, ""}
    forms = sorted({form for value in kept for form in (value, *secret_forms(value))}, key=len, reverse=True)

    def hide(text: str) -> str:
        for form in forms:
            text = text.replace(form, HIDDEN)
        return text

    return hide
