"""Where the REST API answers otherwise than Kafka Connect, on purpose: number of the request -> what, and why."""

from __future__ import annotations

from typing import NamedTuple

MALFORMED = "a request that cannot be understood is the client's mistake: 400, where Connect answers 500"
STATUS: dict[int, tuple[int, str]] = {
    16: (400, MALFORMED),
    21: (400, MALFORMED),
    22: (400, MALFORMED),
    23: (400, MALFORMED),
    64: (400, "an offset that the connector does not accept is the client's mistake: 400, where Connect answers 500"),
    68: (400, MALFORMED),
    104: (400, MALFORMED),
}
"""Another status code."""

_OURS = "names and versions of this package"
_LIST = "other plugins are installed"
_KEYS = "own keys, and other words, next to Connect's"
BODY: dict[int, str] = {
    0: _OURS,
    3: _LIST,
    4: _LIST,
    5: _KEYS,
    7: _KEYS,
    8: _KEYS,
    9: _KEYS,
    97: "the loggers of Python's process",
}
"""Another body; what must be equal in it has a test of its own."""


class Family(NamedTuple):
    """Exchanges of `rest-more.json` that differ for one reason.

    :param request: regular expression that finds method, path and body. :param difference: and all that differs.
    """

    why: str
    request: str
    difference: str


_VALIDATE = "PUT /connector-plugins/.*validate"
_NAMED = r"/connectors/%61%(2F|25|5C)%62"

FAMILIES = (
    Family(MALFORMED, "", "status 500 400"),
    Family("what is wrong with a value is told for its key, where Connect answers 500", _VALIDATE, "status 500 200"),
    Family(_OURS, "GET / ", "body"),
    Family(_LIST, r"GET /connector-plugins(\?\S*)? ", "body"),
    Family(
        "the classes in a class have aliases such as `Cast$Value`, and header converters such as `SimpleHeader`",
        r"/connector-plugins/(SimpleHeader|Cast\$Value|HoistField\$Key)/config ",
        "status 404 200",
    ),
    Family("the same", r'"(Cast|HoistField)\$Value"', "body: (transforms.a|header.converter)"),
    Family("Connect has the converter twice, as one of headers too", "version=9.9", "body: message"),
    Family("abstract classes and interfaces are not listed", 'storage.Converter"', "body: value.converter"),
    Family(
        "a class has one version, whatever it is used for",
        '"SimpleHeaderConverter"',
        "body: key.converter.plugin.version",
    ),
    Family(
        "found before the connector starts, where Connect finds it when it does, or later",
        _VALIDATE,
        r"body: (topic\.creation|errors\.deadletterqueue\.topic\.replication|topic: |throughput|complete\.record\.data"
        r"|transforms\.a\.\S+ (value )?(more )?errors|transforms|group Transforms: $)",
    ),
    Family("a job has no standard input", _VALIDATE, "body: file: value errors"),
    Family(
        "librdkafka commits no group of a sink that is not ASCII", "FileStreamSink.*ünïcödé", "body: name: value errors"
    ),
    Family(
        "client keys are checked without definitions: those that a connector may not override are errors here",
        r"override\.",
        r"body: \w+\.override\.",
    ),
    Family("null is no value of a configuration", '"batch.size": null', "body: batch.size: value errors"),
    Family(
        "the configuration may have secrets, and is not quoted, as in Kafka Connect 4.4",
        "(POST|PUT) /connectors",
        "body: message",
    ),
    Family("the list of connectors is another", "NoSuch", "body: message"),
    Family(
        "the body is read before the connector is looked up", r"PATCH /connectors/(nope|b)/config", "status 404 400"
    ),
    Family("a PATCH cannot rename a connector", r'PATCH .*"name": "other"', "status 200 400"),
    Family(
        "names that Connect's server cannot be asked for stay registered there", "expand=status&expand=info", "body"
    ),
    Family("the connector still has its own name", r"(PATCH .*\{\"topic\": null|GET /connectors/b/config)", "body"),
    Family(
        "workers do not talk to each other here", "(POST|OPTIONS) /connectors/nope/tasks ", "status 500 405|allow|body"
    ),
    Family("names that Connect accepts and its own server cannot be asked for", _NAMED, "status 400 20."),
    Family("a name in braces is no template", r"\{a\}", "status 500 201"),
    Family(
        "such a path is that of nothing; Connect's server refuses it",
        r"//|%00|%2e|%zz|%C3%28",
        "status 400 404",
    ),
    Family("what follows a semicolon is part of the name", ";", "body: message|status 20[04] 404"),
    Family("a blank before a number is nothing", "%200", "body: message|status 404 20."),
    Family("a content type that is none is not JSON", "POST /connectors ", "status 400 415"),
    Family("Connect has no leader for tasks that do not exist", "/tasks/0/restart", "status 409 404"),
    Family(
        "each partition needs an offset: one that was forgotten would be a reset",
        r"PATCH /connectors/s/offsets",
        "status 200 400",
    ),
    Family("the same; and the offset is looked at first", r"PATCH /connectors/k/offsets", "body: message"),
    Family("a negative partition is a mistake in the request", r"PATCH /connectors/k/offsets", "status 500 (400|200)"),
)
