"""Parameters of functions as configuration keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest

from airflow_kconnect.connect.config import NO_DEFAULT, ConfigDef, Password, Range, Type
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.functions.parameters import arguments, define, documented, parameters_of, summary_of


def orders(
    url: str,
    token: Password,
    pages: Annotated[int, Range.at_least(1), "How many pages at most."] = 10,
    size: Literal["small", "large"] = "small",
    tenants: list[str] | None = None,
    headers: dict[str, str] | None = None,
    quick: bool = False,
    cursor: int | None = None,
) -> None:
    """Orders of a shop,
    newest last.

    :param url: of the shop,
        with its port.
    :param tenants: only these.
    """


def pages_of(url: str, size: int = 5) -> None:
    """Pages.

    Args:
        url: Of the site.
        size (int): How many
            at once.
    """


PARAMETERS = parameters_of(orders, ("cursor",))
GIVEN = {"url": "http://a", "token": "x"}


def parsed(**more: str) -> dict[str, Any]:
    return arguments(PARAMETERS, define(ConfigDef(), PARAMETERS).parse({**GIVEN, **more}))


@pytest.mark.parametrize(
    ("name", "type_", "default"),
    [
        ("url", Type.STRING, NO_DEFAULT),
        ("token", Type.PASSWORD, NO_DEFAULT),
        ("pages", Type.LONG, 10),
        ("size", Type.STRING, "small"),
        ("tenants", Type.LIST, None),
        ("headers", Type.STRING, None),
        ("quick", Type.BOOLEAN, False),
    ],
)
def test_a_parameter_is_a_key(name: str, type_: Type, default: Any) -> None:
    key = define(ConfigDef(), PARAMETERS).keys[name]
    assert (key.type, key.default) == (type_, default)


def test_what_the_engine_gives_is_not() -> None:
    assert "cursor" not in [parameter.name for parameter in PARAMETERS]


def test_arguments_have_their_types() -> None:
    found = parsed(pages="3", tenants="a,b", headers='{"a": "b"}', quick="true")
    wanted = {"pages": 3, "tenants": ["a", "b"], "headers": {"a": "b"}, "quick": True}
    assert {name: found[name] for name in wanted} == wanted


def test_a_secret_is_not_shown() -> None:
    assert "x" not in str(parsed()["token"])


@pytest.mark.parametrize("wrong", [{"pages": "0"}, {"size": "huge"}, {"headers": "{"}, {"quick": "maybe"}], ids=str)
def test_a_wrong_value_is_an_error_of_its_key(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as error:
        parsed(**wrong)
    assert list(error.value.errors) == list(wrong)


@pytest.mark.parametrize(
    ("function", "texts"),
    [
        (orders, {"url": "of the shop, with its port.", "tenants": "only these."}),
        (pages_of, {"url": "Of the site.", "size": "How many at once."}),
    ],
    ids=["fields", "arguments"],
)
def test_docstrings_document_keys(function: Callable[..., Any], texts: dict[str, str]) -> None:
    assert documented(function) == texts


def test_so_do_annotations() -> None:
    assert next(each for each in PARAMETERS if each.name == "pages").documentation == "How many pages at most."


def test_the_summary_is_the_first_paragraph() -> None:
    assert summary_of(orders) == "Orders of a shop, newest last."


def takes_name(name: str) -> None: ...


def takes_any(*args: str) -> None: ...


def takes_unknown(url: Unknown) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (takes_name, "`name` is a key of all connectors"),
        (takes_any, "cannot be a key"),
        (takes_unknown, "its annotations cannot be evaluated"),
    ],
)
def test_a_parameter_that_cannot_be_a_key_is_an_error(function: Callable[..., Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        parameters_of(function, ())
