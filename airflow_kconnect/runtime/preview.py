"""What converters and transformations do to some records; needs neither Kafka nor a connector.

The expressions are those of a run; Spark interprets them, as compiling them takes longer than processing a few records.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import coerce
from airflow_kconnect.connect.error_cells import DROPPED, record_error
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.converters.base import Converter, Role, new_converter
from airflow_kconnect.converters.id_header import expect_ids, id_header_of, named
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.converters.types import SESSION_CONF
from airflow_kconnect.machine.spark_home import use_whole_pyspark
from airflow_kconnect.runtime.conversion.decoding import PartDecoder, decoded_frame
from airflow_kconnect.runtime.conversion.encoding import encoded
from airflow_kconnect.runtime.conversion.header_stage import Cell, HeaderStage
from airflow_kconnect.runtime.process.lookups import remember_lookups
from airflow_kconnect.runtime.process.plugin_modules import send_plugin_files
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.chain import Chain
from airflow_kconnect.validation.connector import inspect_connector

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

Record = dict[str, Any]

_OUTPUT = "preview.output."
_WORKER = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "header.converter": "org.apache.kafka.connect.storage.SimpleHeaderConverter",
}
_PARTS: tuple[Role, ...] = ("key", "value")
_ROLES: tuple[Role, ...] = ("key", "value", "header")
_SHAPES_MAX = 8
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}
"""For a few records."""
_ROWS = (
    "n int, topic string, partition int, kafka_offset long, timestamp long, key binary, value binary,"
    " headers array<struct<key:string,value:binary>>, header_error string, error string, key_id binary, value_id binary"
)


def preview(config: Mapping[str, Any], records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Decode records with the connector's converters, transform them, and encode them again.

    :param config: a connector's configuration; ``connector.class`` and ``name`` may be left out. Keys
        ``preview.output.key.converter`` (``value``, ``header``) choose other converters for the output.
    :param records: each with ``topic, partition, offset, timestamp, key, value, headers`` (all optional): key and value
        as strings or None, as they would be in Kafka; headers a list of ``{"key": ..., "value": ...}``.
    :returns: in the same order the record, or ``{"dropped": True}``, or
        ``{"error": {"stage": ..., "class": ..., "message": ...}}``.
    :raises ConfigError: with all errors of the configuration. :raises DataError: not such a record.
    """
    return Plan(config).answers(checked_records(records))


def checked_records(records: Sequence[Any]) -> list[Record]:
    """The records as a list. :raises DataError: one is not in the format that `preview` expects."""
    for n, record in enumerate(records, start=1):
        _check_record(n, record)
    return list(records)


def _check_record(number: int, record: Any) -> None:
    """:raises DataError: it is not in the format that `preview` expects."""
    if not isinstance(record, Mapping):
        raise DataError(f"record {number} is not an object with `topic`, `key`, `value` and so on")
    for key in ("partition", "offset", "timestamp"):
        value = record.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise DataError(f"record {number}: `{key}` is not an integer: {value!r}")
    headers = record.get("headers") or []
    if not isinstance(headers, list) or any(
        not isinstance(h, Mapping) or not {"key", "value"} <= h.keys() for h in headers
    ):
        raise DataError(f'record {number}: `headers` is not a list of {{"key": ..., "value": ...}}')


def _inspected(config: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The configuration as texts, and its errors, as far as they matter here."""
    inspection = inspect_connector({k: v for k, v in config.items() if not k.startswith(_OUTPUT)})
    errors = inspection.errors
    for key in ("name", "topics", "connector.class"):
        if key not in config:
            errors.pop(key, None)
    return inspection.props | {k: coerce(v) for k, v in config.items() if k.startswith(_OUTPUT)}, errors


class Plan:
    """The converters and transformations of a configuration, for some records.

    :param config: as for `preview`. :param worker: converters of the worker, for parts without one of the connector.
    :raises ConfigError: with all errors of the configuration.
    """

    def __init__(self, config: Mapping[str, Any], worker: Mapping[str, str] | None = None) -> None:
        use_whole_pyspark()
        props, errors = _inspected(config)
        self._input = self._converters(props, _WORKER | dict(worker or {}), "", errors)
        own = {key.removeprefix(_OUTPUT): value for key, value in props.items() if key.startswith(_OUTPUT)}
        self._output = self._readable(self._input | self._converters(own, {}, _OUTPUT, errors))
        if errors:
            raise ConfigError(errors, connector=props.get("name"))
        self.chain = Chain.from_props(props)

    @staticmethod
    def _readable(converters: Mapping[Role, Converter]) -> dict[Role, Converter]:
        """Plain JSON in place of formats for which a schema would have to be registered: a preview changes nothing."""
        plain = {role: JsonConverter({"schemas.enable": "false"}, is_key=role == "key") for role in _ROLES}
        return {role: plain[role] if converter.writes_by_topic else converter for role, converter in converters.items()}

    @staticmethod
    def _converters(
        props: Mapping[str, str], worker: Mapping[str, str], prefix: str, errors: dict[str, list[str]]
    ) -> dict[Role, Converter]:
        converters: dict[Role, Converter] = {}
        for role in _ROLES:
            if f"{role}.converter" not in {**worker, **props}:
                continue
            try:
                converters[role] = new_converter(props.get(f"{role}.converter"), props, worker, role)
            except ConfigError as error:
                errors |= {prefix + key: messages for key, messages in error.errors.items()}
        return converters

    def answers(self, records: list[Record]) -> list[Record]:
        """The answers, for a few shapes at a time: a plan has a column for each."""
        answers: list[Record] = []
        for batch in self.batches(records):
            answers += self.written(self.chain.apply(self.read(batch), self.scope()))
        return answers

    def batches(self, records: list[Record]) -> Iterator[list[Record]]:
        """The records in order, as many at a time as a plan has columns for their shapes."""
        batch: list[Record] = []
        shapes: set[Any] = set()
        for record in records:
            own = {
                (role, shape) for role in _PARTS for shape in self._input[role].shapes_of([self._named(role, record)])
            }
            if batch and len(shapes | own) > _SHAPES_MAX:
                yield batch
                batch, shapes = [], set()
            batch.append(record)
            shapes |= own
        if batch:
            yield batch

    def scope(self, *, is_sink: bool = True) -> Scope:
        """For the transformations."""
        return Scope(is_sink=is_sink, header_converter=self._output["header"])

    def read(self, records: list[Record]) -> RecordFrame:
        """A batch as the converters read it."""
        from pyspark.sql import functions as F

        session = _session()
        send_plugin_files(session.sparkContext)
        rows = session.createDataFrame([self._row(n, record) for n, record in enumerate(records)], _ROWS)
        key, value = PartDecoder("key", self._input["key"]), PartDecoder("value", self._input["value"])
        for decoder, role in ((key, "key"), (value, "value")):
            decoder.look_at([(_bytes(record.get(role)), _headers_of(record)) for record in records])
        frame = decoded_frame(rows, key, value, carried=("n",))
        return frame.with_df(frame.df.withColumn("error", F.coalesce("error", "header_error")))

    def written(self, frame: RecordFrame) -> list[Record]:
        """The answers for the records of a batch, in their order."""
        rows = encoded(frame, self._output["key"], self._output["value"]).collect()
        return [_answer(row, frame.constant_topic) for row in sorted(rows, key=lambda row: row.n)]

    def _row(self, n: int, record: Record) -> tuple[Any, ...]:
        headers, header_error = self._headers(record)
        return (
            n,
            record.get("topic", ""),
            record.get("partition"),
            record.get("offset", n),
            record.get("timestamp"),
            _bytes(record.get("key")),
            _bytes(record.get("value")),
            headers,
            header_error,
            None,
            self._schema_id("key", record),
            self._schema_id("value", record),
        )

    def _schema_id(self, role: Role, record: Record) -> bytes | None:
        header = id_header_of(self._input[role])
        return header.of(_headers_of(record)) if header else None

    def _named(self, role: Role, record: Record) -> bytes | None:
        if (schema_id := self._schema_id(role, record)) is not None:
            expect_ids(self._input[role])
        return named(_bytes(record.get(role)), schema_id)

    def _headers(self, record: Record) -> tuple[list[Cell] | None, str | None]:
        """The headers as the output's converter writes them, and why that is not possible."""
        given = [{"key": name, "value": value} for name, value in _headers_of(record)]
        headers, read_error = HeaderStage.of(self._input["header"]).decoded(given)
        cells, write_error = HeaderStage.of(self._output["header"]).encoded(headers)
        return cells, read_error or write_error


def _headers_of(record: Record) -> list[tuple[str, bytes | None]]:
    return [(header["key"], _bytes(header["value"])) for header in record.get("headers") or []]


def _bytes(data: Any) -> bytes | None:
    """A key, value or header value as it would be in Kafka; anything that is not a string is treated as JSON."""
    if data is None:
        return None
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return text.encode("utf-8", "surrogateescape")


def _text(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).decode("utf-8", "surrogateescape")


def _answer(row: Row, topic: str | None = None) -> Record:
    if row.error == DROPPED:
        return {"dropped": True}
    if row.error is not None:
        failure = record_error(row.error)
        if failure is None:
            return {"error": {"stage": "VALUE_CONVERTER", "class": None, "message": row.error}}
        return {"error": {"stage": failure.stage, "class": failure.exception, "message": failure.message}}
    cells = row.asDict()
    return {
        "topic": cells.get("topic", topic),
        "partition": cells.get("partition"),
        "timestamp": cells.get("timestamp"),
        "key": _text(cells.get("key")),
        "value": _text(row.value),
        "headers": [{"key": h.key, "value": _text(h.value)} for h in cells.get("headers") or []],
    }


@cache
def _session() -> SparkSession:
    """A session that interprets expressions; this process's Spark session, if there already is one."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    active = SparkSession.getActiveSession()
    if active is None:
        builder = SparkSession.builder.master("local[1]").appName("kconnect preview")
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.log.level": "ERROR",
            "spark.python.sql.dataFrameDebugging.enabled": "false",
        }.items():
            builder = builder.config(key, value)
        active = builder.getOrCreate()
    remember_lookups(active)
    session = active.newSession()
    for key, value in (SESSION_CONF | INTERPRETED).items():
        session.conf.set(key, value)
    return session


def main(arguments: Sequence[str]) -> int:
    """``python -m airflow_kconnect.runtime.preview``: a request as JSON on standard input, answers as JSON lines."""
    request = json.load(sys.stdin)
    try:
        answers = preview(request["config"], request["records"])
    except ConfigError as error:
        sys.stdout.write(json.dumps({"config_errors": error.errors}) + "\n")
        return error.exit_code
    except DataError as error:
        sys.stdout.write(json.dumps({"data_error": str(error)}) + "\n")
        return error.exit_code
    for answer in answers:
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
