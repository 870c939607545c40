"""SQL: what is said about expressions before there is a Spark."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.sql.text import split
from airflow_kconnect.transforms.sql.transformation import SQL


def _problem(key: str, expression: str) -> str:
    with pytest.raises(ConfigError) as caught:
        SQL({key: expression})
    (message,) = caught.value.errors[key]
    return message.removeprefix(f"Invalid value {expression} for configuration {key}: ")


@pytest.mark.parametrize(
    "expression",
    [
        "value.id",
        "value.*, upper(value.name) AS name",
        "struct(value.id AS id, concat(value.a, ', (') AS b)",
        "transform(value.xs, x -> x + 1)",
        r"""'it\'s' || r'\' || "(" || 'a''b'""",
        "value.`a)b` AS `c,d`",
        "value.user AS user, value.select AS version",
        "value.n - -1",
        "value:a.b[0]::int",
        "1e5 + 0xFF",
    ],
)
def test_good_expressions_pass(expression: str) -> None:
    assert SQL({"value": expression}).config_values["value"] == expression


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "Expression must not be empty"),
        ("'abc", "A quote is not closed"),
        ('concat("a, b)', "A quote is not closed"),
        ("value.`a", "A quote is not closed"),
        ("upper(value.name", "')' is missing"),
        ("value.xs[0)", "')' at character 11 closes nothing"),
        ("upper(value.name))", "')' at character 18 closes nothing"),
        ("value.a,, value.b", "The list has an empty item"),
        ("value.a,", "The list has an empty item"),
        ("value.a -- the rest", "Comments are not supported"),
        ("value.a /* the rest */", "Comments are not supported"),
        ("(SELECT 1)", "Subqueries are not supported"),
        ("value.a IN (select b from c)", "Subqueries are not supported"),
        ("reflect('java.lang.System', 'exit', 1)", "Function reflect is not allowed"),
        ("1 + `java_method`  ('a', 'b')", "Function java_method is not allowed"),
        ("Try_Reflect('a', 'b')", "Function try_reflect is not allowed"),
        ("input_file_name()", "Function input_file_name is not allowed"),
        ("concat(current_user(), 'x')", "Function current_user is not allowed"),
        ("from_avro(value.a, value.b)", "Function from_avro is not allowed"),
    ],
)
def test_bad_expressions_are_found_without_spark(expression: str, message: str) -> None:
    assert _problem("value", expression) == message


@pytest.mark.parametrize("key", ["topic", "timestamp", "where"])
def test_these_keys_take_one_expression(key: str) -> None:
    assert _problem(key, "value.a, value.b") == "Expected one expression, found a list"


def test_a_configuration_without_expressions_is_wrong() -> None:
    assert SQL.validate({"type": "SQL"}).keys() == {"value"}
    assert SQL.validate({"type": "SQL", "where": "true"}) == {}


@pytest.mark.parametrize(
    ("expression", "items"),
    [
        ("value.a", ["value.a"]),
        (" value.a , f(1, [2, 3]) AS b ", ["value.a", "f(1, [2, 3]) AS b"]),
        ("',', `,`", ["','", "`,`"]),
    ],
)
def test_lists_are_split_at_commas_that_separate_items(expression: str, items: list[str]) -> None:
    assert split(expression) == items


@pytest.mark.parametrize(
    ("config", "needs"),
    [
        ({"value": "value.id"}, set()),
        ({"value": "value.id", "where": "key IS NOT NULL"}, {"key"}),
        ({"topic": "concat(`headers`['a'], date_format(timestamp, 'yyyy'))"}, {"headers", "timestamp"}),
    ],
)
def test_needs_what_expressions_name(config: dict[str, str], needs: set[str]) -> None:
    assert SQL(config).needs == needs
