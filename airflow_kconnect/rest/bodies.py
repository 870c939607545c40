"""Bodies of requests: JSON of the expected form, or 400 with what is wrong and where."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from airflow_kconnect.connect.config.validators import java_text
from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.stores.target_states import TargetState

# A configuration must fit into a record of the config topic, which has at most 1 MB by Kafka's default.
MAX_BYTES = 1_000_000
_PATIENCE_S = 20.0
_STATES = {"RUNNING": TargetState.STARTED, "PAUSED": TargetState.PAUSED, "STOPPED": TargetState.STOPPED}

M = TypeVar("M", bound=BaseModel)

Texts = dict[str, str | int | float | bool | None]


class CreateConnector(BaseModel):
    """Connect's `CreateConnectorRequest`."""

    model_config = ConfigDict(extra="forbid")

    name: str = ""
    config: Texts
    initial_state: str | None = None

    @field_validator("name", mode="before")
    @classmethod
    def _trimmed(cls, name: Any) -> Any:
        return "" if name is None else java_text(name).strip() if isinstance(name, str | int | float) else name

    @field_validator("initial_state")
    @classmethod
    def _known(cls, state: str | None) -> str | None:
        if state is not None and state.upper() not in _STATES:
            raise ValueError(f"{state} is not one of {', '.join(_STATES)}")
        return state

    @property
    def target_state(self) -> TargetState | None:
        """The target state that is asked for, if one is."""
        return None if self.initial_state is None else _STATES[self.initial_state.upper()]


async def _json(request: Request) -> Any:
    """The parsed body; None if it is empty."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", ""):
        raise RestError(415, "HTTP 415 Unsupported Media Type")
    try:
        body = await asyncio.wait_for(_read(request), _PATIENCE_S)
    except TimeoutError:
        raise RestError(408, f"The body was not complete after {_PATIENCE_S:.0f} s") from None
    if not body.strip():
        return None
    if not kind:
        raise RestError(415, "HTTP 415 Unsupported Media Type")
    try:
        return json.loads(body, parse_constant=_no_constant, object_pairs_hook=_distinct)
    except _DuplicateKeyError as error:
        raise RestError(400, f"The body has the key {error} twice in one object") from None
    except json.JSONDecodeError as error:
        text = f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise RestError(400, text) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise RestError(400, f"The body is not JSON: {type(error).__name__}") from None


async def _read(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise RestError(413, f"The body is larger than {MAX_BYTES} bytes")
    return bytes(body)


class _DuplicateKeyError(Exception):
    """An object has a key twice: which of the values was meant?"""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _DuplicateKeyError(repr(counts.most_common(1)[0][0]))
    return members


def _no_constant(name: str) -> Any:
    raise ValueError(name)


JsonBody = Annotated[Any, Depends(_json)]
"""The parsed body of a request."""


def create_request(body: Any) -> CreateConnector:
    """The body of `POST /connectors`. :raises RestError: 400 with all that is wrong."""
    return validated(CreateConnector, body)


def validated(model: type[M], body: Any) -> M:
    """A body as a model. :raises RestError: 400 with all that is wrong."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise RestError(400, _problems(error)) from None


def config_request(body: Any, *, nulls: bool = False) -> dict[str, Any]:
    """A body that is a configuration: a flat JSON object.

    :param nulls: null is allowed: in a patch it removes a key, validation reports it.
    :raises RestError: 400 if it is something else.
    """
    if not isinstance(body, Mapping):
        raise RestError(400, f"A configuration is a JSON object, not {_kind(body)}")
    refused = dict | list if nulls else dict | list | None
    wrong = sorted(key for key, value in body.items() if isinstance(value, refused))
    if wrong:
        raise RestError(400, f"Values of a configuration are texts; these keys have another: {', '.join(wrong)}")
    return dict(body)


def _problems(error: ValidationError) -> str:
    texts = []
    for problem in error.errors(include_input=False, include_url=False):
        place = ".".join(map(str, problem["loc"])) or "the body"
        texts.append(f"{place}: {problem['msg'].removeprefix('Value error, ')}")
    return "The request is not valid: " + "; ".join(dict.fromkeys(texts))


def _kind(body: Any) -> str:
    if body is None:
        return "an empty body"
    return "a list" if isinstance(body, list) else f"a {type(body).__name__}"
