"""What is asked of Kafka Connect's REST API and of ours: definitions, validations, and whatever clients may send."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_kconnect.plugins import registry as plugins

Request = dict[str, Any]
"""`method`, `path` as it is sent, `body` as text, `headers`."""

_JSON = {"Content-Type": "application/json"}
SOURCE = {"name": "v", "connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}
SINK = {"name": "v", "connector.class": "FileStreamSink", "file": "/data/out.txt", "topics": "t"}
_BOTH = "org.apache.kafka.connect."
_T = f"{_BOTH}transforms."
_FLAGS = ("true", "false", "TRUE", "yes", "1", "0", "", "%20true")


def conversation() -> list[Request]:
    """All requests in their order; those about a connector follow the one that creates it."""
    parts = (_definitions(), _lists(), _validations(), _bodies_of_validations(), _protocol(), _bodies(), _names())
    return [request for part in (*parts, _states(), _offsets(), _loggers()) for request in part]


def request(method: str, path: str, body: Any = None, **headers: str) -> Request:
    """A request; a body that is a text is sent as it is."""
    text = body if body is None or isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"method": method, "path": path, "body": text, "headers": {**(_JSON if body is not None else {}), **sent}}


def _definitions() -> Iterator[Request]:
    """Of everything that both have: by its name, by its aliases, in versions."""
    groups = (plugins.CONNECTORS, plugins.CONVERTERS, plugins.TRANSFORMS, plugins.PREDICATES)
    for group in groups:
        for name in plugins.registry().names(group):
            if name.startswith(_BOTH):
                yield _keys(name)
    for alias in ("FileStreamSource", "FileStreamSinkConnector", "Json", "JsonConverter", "SimpleHeader", "String"):
        yield _keys(alias)
    for alias in ("Cast", "Cast$Value", "HoistField$Key", "Filter", "TimestampRouter", "TopicNameMatches", "NoSuch"):
        yield _keys(alias)
    for version in (
        "4.3.0",
        "latest",
        "",
        "9.9",
        "[4.0,5.0)",
        "[9.0,)",
        "(,1.0]",
        "abc",
        "4.3",
        "[4.3.0]",
        "[4",
        "LATEST",
    ):
        yield _keys("FileStreamSource", f"?version={version}")
    for version in ("9.9", "4.3.0", "[4.0,)"):
        yield _keys("JsonConverter", f"?version={version}")
        yield _keys(f"{_T}Cast$Value", f"?version={version}")
        yield _keys(f"{_T}predicates.RecordIsTombstone", f"?version={version}")


def _keys(name: str, query: str = "") -> Request:
    return request("GET", f"/connector-plugins/{name}/config{query}")


def _lists() -> Iterator[Request]:
    for flag in _FLAGS:
        yield request("GET", f"/connector-plugins?connectorsOnly={flag}")
    for query in ("connectorsOnly", "connectorsOnly=false&connectorsOnly=true", "connectorsonly=false", "x=y"):
        yield request("GET", f"/connector-plugins?{query}")
    for query in (
        "expand=status",
        "expand=STATUS",
        "expand=",
        "expand",
        "expand=info,status",
        "expand=bogus&expand=info",
    ):
        yield request("GET", f"/connectors?{query}")


def _with(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Request:
    sent = {key: value for key, value in {**base, **changes}.items() if value is not None}
    return request("PUT", f"/connector-plugins/{base['connector.class']}/config/validate", sent)


_OF_ANY: tuple[Mapping[str, Any], ...] = (
    {},
    {"name": None},
    {"name": ""},
    {"name": "a\nb"},
    {"name": "  padded  "},
    {"name": "ünïcödé"},
    {"tasks.max": "0"},
    {"tasks.max": "abc"},
    {"tasks.max": "2147483648"},
    {"tasks.max": "1.5"},
    {"tasks.max": " 3 "},
    {"tasks.max": 4},
    {"tasks.max": True},
    {"tasks.max": ""},
    {"tasks.max.enforce": "FALSE"},
    {"tasks.max.enforce": "maybe"},
    {"connector.plugin.version": "4.3.0"},
    {"connector.plugin.version": "latest"},
    {"connector.plugin.version": "[4.0,5.0)"},
    {"connector.plugin.version": "9.9"},
    {"connector.plugin.version": "[9.0,)"},
    {"connector.plugin.version": "abc"},
    {"connector.plugin.version": "[4"},
    {"connector.plugin.version": ""},
    {"config.action.reload": "none"},
    {"config.action.reload": "RESTART"},
    {"errors.tolerance": "all"},
    {"errors.tolerance": "ALL"},
    {"errors.tolerance": ""},
    {"errors.retry.timeout": "-1"},
    {"errors.retry.timeout": "x"},
    {"errors.retry.delay.max.ms": "9223372036854775808"},
    {"errors.log.enable": "yes"},
    {"errors.log.enable": "True", "errors.log.include.messages": "true"},
    {"no.such.key": "x"},
    {"producer.override.acks": "1", "consumer.override.x": "y", "admin.override.z": "1"},
    {"producer.override.max.block.ms": "soon"},
)

_CONVERTERS: tuple[Mapping[str, Any], ...] = (
    {"key.converter": f"{_BOTH}json.JsonConverter"},
    {"key.converter": "JsonConverter", "key.converter.schemas.enable": "maybe"},
    {"value.converter": "Json", "value.converter.schemas.cache.size": "-1", "value.converter.nope": "x"},
    {"value.converter": f"{_BOTH}json.JsonConverter", "value.converter.decimal.format": "roman"},
    {"value.converter": "JsonConverter", "value.converter.replace.null.with.default": "false"},
    {"value.converter": "JsonConverter", "value.converter.schemas.cache.size": "many"},
    {"key.converter": f"{_BOTH}storage.StringConverter", "value.converter": "StringConverter"},
    {"key.converter": "String", "key.converter.encoding": "no-such-charset"},
    {"key.converter": "ByteArrayConverter", "value.converter": "IntegerConverter"},
    {"key.converter": "LongConverter", "value.converter": "BooleanConverter"},
    {"key.converter": f"{_BOTH}converters.DoubleConverter", "value.converter": "Float"},
    {"key.converter": "NoSuch"},
    {"key.converter": "com.example.NoSuchConverter", "value.converter": ""},
    {"key.converter": "FileStreamSource"},
    {"value.converter": f"{_BOTH}storage.Converter"},
    {"key.converter": "SimpleHeaderConverter"},
    {"header.converter": "SimpleHeaderConverter"},
    {"header.converter": f"{_BOTH}storage.SimpleHeaderConverter"},
    {"header.converter": "JsonConverter", "header.converter.schemas.enable": "false"},
    {"header.converter": "StringConverter"},
    {"header.converter": "ByteArrayConverter"},
    {"header.converter": "NoSuch"},
    {"header.converter": "Cast$Value"},
    {"key.converter.schemas.enable": "maybe"},
    {"key.converter": "JsonConverter", "key.converter.converter.type": "value"},
    {"key.converter": "JsonConverter", "key.converter.plugin.version": "4.3.0"},
    {"key.converter": "JsonConverter", "key.converter.plugin.version": "9.9"},
    {"key.converter": "JsonConverter", "key.converter.plugin.version": "[4.0,5.0)"},
    {"value.converter": "JsonConverter", "value.converter.plugin.version": "abc"},
    {"key.converter.plugin.version": "9.9"},
    {"header.converter": "SimpleHeaderConverter", "header.converter.plugin.version": "9.9"},
    {"key.converter": "NoSuch", "key.converter.plugin.version": "4.3.0"},
)


def _stage(of: str, type_: str | None, **more: str) -> Mapping[str, Any]:
    """A transformation or a predicate `a` of a configuration."""
    keys = {f"{of}.a.{key.replace('_', '.')}": value for key, value in more.items()}
    return {of: "a", **({} if type_ is None else {f"{of}.a.type": type_}), **keys}


_STAGES: tuple[Mapping[str, Any], ...] = (
    _stage("transforms", None),
    _stage("transforms", ""),
    _stage("transforms", "NoSuch"),
    _stage("transforms", "com.example.NoSuch", x="y"),
    _stage("transforms", "RecordIsTombstone"),
    _stage("transforms", "FileStreamSource"),
    _stage("transforms", "Cast"),
    _stage("transforms", "Cast$Value", spec="a:int32"),
    _stage("transforms", "HoistField$Value"),
    _stage("transforms", f"{_T}Cast$Value", spec="a:int32"),
    _stage("transforms", f"{_T}Cast$Value"),
    _stage("transforms", f"{_T}Cast$Value", spec="a:roman"),
    _stage("transforms", f"{_T}Cast$Key", spec=""),
    _stage("transforms", "DropHeaders"),
    _stage("transforms", "DropHeaders", headers="a,b"),
    _stage("transforms", f"{_T}ExtractField$Value"),
    _stage("transforms", f"{_T}ExtractField$Key", field="x", replace_null_with_default="no"),
    _stage("transforms", "Filter"),
    _stage("transforms", f"{_T}Flatten$Value", delimiter="_"),
    _stage("transforms", f"{_T}HeaderFrom$Value", fields="a", headers="b", operation="steal"),
    _stage("transforms", f"{_T}HeaderFrom$Key"),
    _stage("transforms", f"{_T}HoistField$Value", field="line"),
    _stage("transforms", f"{_T}HoistField$Value"),
    _stage("transforms", f"{_T}InsertField$Value"),
    _stage("transforms", f"{_T}InsertField$Value", static_field="f"),
    _stage("transforms", "InsertHeader", header="h"),
    _stage("transforms", f"{_T}MaskField$Value", fields="a", replacement=""),
    _stage("transforms", f"{_T}MaskField$Value", fields=""),
    _stage("transforms", "RegexRouter", regex="(", replacement="x"),
    _stage("transforms", "RegexRouter"),
    _stage("transforms", f"{_T}ReplaceField$Value", renames="a"),
    _stage("transforms", f"{_T}ReplaceField$Value", exclude="a", renames="b:c"),
    _stage("transforms", f"{_T}SetSchemaMetadata$Value", schema_version="x"),
    _stage("transforms", f"{_T}TimestampConverter$Value", target_type="Roman"),
    _stage("transforms", f"{_T}TimestampConverter$Value", target_type="string"),
    _stage("transforms", f"{_T}TimestampConverter$Value", target_type="unix", unix_precision="days"),
    _stage("transforms", "TimestampRouter"),
    _stage("transforms", "TimestampRouter", timestamp_format="qqq"),
    _stage("transforms", "ValueToKey"),
    _stage("transforms", "ValueToKey", fields=""),
    _stage("transforms", f"{_T}HoistField$Value", field="f", negate="true"),
    _stage("transforms", f"{_T}HoistField$Value", field="f", negate="maybe"),
    _stage("transforms", f"{_T}HoistField$Value", field="f", predicate="p"),
    _stage("transforms", f"{_T}HoistField$Value", field="f", plugin_version="9.9"),
    _stage("transforms", f"{_T}HoistField$Value", field="f", plugin_version="4.3.0"),
    _stage("transforms", f"{_T}HoistField$Value", field="f", plugin_version="abc"),
    {"transforms": "a,a", "transforms.a.type": "Filter"},
    {"transforms": "a,,b", "transforms.a.type": "Filter", "transforms.b.type": "Filter"},
    {"transforms": "", "transforms.a.type": "Filter"},
    {
        "transforms": "a, b",
        "transforms.a.type": f"{_T}HoistField$Value",
        "transforms.a.field": "f",
        "transforms.b.type": "Filter",
    },
    {"transforms": "a", "transforms.a.type": "Filter", "transforms.a.predicate": "p", "predicates": "p"},
    _stage("predicates", None),
    _stage("predicates", "NoSuch"),
    _stage("predicates", "RecordIsTombstone"),
    _stage("predicates", f"{_T}predicates.HasHeaderKey"),
    _stage("predicates", "HasHeaderKey", name=""),
    _stage("predicates", "TopicNameMatches", pattern="("),
    _stage("predicates", "TopicNameMatches", pattern="t.*"),
    _stage("predicates", "Filter"),
    _stage("predicates", "RecordIsTombstone", plugin_version="9.9"),
    {"predicates": "p,p", "predicates.p.type": "RecordIsTombstone"},
    {
        **_stage("transforms", "Filter", predicate="p", negate="true"),
        "predicates": "p",
        "predicates.p.type": "RecordIsTombstone",
    },
)

_OF_SOURCES: tuple[Mapping[str, Any], ...] = (
    {"topic": None},
    {"topic": ""},
    {"topic": "a,b"},
    {"file": None},
    {"file": ""},
    {"batch.size": "0"},
    {"batch.size": "abc"},
    {"topic.creation.groups": "a"},
    {"topic.creation.default.partitions": "1"},
    {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "-1"},
    {"topic.creation.default.partitions": "0", "topic.creation.default.replication.factor": "0"},
    {"topic.creation.default.partitions": "x", "topic.creation.default.replication.factor": "40000"},
    {
        "topic.creation.groups": "a,b",
        "topic.creation.default.partitions": "3",
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.cleanup.policy": "compact",
        "topic.creation.a.include": "x.*",
        "topic.creation.a.retention.ms": "1",
        "topic.creation.b.include": "(",
        "topic.creation.b.partitions": "-1",
    },
    {
        "topic.creation.groups": "a,a,default",
        "topic.creation.default.partitions": "3",
        "topic.creation.default.replication.factor": "1",
    },
    {"topic.creation.c.include": "x"},
    {"exactly.once.support": "required"},
    {"exactly.once.support": "REQUESTED"},
    {"exactly.once.support": "abc"},
    {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "1000"},
    {"transaction.boundary": "CONNECTOR"},
    {"transaction.boundary": "never"},
    {"transaction.boundary.interval.ms": "-1"},
    {"transaction.boundary.interval.ms": "x"},
    {"offsets.storage.topic": ""},
    {"offsets.storage.topic": "mine"},
    {"topics": "t"},
    {"errors.deadletterqueue.topic.name": "dlq", "errors.deadletterqueue.topic.replication.factor": "0"},
)

_OF_SINKS: tuple[Mapping[str, Any], ...] = (
    {"topics": None},
    {"topics": ""},
    {"topics": "a,a"},
    {"topics": "a,,b"},
    {"topics.regex": "a.*"},
    {"topics": None, "topics.regex": "a.*"},
    {"topics": None, "topics.regex": "("},
    {"topics": None, "topics.regex": ""},
    {"file": None},
    {"errors.deadletterqueue.topic.name": "dlq"},
    {"errors.deadletterqueue.topic.name": "t"},
    {"topics": None, "topics.regex": "t.*", "errors.deadletterqueue.topic.name": "tt"},
    {"errors.deadletterqueue.topic.replication.factor": "0"},
    {"errors.deadletterqueue.topic.replication.factor": "-1"},
    {"errors.deadletterqueue.topic.replication.factor": "70000"},
    {"errors.deadletterqueue.context.headers.enable": "perhaps"},
    {"consumer.override.group.id": "recorded"},
    {"exactly.once.support": "required", "topic.creation.groups": "a"},
)


def _validations() -> Iterator[Request]:
    for changes in (*_OF_ANY, *_OF_SOURCES, *_CONVERTERS, *_STAGES):
        yield _with(SOURCE, changes)
    for changes in (*_OF_ANY[:7], *_OF_SINKS, *_CONVERTERS[:3]):
        yield _with(SINK, changes)
    verifiable = {"name": "v", "connector.class": f"{_BOTH}tools.VerifiableSourceConnector", "topic": "t"}
    for changes in ({}, {"throughput": "x"}, {"throughput": "5"}, {"topic": None}, {"complete.record.data": "maybe"}):
        yield _with(verifiable, changes)
    yield _with({"name": "v", "connector.class": "VerifiableSink", "topics": "t"}, {})


def _bodies_of_validations() -> Iterator[Request]:
    full = f"{_BOTH}file.FileStreamSourceConnector"
    for path in (
        full,
        "FileStreamSource",
        "FileStreamSourceConnector",
        "FileStreamSink",
        "NoSuch",
        "Cast$Value",
        "file",
    ):
        for name in (full, "FileStreamSourceConnector", "NoSuch"):
            yield request("PUT", f"/connector-plugins/{path}/config/validate", {**SOURCE, "connector.class": name})
    classes: tuple[Any, ...] = (None, "", " ", "FileStreamSource ", "filestreamsource", "Cast$Value", 1)
    for named in classes:
        changed = {key: value for key, value in {**SOURCE, "connector.class": named}.items() if value is not None}
        yield request("PUT", "/connector-plugins/FileStreamSource/config/validate", changed)
    bodies = ("", "null", "[]", '"x"', "1", "{", "{}", '{"a": {"b": 1}}', '{"a": [1]}', '{"a": null}', "[[]]", "true")
    for body in bodies:
        yield request("PUT", "/connector-plugins/FileStreamSource/config/validate", body)
    values: tuple[Any, ...] = (None, 1, 1.0, 1.50, 1e30, True, False, [], {}, ["a"], 12345678901234567890)
    for value in values:
        yield request("PUT", "/connector-plugins/FileStreamSource/config/validate", {**SOURCE, "batch.size": value})
        yield request("PUT", "/connector-plugins/FileStreamSource/config/validate", {**SOURCE, "x": value})


_PATHS = (
    "/",
    "/health",
    "/connectors",
    "/connectors/nope",
    "/connectors/nope/config",
    "/connectors/nope/status",
    "/connectors/nope/restart",
    "/connectors/nope/pause",
    "/connectors/nope/resume",
    "/connectors/nope/stop",
    "/connectors/nope/tasks",
    "/connectors/nope/tasks/0/status",
    "/connectors/nope/tasks/0/restart",
    "/connectors/nope/topics",
    "/connectors/nope/topics/reset",
    "/connectors/nope/offsets",
    "/connector-plugins",
    "/connector-plugins/FileStreamSource/config",
    "/connector-plugins/FileStreamSource/config/validate",
    "/admin/loggers",
    "/admin/loggers/root",
)


def _protocol() -> Iterator[Request]:
    for path in _PATHS:
        for method in ("OPTIONS", "POST", "PUT", "DELETE", "PATCH", "GET", "HEAD"):
            if (path, method) not in {("/admin/loggers", "GET"), ("/admin/loggers/root", "GET")}:
                yield request(method, path)
    for path in (
        "/nope",
        "/connectors/nope/bogus",
        "/connectors/",
        "/connectors//status",
        "//connectors",
        "/Connectors",
    ):
        yield request("GET", path)
        yield request("OPTIONS", path)
    for accepted in ("text/html", "application/xml", "*/*", "application/*", "text/plain, application/json;q=0.1"):
        yield request("GET", "/connectors", Accept=accepted)
        yield request("GET", "/connectors/nope", Accept=accepted)
    for accepted in ("text/*", "application/json;q=0", "application/json;charset=utf-8", "nonsense", ""):
        yield request("GET", "/connectors", Accept=accepted)
    yield request("PUT", "/connectors/nope/pause", Accept="text/html")
    yield request("GET", "/nope", Accept="text/html")
    create = json.dumps({"name": "never", "config": {}})
    for kind in (
        "text/plain",
        "application/xml",
        "application/json;charset=utf-8",
        "application/vnd.x+json",
        "text/json",
    ):
        yield request("POST", "/connectors", create, Content_Type=kind)
    for kind in (
        "application/json; charset=latin-1",
        "APPLICATION/JSON",
        "*/*",
        "nonsense",
        "application/x-www-form-urlencoded",
    ):
        yield request("POST", "/connectors", create, Content_Type=kind)
    yield {"method": "POST", "path": "/connectors", "body": create, "headers": {}}
    yield {"method": "PUT", "path": "/connectors/nope/config", "body": "{}", "headers": {}}


def _bodies() -> Iterator[Request]:
    config = dict(SOURCE, name="b")
    for body in (
        "",
        "null",
        "[]",
        '"x"',
        "1",
        "{",
        "{}",
        '{"name": "b"}',
        '{"config": {}}',
        '{"name": null, "config": null}',
    ):
        yield request("POST", "/connectors", body)
        yield request("PUT", "/connectors/b/config", body)
        yield request("PATCH", "/connectors/b/config", body)
    states: tuple[Any, ...] = ("xyz", "", 1, "STARTED", "UNASSIGNED", [], True)
    for state in states:
        yield request("POST", "/connectors", {"name": "b", "config": config, "initial_state": state})
    names: tuple[Any, ...] = (1, True, [], {}, "c")
    for name in names:
        yield request("POST", "/connectors", {"name": name, "config": config})
    yield request("POST", "/connectors", {"name": "b", "config": {**config, "x": {"y": 1}}})
    yield request("POST", "/connectors", {"name": "b", "config": {**config, "x": [1]}})
    yield request("POST", "/connectors", {"name": "b", "config": {**config, "x": None}})
    yield request("POST", "/connectors", {"name": "b", "config": config, "more": 1})
    yield request("POST", "/connectors", {"name": "b", "config": config, "initial_state": "stopped"})
    yield request("GET", "/connectors/b")
    yield request("PUT", "/connectors/b/config", {**config, "batch.size": 7, "x": True})
    yield request("PUT", "/connectors/b/config", {**config, "name": "other"})
    yield request("PUT", "/connectors/b/config", {**config, "connector.class": None})
    yield request("PUT", "/connectors/b/config", {**config, "connector.class": "NoSuch"})
    yield request("PUT", "/connectors/b/config", {**config, "connector.class": "FileStreamSink", "topics": "t"})
    yield request("PATCH", "/connectors/b/config", {"x": 1, "batch.size": None})
    yield request("PATCH", "/connectors/b/config", {"x": [1]})
    yield request("PATCH", "/connectors/b/config", {"name": "other"})
    yield request("PATCH", "/connectors/b/config", {"topic": None})
    yield request("GET", "/connectors/b/config")
    yield request("DELETE", "/connectors/b")


_NAMES = (
    "a b",
    "a/b",
    "a%b",
    "a?b",
    "a#b",
    "a\\b",
    "a;b=c",
    "a+b",
    "ü",
    "日本",
    "😀",
    "...",
    "a:b",
    "[a]",
    "{a}",
    '"',
    "'a'",
)


def _names() -> Iterator[Request]:
    for name in _NAMES:
        quoted = "".join(f"%{byte:02X}" for byte in name.encode())
        config = {**SOURCE, "name": name}
        yield request("POST", "/connectors", {"name": name, "config": config, "initial_state": "STOPPED"})
        yield request("GET", f"/connectors/{quoted}")
        yield request("DELETE", f"/connectors/{quoted}")
        yield request("PUT", f"/connectors/{quoted}/config", config)
        yield request("DELETE", f"/connectors/{quoted}")
    for name in (" padded ", "\tt", "a\u0007b"):
        yield request(
            "POST", "/connectors", {"name": name, "config": dict(SOURCE, name=name), "initial_state": "STOPPED"}
        )
    yield request("DELETE", "/connectors/padded")
    for path in (
        "/connectors/nope;x=y",
        "/connectors/a%00b",
        "/connectors/%2e%2e",
        "/connectors/a%zzb",
        "/connectors/%C3%28",
    ):
        yield request("GET", path)


def _states() -> Iterator[Request]:
    """Of a source and of a sink; the task of one sink fails."""
    yield request("POST", "/connectors", {"name": "s", "config": dict(SOURCE, name="s")})
    yield request("POST", "/connectors", {"name": "k", "config": dict(SINK, name="k", file="/no/such/folder/out.txt")})
    yield {"wait": ("s", "RUNNING", "RUNNING")}
    yield {"wait": ("k", "RUNNING", "FAILED")}
    for name in ("s", "k"):
        for path in ("", "/status", "/tasks", "/tasks/0/status", "/topics", "/offsets"):
            yield request("GET", f"/connectors/{name}{path}")
    yield request("GET", "/connectors?expand=status&expand=info")
    for task in ("abc", "-1", "01", "+0", "99999999999", "%200", "0x0", "0;a=b", ""):
        yield request("GET", f"/connectors/s/tasks/{task}/status")
        yield request("POST", f"/connectors/s/tasks/{task}/restart")
    for flag in ("false", "FALSE", "yes", "1", "", "no"):
        yield request("POST", f"/connectors/k/restart?onlyFailed={flag}&includeTasks={flag}")
        yield {"wait": ("k", "RUNNING", "FAILED")}
    yield request("POST", "/connectors/k/restart?includeTasks=TRUE&onlyFailed=True")
    yield {"wait": ("k", "RUNNING", "FAILED")}
    yield request("POST", "/connectors/k/restart?includetasks=true")
    yield request("PUT", "/connectors/s/pause")
    yield {"wait": ("s", "PAUSED", "PAUSED")}
    yield request("GET", "/connectors/s/status")
    yield request("PUT", "/connectors/s/stop")
    yield request("PUT", "/connectors/k/stop")
    yield {"wait": ("s", "STOPPED", "")}
    yield {"wait": ("k", "STOPPED", "")}
    for name in ("s", "k"):
        yield request("GET", f"/connectors/{name}/status")
        yield request("GET", f"/connectors/{name}/tasks")
        yield request("POST", f"/connectors/{name}/restart")
        yield request("POST", f"/connectors/{name}/tasks/0/restart")


_ENTRIES: tuple[dict[str, Any], ...] = (
    {},
    {"partition": {}, "offset": {}},
    {"partition": None, "offset": None},
    {"offset": {"position": 1}},
    {"partition": {"filename": "f"}},
    {"partition": {"filename": "f"}, "offset": {"position": "x"}},
    {"partition": {"filename": "f"}, "offset": {"position": -1}},
    {"partition": {"filename": "f"}, "offset": {"position": 1.5}},
    {"partition": {"filename": "f"}, "offset": {}},
    {"partition": {"filename": "f"}, "offset": {"position": 5}},
    {"partition": {"filename": "f"}, "offset": [1]},
    {"partition": {"filename": "f"}, "offset": {"position": 6}, "more": 1},
    {"partition": {"kafka_topic": "t"}, "offset": {"kafka_offset": 1}},
    {"partition": {"kafka_topic": "t", "kafka_partition": "x"}, "offset": {"kafka_offset": 1}},
    {"partition": {"kafka_topic": None, "kafka_partition": 0}, "offset": {"kafka_offset": 1}},
    {"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": "x"}},
    {"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": None}},
    {"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {}},
    {"partition": {"kafka_topic": "t", "kafka_partition": -1}, "offset": {"kafka_offset": 1}},
    {"partition": {"kafka_topic": "t", "kafka_partition": "0"}, "offset": {"kafka_offset": "1"}},
)


def _offsets() -> Iterator[Request]:
    """Of the two stopped connectors."""
    for name in ("s", "k"):
        for body in (
            "",
            "null",
            "[]",
            "{",
            "{}",
            '{"offsets": null}',
            '{"offsets": {}}',
            '{"offsets": [null]}',
            '{"offsets": [1]}',
        ):
            yield request("PATCH", f"/connectors/{name}/offsets", body)
        for entry in _ENTRIES:
            yield request("PATCH", f"/connectors/{name}/offsets", {"offsets": [entry]})
        yield request("GET", f"/connectors/{name}/offsets")
        yield request("DELETE", f"/connectors/{name}/offsets")
        yield request("GET", f"/connectors/{name}/offsets")
        yield request("DELETE", f"/connectors/{name}")


def _loggers() -> Iterator[Request]:
    for body in (
        "",
        "null",
        "[]",
        "{",
        "{}",
        '{"level": null}',
        '{"level": 1}',
        '{"level": "debug"}',
        '{"level": "loud"}',
        '"x"',
    ):
        yield request("PUT", "/admin/loggers/org.example", body)
    for scope in ("CLUSTER", "Worker", "bogus", ""):
        yield request("PUT", f"/admin/loggers/org.example?scope={scope}", {"level": "INFO"})
    yield request("GET", "/admin/loggers/no.such.logger")
