"""ConfigDef: parsing, validation, embedding and the REST description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.config import (
    NULL_VALUE,
    ConfigDef,
    ConfigKey,
    Importance,
    LambdaValidator,
    NonEmptyString,
    NonEmptyStringWithoutControlChars,
    Password,
    Range,
    Regex,
    Type,
    Validator,
    ValidList,
    ValidString,
    Width,
    all_of,
    coerce,
    describe,
    java_pattern,
    java_trim,
    nullable,
)
from airflow_kconnect.connect.errors import ConfigError


def errors_of(definition: ConfigDef, props: Mapping[str, Any]) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        definition.parse(props)
    return caught.value.errors


def parsed(type_: Type, value: Any) -> Any:
    return ConfigDef().define("k", type_).parse({"k": value})["k"]


class TestParse:
    @pytest.mark.parametrize(
        ("type_", "text", "expected"),
        [
            (Type.BOOLEAN, " True ", True),
            (Type.BOOLEAN, "fAlSe", False),
            (Type.STRING, "\t a b \n", "a b"),
            (Type.STRING, "", ""),
            (Type.INT, "+5", 5),
            (Type.INT, "-2147483648", -(2**31)),
            (Type.INT, "0" * 30 + "7", 7),
            (Type.SHORT, "32767", 32767),
            (Type.LONG, "9223372036854775807", 2**63 - 1),
            (Type.DOUBLE, "1e3", 1000.0),
            (Type.DOUBLE, "-.5f", -0.5),
            (Type.DOUBLE, "Infinity", float("inf")),
            (Type.LIST, " a ,b\t, c", ["a", "b", "c"]),
            (Type.LIST, "a,,b", ["a", "", "b"]),
            (Type.LIST, "", []),
            (Type.CLASS, " org.X ", "org.X"),
            (Type.PASSWORD, " s3cret ", Password("s3cret")),
        ],
    )
    def test_text_becomes_a_value(self, type_: Type, text: str, expected: object) -> None:
        assert parsed(type_, text) == expected

    @pytest.mark.parametrize(
        ("type_", "text", "message"),
        [
            (Type.BOOLEAN, "yes", "Expected value to be either true or false"),
            (Type.BOOLEAN, "", "Expected value to be either true or false"),
            (Type.INT, "2147483648", "Not a number of type INT"),
            (Type.INT, "1_0", "Not a number of type INT"),
            (Type.INT, "1.0", "Not a number of type INT"),
            (Type.INT, "", "Not a number of type INT"),
            (Type.SHORT, "-32769", "Not a number of type SHORT"),
            (Type.LONG, "9" * 5000, "Not a number of type LONG"),
            (Type.DOUBLE, "1,5", "Not a number of type DOUBLE"),
            (Type.DOUBLE, "nan", "Not a number of type DOUBLE"),
        ],
    )
    def test_wrong_text_has_connects_error(self, type_: Type, text: str, message: str) -> None:
        errors = errors_of(ConfigDef().define("k", type_), {"k": text})
        assert errors == {"k": [f"Invalid value {text} for configuration k: {message}"]}

    def test_missing_required_key(self) -> None:
        errors = errors_of(ConfigDef().define("k", Type.STRING), {})
        assert errors == {"k": ['Missing required configuration "k" which has no default value.']}

    def test_default_stands_for_a_missing_key(self) -> None:
        assert ConfigDef().define("k", Type.INT, "7").parse({}) == {"k": 7}

    def test_null_default_stays_null(self) -> None:
        assert ConfigDef().define("k", Type.INT, None).parse({}) == {"k": None}

    def test_unknown_keys_are_left_out(self) -> None:
        assert ConfigDef().parse({"x": "1"}) == {}

    def test_all_errors_come_together(self) -> None:
        definition = ConfigDef().define("a", Type.INT).define("b", Type.STRING).define("c", Type.BOOLEAN)
        assert set(errors_of(definition, {"a": "x", "c": "x"})) == {"a", "b", "c"}

    def test_unparsable_value_is_one_error(self) -> None:
        definition = ConfigDef().define("k", Type.INT, validator=Range.at_least(1))
        assert len(errors_of(definition, {"k": "x"})["k"]) == 1

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (None, NULL_VALUE),
            ({"a": 1}, "Expected a string, a number or a boolean, but found an object."),
            (["a"], "Expected a string, a number or a boolean, but found a list."),
        ],
    )
    def test_value_that_is_not_text_is_refused(self, value: object, message: str) -> None:
        assert errors_of(ConfigDef().define("k", Type.LIST), {"k": value}) == {"k": [message]}

    @pytest.mark.parametrize(("value", "text"), [(1, "1"), (True, "true"), (False, "false"), (1.5, "1.5")])
    def test_scalars_of_json_become_text(self, value: object, text: str) -> None:
        assert coerce(value) == text

    @pytest.mark.parametrize("value", [{"s3cret": 1}, ["s3cret"], None])
    def test_error_of_a_password_does_not_show_it(self, value: object) -> None:
        assert "s3cret" not in str(errors_of(ConfigDef().define("k", Type.PASSWORD), {"k": value}))

    def test_validator_of_a_password_does_not_show_it(self) -> None:
        refuse = LambdaValidator(lambda name, value: "too short")
        errors = errors_of(ConfigDef().define("k", Type.PASSWORD, validator=refuse), {"k": "s3cret"})
        assert errors == {"k": ["Invalid value [hidden] for configuration k: too short"]}

    @pytest.mark.parametrize("show", [str, repr])
    def test_password_is_not_printed(self, show: Any) -> None:
        assert show(Password("s3cret")) == "[hidden]"

    def test_java_trim_keeps_unicode_blanks(self) -> None:
        assert java_trim("\x00\t a\u00a0") == "a\u00a0"

    @given(st.integers(-(2**63), 2**63 - 1))
    def test_every_long_is_parsed(self, number: int) -> None:
        assert parsed(Type.LONG, str(number)) == number


class TestValidators:
    @pytest.mark.parametrize(
        ("validator", "value"),
        [
            (Range.at_least(1), 1),
            (Range.between(1, 3), 3),
            (ValidString.in_("a", "b"), "b"),
            (ValidString.in_case_insensitive("a", "b"), "B"),
            (NonEmptyString(), None),
            (NonEmptyStringWithoutControlChars(), None),
            (NonEmptyStringWithoutControlChars(), "a b é"),
            (NonEmptyStringWithoutControlChars(), "名前/2" + "n" * 245),
            (ValidList(), []),
            (ValidList(null_allowed=True), None),
            (ValidList.in_("a", "b"), ["b", "a"]),
            (Regex(), r"(?<a>x)\k<a>"),
            (Regex(), None),
            (Regex(), ["a.*", "b"]),
            (nullable(Range.at_least(1)), None),
            (LambdaValidator(lambda name, value: None), "x"),
            (all_of(), "x"),
        ],
    )
    def test_accepts(self, validator: Validator, value: object) -> None:
        validator("k", value)

    @pytest.mark.parametrize(
        ("validator", "value", "message"),
        [
            (Range.at_least(1), 0, "Invalid value 0 for configuration k: Value must be at least 1"),
            (Range.at_least(1), None, "Invalid value null for configuration k: Value must be non-null"),
            (Range.between(1, 3), 4, "Invalid value 4 for configuration k: Value must be no more than 3"),
            (
                ValidString.in_("none", "all"),
                "some",
                "Invalid value some for configuration k: String must be one of: none, all",
            ),
            (
                ValidString.in_("a"),
                None,
                "Invalid value null for configuration k: String must be one of: a",
            ),
            (
                ValidString.in_case_insensitive("a", "b"),
                "c",
                "Invalid value c for configuration k: String must be one of (case insensitive): A, B",
            ),
            (NonEmptyString(), "", "Invalid value  for configuration k: String must be non-empty"),
            (
                NonEmptyStringWithoutControlChars(),
                "",
                "Invalid value  for configuration k: String may not be empty",
            ),
            (
                NonEmptyStringWithoutControlChars(),
                "a\x01b\x7f",
                "Invalid value a\x01b\x7f for configuration k: String may not contain control sequences but "
                "had the following ASCII chars: 1, 127",
            ),
            (
                NonEmptyStringWithoutControlChars(),
                "a\u202eb\u2028",
                r"Invalid value a\u202eb\u2028 for configuration k: String may not contain invisible characters but "
                "had U+202E, U+2028",
            ),
            (
                NonEmptyStringWithoutControlChars(),
                "n" * 250,
                f"Invalid value {'n' * 30}... for configuration k: String may not have more than 249 characters, and "
                "has 250",
            ),
            (ValidList(), None, "Configuration 'k' values must not be null."),
            (ValidList(), ["a", "a"], "Configuration 'k' values must not be duplicated."),
            (ValidList(), ["a", ""], "Configuration 'k' values must not be empty."),
            (
                ValidList(empty_allowed=False),
                [],
                "Configuration 'k' must not be empty. Valid values include: any non-empty value",
            ),
            (ValidList.in_("a"), ["b"], "Invalid value b for configuration k: String must be one of: a"),
            (
                LambdaValidator(lambda name, value: "no"),
                ["x", True],
                "Invalid value [x, true] for configuration k: no",
            ),
        ],
    )
    def test_refuses(self, validator: Validator, value: object, message: str) -> None:
        with pytest.raises(ConfigError) as caught:
            validator("k", value)
        assert caught.value.errors == {"k": [message]}

    def test_regex_that_does_not_compile(self) -> None:
        with pytest.raises(ConfigError, match=r"Invalid value a\( for configuration k: Invalid regex"):
            Regex()("k", "a(")

    @pytest.mark.parametrize("pattern", [r"(?<year>\d+)-\k<year>", r"(?<=a|b)\d+-\d+|\d+-\d+"])
    def test_java_pattern_is_understood(self, pattern: str) -> None:
        assert java_pattern(pattern).fullmatch("20-20")

    def test_first_of_several_decides(self) -> None:
        with pytest.raises(ConfigError, match="first"):
            all_of(LambdaValidator(lambda name, value: "first"), LambdaValidator(lambda name, value: "second"))("k", 1)


class TestDefine:
    def test_twice_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="Configuration k is defined twice"):
            ConfigDef().define("k", Type.INT).define("k", Type.INT)

    def test_wrong_default_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="Value must be at least 1"):
            ConfigDef().define("k", Type.INT, 0, validator=Range.at_least(1))

    def test_copy_does_not_change_the_base(self) -> None:
        base = ConfigDef().define("a", Type.INT)
        ConfigDef(base).define("b", Type.INT)
        assert list(base.keys) == ["a"]

    def test_extended_by_another_definition_whose_keys_win(self) -> None:
        one = ConfigDef().define("a", Type.INT, 1).define("b", Type.INT, 1)
        assert one.extend(ConfigDef().define("b", Type.INT, 2)).parse({}) == {"a": 1, "b": 2}

    def test_groups_are_in_order_of_appearance(self) -> None:
        definition = ConfigDef()
        for name, group in (("a", "Z"), ("b", None), ("c", "Y"), ("d", "Z")):
            definition.define(name, Type.INT, group=group)
        assert definition.groups == ["Z", "Y"]


class Recommended:
    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        return [name, *sorted(parsed)]

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        return False


class TestEmbed:
    child = (
        ConfigDef()
        .define("low", Type.INT, 1, Importance.LOW)
        .define("b", Type.INT, 1, Importance.HIGH)
        .define("a", Type.INT, 1, Importance.HIGH, recommender=Recommended())
        .define("required", Type.LIST, importance=Importance.LOW, validator=ValidList(), dependents=["a"])
        .define("grouped", Type.INT, 1, group="G")
    )

    def embedded(self) -> ConfigDef:
        return ConfigDef().embed("p.x.", "P: x", self.child, starting_order=2)

    def test_keys_come_in_connects_order(self) -> None:
        assert list(self.embedded().keys) == ["p.x.required", "p.x.a", "p.x.b", "p.x.low", "p.x.grouped"]

    def test_order_counts_on_from_the_start(self) -> None:
        assert [key.order_in_group for key in self.embedded().keys.values()] == [2, 3, 4, 5, 6]

    def test_group_of_the_child_follows(self) -> None:
        assert self.embedded().groups == ["P: x", "P: x: G"]

    def test_dependents_get_the_prefix(self) -> None:
        assert self.embedded().keys["p.x.required"].dependents == ("p.x.a",)

    def test_validator_sees_the_short_name(self) -> None:
        values = {value.name: value for value in self.embedded().validate({})}
        assert values["p.x.required"].errors == [
            'Missing required configuration "p.x.required" which has no default value.',
            "Configuration 'required' values must not be null.",
        ]

    def test_recommender_sees_short_names(self) -> None:
        values = {value.name: value for value in self.embedded().validate({"p.x.required": ""})}
        assert values["p.x.a"].recommended_values == ["a", "a", "b", "grouped", "low", "required"]

    def test_visibility_is_the_recommenders(self) -> None:
        values = {value.name: value for value in self.embedded().validate({})}
        assert not values["p.x.a"].visible


class TestValidate:
    def test_validator_sees_null_after_a_parse_error(self) -> None:
        definition = ConfigDef().define("tasks.max", Type.INT, 1, validator=Range.at_least(1))
        assert definition.validate({"tasks.max": "abc"})[0].errors == [
            "Invalid value abc for configuration tasks.max: Not a number of type INT",
            "Invalid value null for configuration tasks.max: Value must be non-null",
        ]

    def test_null_in_the_configuration_is_one_error(self) -> None:
        definition = ConfigDef().define("k", Type.INT, 1, validator=Range.at_least(1))
        assert definition.validate({"k": None})[0].errors == [NULL_VALUE]

    def test_error_of_a_recommender_is_an_error_of_the_key(self) -> None:
        class Failing(Recommended):
            def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
                raise ConfigError({"other": ["no values"]})

        definition = ConfigDef().define("k", Type.INT, 1, recommender=Failing())
        assert definition.validate({})[0].errors == ["no values"]


class TestDescribe:
    definition = (
        ConfigDef()
        .define("topic", Type.STRING, importance=Importance.HIGH, documentation="The topic")
        .define("list", Type.LIST, "a,b", Importance.LOW, group="G", order_in_group=3, width=Width.LONG)
        .define("password", Type.PASSWORD, None, display_name="Secret")
    )

    def described(self, **props: str) -> dict[str, Any]:
        return describe(self.definition, self.definition.validate(props), name="org.X")

    def test_entry_is_as_connect_answers_it(self) -> None:
        assert self.described()["configs"][0] == {
            "definition": {
                "name": "topic",
                "type": "STRING",
                "required": True,
                "default_value": None,
                "importance": "HIGH",
                "documentation": "The topic",
                "group": None,
                "order_in_group": -1,
                "width": "NONE",
                "display_name": "topic",
                "dependents": [],
            },
            "value": {
                "name": "topic",
                "value": None,
                "recommended_values": [],
                "errors": ['Missing required configuration "topic" which has no default value.'],
                "visible": True,
            },
        }

    def test_members_are_in_connects_order(self) -> None:
        definition = self.described()["configs"][0]["definition"]
        assert list(definition) == [
            *("name", "type", "required", "default_value", "importance", "documentation", "group"),
            *("order_in_group", "width", "display_name", "dependents"),
        ]

    def test_top_level(self) -> None:
        answer = self.described()
        assert list(answer.items())[:3] == [("name", "org.X"), ("error_count", 1), ("groups", ["G"])]

    def test_lists_are_joined(self) -> None:
        assert self.described()["configs"][1]["definition"]["default_value"] == "a,b"

    def test_passwords_are_hidden(self) -> None:
        assert self.described(password="s3cret")["configs"][2]["value"]["value"] == "[hidden]"

    def test_values_without_definition_come_first(self) -> None:
        values = ConfigDef().define("x", Type.INT).validate({})
        assert describe(self.definition, values)["configs"][0]["definition"] is None

    def test_keys_without_value_have_none(self) -> None:
        assert describe(self.definition, [])["configs"][0]["value"] is None


def test_key_without_default_is_required() -> None:
    assert ConfigKey("k", Type.INT).required
