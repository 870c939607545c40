"""Random configurations of converters and chains of transformations, with records for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.fuzz.oddities import odd_header, odd_schema, odd_text
from tests.fuzz.values import FIELDS, a_header, a_json, a_payload, a_schema

JSON = "org.apache.kafka.connect.json.JsonConverter"
SIMPLE = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
OTHERS = tuple(
    f"org.apache.kafka.connect.converters.{name}Converter"
    for name in ("ByteArray", "Boolean", "Short", "Integer", "Long", "Float", "Double")
)
_SIZES = dict(zip(OTHERS, (3, 1, 2, 4, 8, 4, 8), strict=True))
_TRANSFORMS = "org.apache.kafka.connect.transforms."
_PREDICATES = f"{_TRANSFORMS}predicates."

Config = dict[str, str]
Record = dict[str, Any]
# Field paths, as V2 of ExtractField and others read them.
_PATHS = (*FIELDS[:6], "a", "b", "a.b", "nothing")
_CASTS = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string")
_HEADERS = ("h", "i", "j")


@dataclass
class Case:
    """A configuration and records for it.

    :param seed: with which `a_case` makes it.
    """

    seed: str
    config: Config
    records: list[Record] = field(default_factory=list)


def a_case(seed: str, records: int, *, odd: bool = False) -> Case:
    """The random case of a seed.

    :param odd: with oddities, see `oddities.py`. A seed gives another case then.
    """
    rng = _Odd(f"odd {seed}") if odd else Random(seed)
    config = _converters(rng)
    _chain(rng, config)
    sources = {part: _source(rng, config, part) for part in ("key", "value")}
    return Case(seed, config, [_record(rng, sources, config) for _ in range(records)])


class _Odd(Random):
    """Whose cases have oddities."""


def _converters(rng: Random) -> Config:
    config: Config = {}
    for prefix in ("", "preview.output."):
        for part in ("key", "value", "header"):
            if prefix and rng.random() < 0.7:
                continue
            name = f"{prefix}{part}.converter"
            config[name] = _converter(rng, part)
            if config[name] == JSON:
                config |= _json_settings(rng, name)
    return config


def _converter(rng: Random, part: str) -> str:
    if part == "header":
        return rng.choices((SIMPLE, JSON, STRING, OTHERS[0]), (6, 3, 2, 1))[0]
    likely = 6 if part == "key" else 14
    return rng.choices((JSON, STRING, *OTHERS), (likely, 2, *[0.3] * len(OTHERS)))[0]


def _json_settings(rng: Random, name: str) -> Config:
    settings = {
        "schemas.enable": (("true", "false"), 0.5),
        "decimal.format": (("BASE64", "NUMERIC", "numeric"), 0.2),
        "replace.null.with.default": (("true", "false"), 0.2),
    }
    return {f"{name}.{key}": rng.choice(of) for key, (of, likely) in settings.items() if rng.random() < likely}


def _source(rng: Random, config: Config, part: str) -> Callable[[], str | None]:
    """What makes messages of a part: at most three schemas, as each costs Spark a branch of its plan."""
    name = f"{part}.converter"
    class_ = config[name]
    if class_ in _SIZES:
        size = _SIZES[class_]
        return lambda: rng.randbytes(size if rng.random() < 0.95 else rng.randint(0, 9)).decode(
            "utf-8", "surrogateescape"
        )
    if class_ == STRING:
        return lambda: a_header(rng)
    if config.get(f"{name}.schemas.enable") == "false":
        return lambda: _odd(rng, a_json(rng) if rng.random() < 0.99 else '{"a":')
    schemas: list[Any] = [_schema(rng, 3) for _ in range(rng.randint(1, 2))] + [None] * (rng.random() < 0.2)
    return lambda: _envelope(rng, rng.choice(schemas))


def _schema(rng: Random, depth: int) -> Any:
    schema = a_schema(rng, depth)
    return odd_schema(rng, schema) if isinstance(rng, _Odd) else schema


def _odd(rng: Random, text: str) -> str:
    return odd_text(rng, text) if isinstance(rng, _Odd) else text


def _envelope(rng: Random, schema: Any) -> str:
    payload = _odd(rng, a_json(rng) if schema is None else a_payload(rng, schema))
    if rng.random() < 0.01:
        return payload
    return f'{{"schema":{json.dumps(schema, ensure_ascii=False)},"payload":{payload}}}'


def _record(rng: Random, sources: dict[str, Callable[[], str | None]], config: Config) -> Record:
    def maybe(part: str, null: float) -> str | None:
        return None if rng.random() < null else sources[part]()

    headers = [{"key": rng.choice(_HEADERS), "value": _header(rng, config)} for _ in range(rng.choice((0, 0, 1, 2)))]
    return {
        "topic": rng.choice(("t", "t", "orders-1", "db.public.x")),
        "partition": rng.randint(0, 3),
        "timestamp": rng.choice((0, 1_700_000_000_123, 1_709_164_800_000, -1 if rng.random() < 0.05 else 1)),
        "key": maybe("key", 0.3),
        "value": maybe("value", 0.06),
        "headers": headers,
    }


def _header(rng: Random, config: Config) -> str | None:
    if rng.random() < 0.05:
        return None
    if config["header.converter"] != JSON:
        return odd_header(rng) if isinstance(rng, _Odd) and rng.random() < 0.5 else a_header(rng)
    if config.get("header.converter.schemas.enable") == "false":
        return _odd(rng, a_json(rng, 2))
    return _envelope(rng, None if rng.random() < 0.3 else _schema(rng, 1))


def _chain(rng: Random, config: Config) -> None:
    aliases = [f"s{number}" for number in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 4, 5)))]
    if aliases:
        config["transforms"] = ",".join(aliases)
    predicates: list[str] = []
    for alias in aliases:
        own = rng.choice(_MAKERS)(rng)
        if rng.random() < 0.25 or own["type"] == "Filter":
            predicates.append(f"p{alias}")
            own["predicate"] = predicates[-1]
            if rng.random() < 0.4:
                own["negate"] = "true"
            config |= {f"predicates.{predicates[-1]}.{key}": text for key, text in _predicate(rng).items()}
        own["type"] = _TRANSFORMS + own["type"]
        config |= {f"transforms.{alias}.{key}": text for key, text in own.items()}
    if predicates:
        config["predicates"] = ",".join(predicates)


def _predicate(rng: Random) -> Config:
    name = rng.choice(("RecordIsTombstone", "HasHeaderKey", "TopicNameMatches"))
    own = {"type": _PREDICATES + name}
    if name == "HasHeaderKey":
        own["name"] = rng.choice(_HEADERS)
    if name == "TopicNameMatches":
        own["pattern"] = rng.choice(("t", "orders.*", ".*", "db\\..*", "(?i)T", "["))
    return own


def _part(rng: Random) -> str:
    return rng.choice(("$Value", "$Value", "$Value", "$Key"))


def _some(rng: Random, of: tuple[str, ...], most: int) -> list[str]:
    return rng.sample(sorted(set(of)), rng.randint(1, most))


def _maybe(rng: Random, **keys: tuple[str, ...]) -> Config:
    return {key.replace("_", "."): rng.choice(of) for key, of in keys.items() if rng.random() < 0.4}


def _cast(rng: Random) -> Config:
    whole = rng.random() < 0.25
    spec = rng.choice(_CASTS) if whole else ",".join(f"{f}:{rng.choice(_CASTS)}" for f in _some(rng, _PATHS, 3))
    return {"type": f"Cast{_part(rng)}", "spec": spec, **_maybe(rng, replace_null_with_default=("true", "false"))}


def _extract_field(rng: Random) -> Config:
    keys = _maybe(rng, field_syntax_version=("V1", "V2"), replace_null_with_default=("true", "false"))
    return {"type": f"ExtractField{_part(rng)}", "field": rng.choice(_PATHS), **keys}


def _flatten(rng: Random) -> Config:
    return {"type": f"Flatten{_part(rng)}", **_maybe(rng, delimiter=(".", "_", ""))}


def _header_from(rng: Random) -> Config:
    fields = _some(rng, FIELDS[:6], 2)
    headers = [rng.choice(_HEADERS) for _ in fields]
    if rng.random() < 0.03:
        headers.append("x")
    operation = rng.choice(("copy", "move"))
    return {
        "type": f"HeaderFrom{_part(rng)}",
        "fields": ",".join(fields),
        "headers": ",".join(headers),
        "operation": operation,
        **_maybe(rng, replace_null_with_default=("true", "false")),
    }


def _hoist_field(rng: Random) -> Config:
    return {"type": f"HoistField{_part(rng)}", "field": rng.choice(FIELDS)}


def _insert_field(rng: Random) -> Config:
    kinds = ("topic", "partition", "offset", "timestamp")
    keys = {f"{kind}.field": rng.choice(FIELDS) + rng.choice(("", "?", "!")) for kind in kinds if rng.random() < 0.3}
    if rng.random() < 0.4 or not keys:
        keys |= {"static.field": rng.choice(FIELDS), "static.value": rng.choice(("x", "1", ""))}
    return {"type": f"InsertField{_part(rng)}", **keys, **_maybe(rng, replace_null_with_default=("true", "false"))}


def _insert_header(rng: Random) -> Config:
    return {"type": "InsertHeader", "header": rng.choice(_HEADERS), "value.literal": a_header(rng)}


def _drop_headers(rng: Random) -> Config:
    return {"type": "DropHeaders", "headers": ",".join(_some(rng, _HEADERS, 2))}


def _mask_field(rng: Random) -> Config:
    keys = {"type": f"MaskField{_part(rng)}", "fields": ",".join(_some(rng, FIELDS[:6], 2))}
    if rng.random() < 0.4:
        keys["replacement"] = rng.choice(("x", "17", "1.5", "abc", "-1"))
    return keys | _maybe(rng, replace_null_with_default=("true", "false"))


def _replace_field(rng: Random) -> Config:
    keys = {"type": f"ReplaceField{_part(rng)}"}
    if rng.random() < 0.5:
        keys["exclude"] = ",".join(_some(rng, FIELDS[:6], 2))
    if rng.random() < 0.3:
        keys["include"] = ",".join(_some(rng, FIELDS[:6], 3))
    if rng.random() < 0.4:
        renamed = _some(rng, FIELDS[:6], 2)
        keys["renames"] = ",".join(f"{name}:{name}{name}" if rng.random() < 0.7 else f"{name}:z" for name in renamed)
    return keys | _maybe(rng, replace_null_with_default=("true", "false"))


def _set_schema_metadata(rng: Random) -> Config:
    keys = _maybe(
        rng, schema_name=("com.example.New", ""), schema_version=("1", "7", "x" if rng.random() < 0.1 else "2")
    )
    return {"type": f"SetSchemaMetadata{_part(rng)}", **keys}


def _timestamp_converter(rng: Random) -> Config:
    keys = {"type": f"TimestampConverter{_part(rng)}"}
    keys["target.type"] = rng.choice(("string", "unix", "Date", "Time", "Timestamp", "Timestamp"))
    if rng.random() < 0.7:
        keys["field"] = rng.choice(FIELDS[:6])
    if keys["target.type"] == "string" or rng.random() < 0.3:
        keys["format"] = rng.choice(("yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss.SSS", "HH:mm", "yyyyMMdd HHmmss Z", "EEE"))
    keys |= _maybe(rng, unix_precision=("seconds", "milliseconds", "microseconds", "nanoseconds"))
    return keys | _maybe(rng, replace_null_with_default=("true", "false"))


def _timestamp_router(rng: Random) -> Config:
    formats = ("yyyyMMdd", "yyyy-MM", "HH")
    return {
        "type": "TimestampRouter",
        **_maybe(rng, topic_format=("${topic}-${timestamp}", "x"), timestamp_format=formats),
    }


def _regex_router(rng: Random) -> Config:
    pattern, replacement = rng.choice(((".*", "r"), ("(.*)-(\\d)", "$2.$1"), ("t", "u"), ("(?<n>.)(.*)", "${n}$2")))
    return {"type": "RegexRouter", "regex": pattern, "replacement": replacement}


def _value_to_key(rng: Random) -> Config:
    keys = {"type": "ValueToKey", "fields": ",".join(_some(rng, _PATHS, 2))}
    return keys | _maybe(rng, field_syntax_version=("V1", "V2"), replace_null_with_default=("true", "false"))


def _filter(rng: Random) -> Config:
    return {"type": "Filter"}


_MAKERS: tuple[Callable[[Random], Config], ...] = (
    *(_cast, _extract_field, _flatten, _header_from, _hoist_field, _insert_field, _insert_header),
    *(_drop_headers, _mask_field, _replace_field, _set_schema_metadata, _timestamp_converter),
    *(_timestamp_router, _regex_router, _value_to_key, _filter),
)
