"""Keys that exist because of other keys: those of transformations, predicates and topic creation groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from airflow_kconnect.connect.config import (
    NO_DEFAULT,
    ConfigDef,
    Importance,
    LambdaValidator,
    Type,
    ValidList,
    Width,
    all_of,
    java_pattern,
    java_trim,
    parse_type,
)
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation.connector_keys import (
    LONGEST_ALIAS,
    MOST_ALIASES,
    PREDICATES,
    TOPIC_CREATION,
    TRANSFORMS,
    VERSION_TEXT,
    KnownPlugins,
)
from airflow_kconnect.worker_config.keys import PARTITIONS_TEXT, REPLICATION_TEXT, minus_one_or_positive

TOPIC_CREATION_PREFIX = "topic.creation."

# They hide a transformation's own keys with these names, as in ConnectorConfig.enrich.
_STAGE_KEYS = (
    ConfigDef()
    .define("negate", Type.BOOLEAN, False, Importance.MEDIUM, "Whether to apply where the predicate is false.")
    .define("predicate", Type.STRING, None, Importance.MEDIUM, "Alias of the predicate that says where to apply.")
)

Lookup = Callable[..., type[Any]]
V = TypeVar("V")


def enrich(base: ConfigDef, props: Mapping[str, str]) -> ConfigDef:
    """The definition including the keys of the stages that a configuration names (ConnectorConfig.enrich)."""
    definition = ConfigDef(base)
    known = plugins.registry()
    for alias in aliases(props, "transforms"):
        group = f"{TRANSFORMS}: {alias}"
        stage = f"transforms.{alias}."
        title = ("Transformation", alias, KnownPlugins(plugins.TRANSFORMS))
        _define_plugin(definition, stage, group, title, known.transform, props, _STAGE_KEYS)
    for alias in aliases(props, "predicates"):
        group = f"{PREDICATES}: {alias}"
        title = ("Predicate", alias, KnownPlugins(plugins.PREDICATES))
        _define_plugin(definition, f"predicates.{alias}.", group, title, known.predicate, props, ConfigDef())
    if "topic.creation.groups" in base.keys and any(key.startswith(TOPIC_CREATION_PREFIX) for key in props):
        _define_topic_groups(definition, props)
    return definition


def aliases(props: Mapping[str, str], key: str) -> list[str]:
    """The aliases in a list key, without empty and repeated ones and those beyond the limits of `alias_problem` (these
    are errors of the key itself).
    """
    named = dict.fromkeys(parse_type(key, props.get(key, ""), Type.LIST))
    return [alias for alias in named if alias and len(alias) <= LONGEST_ALIAS][:MOST_ALIASES]


def own_keys(keys: Mapping[str, V], stages: str, named: Iterable[str]) -> dict[str, dict[str, V]]:
    """The keys of each alias, without their prefix, found in one pass over all keys.

    :param stages: `transforms` or `predicates`. :param named: their aliases, which may have dots.
    """
    found: dict[str, dict[str, V]] = {alias: {} for alias in named}
    for key, value in keys.items():
        if not key.startswith(f"{stages}."):
            continue
        start = len(stages) + 1
        end = key.find(".", start, start + LONGEST_ALIAS + 1)
        while end >= 0:
            if (own := found.get(key[start:end])) is not None:
                own[key[end + 1 :]] = value
            end = key.find(".", end + 1, start + LONGEST_ALIAS + 1)
    return found


def _define_plugin(
    definition: ConfigDef,
    prefix: str,
    group: str,
    title: tuple[str, str, KnownPlugins],
    lookup: Lookup,
    props: Mapping[str, str],
    implicit: ConfigDef,
) -> None:
    what, alias, recommender = title
    type_key, version_key = f"{prefix}type", f"{prefix}plugin.version"
    placed: dict[str, Any] = {"group": group, "width": Width.LONG}
    definition.define(
        type_key,
        Type.CLASS,
        importance=Importance.HIGH,
        documentation=f"Class of the {what.lower()} '{alias}'.",
        validator=lambda name, value: None if value is None else _check_known(lookup, name, value),
        order_in_group=0,
        display_name=f"{what} type for {alias}",
        recommender=recommender,
        **placed,
    ).define(
        version_key,
        Type.STRING,
        None,
        Importance.HIGH,
        VERSION_TEXT,
        order_in_group=1,
        display_name=f"{what} version for {alias}",
        **placed,
    )
    try:
        plugin = lookup(java_trim(props.get(type_key, "")), key=type_key)
    except ConfigError:
        return
    definition.embed(prefix, group, ConfigDef(plugin.config()).extend(implicit), starting_order=2)


def _check_known(lookup: Lookup, name: str, value: str) -> None:
    lookup(value, key=name)


def _define_topic_groups(definition: ConfigDef, props: Mapping[str, str]) -> None:
    default = _topic_group("default", include=".*")
    _embed_topic_group(definition, "default", default)
    inherited = {
        key: _parsed_or_minus_one(props, f"{TOPIC_CREATION_PREFIX}default.{key}")
        for key in ("replication.factor", "partitions")
    }
    for name in aliases(props, "topic.creation.groups"):
        if name != "default":
            _embed_topic_group(definition, name, _topic_group(name, defaults=inherited))


def _embed_topic_group(definition: ConfigDef, name: str, group: ConfigDef) -> None:
    prefix = f"{TOPIC_CREATION_PREFIX}{name}."
    definition.embed(prefix, f"{TOPIC_CREATION}: {name}", group, starting_order=1)


def _parsed_or_minus_one(props: Mapping[str, str], key: str) -> int:
    """The default group's number for the other groups; if it is wrong, its own key has the error."""
    return int(props[key]) if re.fullmatch(r"\d{1,5}", props.get(key, "")) and int(props[key]) > 0 else -1


def _topic_group(name: str, *, include: str = "", defaults: Mapping[str, int] = {}) -> ConfigDef:
    """Keys of a topic creation group (TopicCreationConfig); without `defaults` the numbers are required."""
    definition = ConfigDef()
    for key, default, what in (("include", include, "Inclusion"), ("exclude", "", "Exclusion")):
        definition.define(
            key,
            Type.LIST,
            default,
            Importance.LOW,
            f"{what} patterns (Java's) of topic names; exclusions win.",
            validator=all_of(ValidList(), LambdaValidator(_syntax_error)),
            width=Width.LONG,
            display_name=f"{what} Topic Pattern for {name}",
        )
    for key, type_, message in (
        ("replication.factor", Type.SHORT, REPLICATION_TEXT),
        ("partitions", Type.INT, PARTITIONS_TEXT),
    ):
        definition.define(
            key,
            type_,
            defaults.get(key, NO_DEFAULT),
            importance=Importance.LOW,
            documentation=f"{key.capitalize()} of new topics of this group; -1 is the broker's default.",
            validator=minus_one_or_positive(message),
            width=Width.LONG,
            display_name=f"{key.capitalize()} for topics in {name}",
        )
    return definition


def _syntax_error(name: str, patterns: Iterable[str]) -> str | None:
    for pattern in dict.fromkeys(patterns):
        try:
            java_pattern(pattern)
        except re.error as error:
            return f"Syntax error in regular expression: {error}"
    return None
