"""Definition, parsing and validation of configuration keys, as in Kafka's ConfigDef."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from airflow_kconnect.connect.config.types import (
    NO_DEFAULT,
    ConfigKey,
    ConfigValue,
    Importance,
    Password,
    Recommender,
    Type,
    Width,
    coerce,
    parse_type,
)
from airflow_kconnect.connect.config.validators import (
    Validator,
    choices_of,
    java_text,
)
from airflow_kconnect.connect.errors import ConfigError


class ConfigDef:
    """A set of configuration keys, in the order of their definition."""

    def __init__(self, base: ConfigDef | None = None) -> None:
        self.keys: dict[str, ConfigKey] = dict(base.keys) if base else {}

    @property
    def groups(self) -> list[str]:
        """Names of the groups, in the order in which they first occur."""
        return list(dict.fromkeys(key.group for key in self.keys.values() if key.group is not None))

    def define(
        self,
        name: str,
        type: Type,
        default: Any = NO_DEFAULT,
        importance: Importance = Importance.MEDIUM,
        documentation: str = "",
        *,
        validator: Validator | None = None,
        group: str | None = None,
        order_in_group: int = -1,
        width: Width = Width.NONE,
        display_name: str | None = None,
        dependents: Iterable[str] = (),
        recommender: Recommender | None = None,
        without_effect: str = "",
        example: str = "",
    ) -> ConfigDef:
        """Add a key; without a default it is required.

        :param without_effect: why the key is accepted but not used. Its documentation says so, and `ignored` warns
            about it.
        :param example: a value as users write it, for the empty field of a form.
        :raises ConfigError: the key already exists, or the default is not valid.
        """
        if name in self.keys:
            raise ConfigError({name: [f"Configuration {name} is defined twice."]})
        if default is not NO_DEFAULT:
            default = parse_type(name, default, type)
            if validator:
                validator(name, default)
        self.keys[name] = ConfigKey(
            name=name,
            type=type,
            default=default,
            validator=validator,
            importance=importance,
            documentation=documentation,
            group=group,
            order_in_group=order_in_group,
            width=width,
            display_name=name if display_name is None else display_name,
            dependents=tuple(dependents),
            recommender=recommender,
            without_effect=without_effect,
            example=example,
        )
        return self

    def extend(self, other: ConfigDef) -> ConfigDef:
        """Add all keys of another definition; its keys override existing ones."""
        self.keys.update(other.keys)
        return self

    def embed(self, prefix: str, group: str, other: ConfigDef, starting_order: int = 0) -> ConfigDef:
        """Add all keys of another definition under a prefix and a group (ConfigDef.embed)."""
        for order, key in enumerate(other._sorted(), starting_order):
            self.keys[prefix + key.name] = replace(
                key,
                name=prefix + key.name,
                group=group if key.group is None else f"{group}: {key.group}",
                order_in_group=order,
                dependents=tuple(prefix + name for name in key.dependents),
                validator=key.validator and _EmbeddedValidator(prefix, key.validator),
                recommender=key.recommender and _EmbeddedRecommender(prefix, key.recommender),
            )
        return self

    def parse(self, props: Mapping[str, Any]) -> dict[str, Any]:
        """Typed values of all keys; keys that are not defined are left out.

        :raises ConfigError: with all errors, at most one per key.
        """
        values = [self._value(key, props, all_errors=False) for key in self.keys.values()]
        if errors := {value.name: value.errors for value in values if value.errors}:
            raise ConfigError(errors)
        return {value.name: value.value for value in values}

    def validate(self, props: Mapping[str, Any]) -> list[ConfigValue]:
        """One entry per key, in the order of definition, with everything Connect reports about it.

        As in Connect, a value that cannot be parsed is null for the validator, which may add an error.
        """
        values = [self._value(key, props, all_errors=True) for key in self.keys.values()]
        parsed = {value.name: value.value for value in values}
        for value in values:
            self._recommend(value, parsed)
        return values

    def ignored(self, props: Mapping[str, str]) -> list[str]:
        """A warning for each key that is set, has no effect, and has a value other than its default."""
        return [
            f"`{key.name}` has no effect: {key.without_effect}"
            for key in self.keys.values()
            if key.without_effect and key.name in props and not _asks_for_default(key, props[key.name])
        ]

    def _value(self, key: ConfigKey, props: Mapping[str, Any], *, all_errors: bool) -> ConfigValue:
        result = ConfigValue(key.name)
        raw = props.get(key.name)
        if key.name in props:
            try:
                coerced = raw if isinstance(raw, Password) else coerce(raw)
                result.value = parse_type(key.name, coerced, key.type)
            except ValueError as error:
                result.errors.append(str(error))
                return result
            except ConfigError as error:
                result.errors += error.errors[key.name]
        elif key.required:
            message = f'Missing required configuration "{key.name}" which has no default value.'
            result.errors.append(message)
        else:
            result.value = key.default
        if key.validator and (all_errors or not result.errors):
            result.errors += _messages(key.validator, key.name, result.value)
        return result

    def _recommend(self, value: ConfigValue, parsed: Mapping[str, Any]) -> None:
        recommender = self.keys[value.name].recommender
        if recommender is None:
            return
        try:
            value.recommended_values = list(recommender.valid_values(value.name, parsed))
            value.visible = recommender.visible(value.name, parsed)
        except ConfigError as error:
            value.errors += [message for messages in error.errors.values() for message in messages]

    def _sorted(self) -> list[ConfigKey]:
        groups = {group: order for order, group in enumerate(self.groups)}
        importances = list(Importance)

        def rank(key: ConfigKey) -> tuple[int, int, bool, int, str]:
            group = -1 if key.group is None else groups[key.group]
            return group, key.order_in_group, not key.required, importances.index(key.importance), key.name

        return sorted(self.keys.values(), key=rank)


def _asks_for_default(key: ConfigKey, text: str) -> bool:
    return not key.required and text.lower() == (_shown(key.default) or "").lower()


def _messages(validator: Validator, name: str, value: Any) -> list[str]:
    try:
        validator(name, value)
    except ConfigError as error:
        return [message for messages in error.errors.values() for message in messages]
    return []


@dataclass(frozen=True)
class _EmbeddedValidator:
    prefix: str
    inner: Validator

    def __call__(self, name: str, value: Any) -> None:
        self.inner(name.removeprefix(self.prefix), value)

    @property
    def choices(self) -> tuple[str, ...]:
        return choices_of(self.inner)


@dataclass(frozen=True)
class _EmbeddedRecommender:
    prefix: str
    inner: Recommender

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        return self.inner.valid_values(name.removeprefix(self.prefix), self._own(parsed))

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        return self.inner.visible(name.removeprefix(self.prefix), self._own(parsed))

    def _own(self, parsed: Mapping[str, Any]) -> dict[str, Any]:
        own = self.prefix
        return {name.removeprefix(own): value for name, value in parsed.items() if name.startswith(own)}


def describe(definition: ConfigDef, values: Iterable[ConfigValue], *, name: str = "") -> dict[str, Any]:
    """The JSON response of `PUT /connector-plugins/{name}/config/validate`, members in Connect's order.

    :param name: full class name of the connector.
    """
    by_name = {value.name: value for value in values}
    undefined = [value for value in by_name.values() if value.name not in definition.keys]
    configs: list[dict[str, Any]] = [{"definition": None, "value": _describe_value(v)} for v in undefined]
    for key in definition.keys.values():
        value = by_name.get(key.name)
        configs.append({"definition": describe_key(key), "value": value and _describe_value(value)})
    return {
        "name": name,
        "error_count": sum(len(value.errors) for value in by_name.values()),
        "groups": definition.groups,
        "configs": configs,
    }


def describe_key(key: ConfigKey) -> dict[str, Any]:
    """Connect's `ConfigKeyInfo` of a key."""
    return {
        "name": key.name,
        "type": key.type.value,
        "required": key.required,
        "default_value": None if key.required else _shown(key.default),
        "importance": key.importance.value,
        "documentation": key.described,
        "group": key.group,
        "order_in_group": key.order_in_group,
        "width": key.width.value,
        "display_name": key.display_name,
        "dependents": list(key.dependents),
    }


def _describe_value(value: ConfigValue) -> dict[str, Any]:
    return {
        "name": value.name,
        "value": _shown(value.value),
        "recommended_values": [_shown(recommended) for recommended in value.recommended_values],
        "errors": value.errors,
        "visible": value.visible,
    }


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    return ",".join(map(java_text, value)) if isinstance(value, list) else java_text(value)
