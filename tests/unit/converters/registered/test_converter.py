"""What a converter asks its registry for when it writes, and what it tells tasks."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from uuid import UUID

import pytest

from airflow_kconnect.connect.data import INT64_SCHEMA, STRING_SCHEMA, ConnectSchema, Shape, struct
from airflow_kconnect.connect.errors import ConnectError, DataError, FencedError, InternalError, RetriableError
from airflow_kconnect.converters.avro.converter import AvroConverter
from airflow_kconnect.converters.registered.desk import ask
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.wire import GUID, ID
from airflow_kconnect.validation.connector import inspect_connector

RECORD = struct(("id", INT64_SCHEMA), name="shop.Order")
NONE: Mapping[str, str] = MappingProxyType({})
LATEST = RegisteredSchema("AVRO", '"long"')


class Schemas:
    """A registry that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []

    def register(self, subject: str, schema: RegisteredSchema) -> int:
        return self._note("register", subject)

    def lookup(self, subject: str, schema: RegisteredSchema) -> int:
        return self._note("lookup", subject)

    def latest(self, subject: str) -> tuple[int, RegisteredSchema]:
        return self._note("latest", subject), LATEST

    def latest_with(self, subject: str, metadata: Mapping[str, str]) -> tuple[int, RegisteredSchema]:
        return self._note("latest with", (subject, dict(metadata))), LATEST

    def schema_by_id(self, schema_id: int) -> RegisteredSchema:
        self._note("by id", schema_id)
        return LATEST

    def guid(self, schema_id: int) -> UUID:
        return UUID(int=schema_id)

    def _note(self, what: str, of: object) -> int:
        self.asked.append((what, of))
        return 7


def _converter(
    keys: Mapping[str, str] = NONE, *, is_key: bool = False, schema: ConnectSchema = RECORD
) -> tuple[AvroConverter, Schemas]:
    given = {key.replace("_", "."): value for key, value in keys.items()}
    converter, schemas = AvroConverter({"schema.registry.url": "http://127.0.0.1:1", **given}, is_key=is_key), Schemas()
    vars(converter)["_registry"] = schemas
    converter._shapes.append(Shape(schema))
    return converter, schemas


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        ({}, ("register", "t-value")),
        ({"use_latest_version": "true", "use_schema_id": "3"}, ("register", "t-value")),
        ({"auto_register_schemas": "false"}, ("lookup", "t-value")),
        ({"auto_register_schemas": "false", "use_latest_version": "true"}, ("latest", "t-value")),
        ({"auto_register_schemas": "false", "use_latest_version": "true", "use_schema_id": "3"}, ("by id", 3)),
        (
            {
                "auto_register_schemas": "false",
                "use_latest_version": "true",
                "use_latest_with_metadata": "major=2, owner = shop",
            },
            ("latest with", ("t-value", {"major": "2", "owner": "shop"})),
        ),
        ({"value_subject_name_strategy": "RecordNameStrategy"}, ("register", "shop.Order")),
        ({"value_subject_name_strategy": "TopicRecordNameStrategy"}, ("register", "t-shop.Order")),
    ],
    ids=[
        "register",
        "registration goes first",
        "look up",
        "latest",
        "id goes before latest",
        "metadata go before latest",
        "record",
        "topic record",
    ],
)
def test_what_the_keys_ask_for(keys: dict[str, str], asked: tuple[str, object]) -> None:
    converter, schemas = _converter(keys)

    converter._assign(0, "t")

    assert schemas.asked == [asked]


def test_a_guid_is_asked_for_if_it_is_written() -> None:
    converter, _ = _converter({"value_schema_id_serializer": "HeaderSchemaIdSerializer"})

    assert (converter._assign(0, "t")[0], converter.id_header_written) == (
        GUID.prefix(UUID(int=7)),
        "__value_schema_id",
    )


def test_ids_are_written_before_payloads_by_default() -> None:
    converter, _ = _converter()

    assert (converter._assign(0, "t")[0], converter.id_header_written) == (ID.prefix(7), None)


@pytest.mark.parametrize(
    ("keys", "name"),
    [({}, "__key_schema_id"), ({"key_schema_id_deserializer": "PrefixSchemaIdDeserializer"}, None)],
    ids=["header first", "before the payload only"],
)
def test_where_ids_are_looked_for(keys: dict[str, str], name: str | None) -> None:
    header = _converter(keys, is_key=True)[0].id_header

    assert (header and header.name) == name


def test_keys_have_a_subject_of_their_own() -> None:
    converter, schemas = _converter(is_key=True)

    converter._assign(0, "t")

    assert schemas.asked == [("register", "t-key")]


def test_a_schema_without_name_has_no_record_name() -> None:
    converter, _ = _converter({"value_subject_name_strategy": "RecordNameStrategy"}, schema=STRING_SCHEMA)

    with pytest.raises(DataError, match=r"`value\.subject\.name\.strategy` needs a record"):
        converter._assign(0, "t")


@pytest.mark.parametrize(
    "keys",
    [
        {"basic_auth_credentials_source": "USER_INFO", "basic_auth_user_info": "ann:s3cret"},
        {"bearer_auth_token": "s3cret"},
    ],
    ids=["password", "token"],
)
def test_tasks_get_no_credentials(keys: dict[str, str]) -> None:
    converter, _ = _converter(keys)

    assert b"s3cret" not in pickle.dumps(converter._format)


class TestFailures:
    """The registry has failed while tasks ran: which error is the run's?"""

    @pytest.fixture
    def failed(self) -> Iterator[AvroConverter]:
        converter, schemas = _converter()

        def register(subject: str, schema: RegisteredSchema) -> int:
            raise RetriableError("the registry is unavailable")

        schemas.register = register  # type: ignore[method-assign]
        yield converter

    def _run(self, converter: AvroConverter, error: ConnectError) -> None:
        with converter.serving("127.0.0.1"):
            assert converter._desk is not None
            with pytest.raises(RetriableError):
                ask(converter._desk.address, 0, "t")
            raise error

    @pytest.mark.parametrize("error", [RetriableError("the Spark job failed"), InternalError("a worker failed")])
    def test_a_failed_job_ends_with_the_registrys_error(self, failed: AvroConverter, error: ConnectError) -> None:
        with pytest.raises(RetriableError, match="the registry is unavailable"):
            self._run(failed, error)

    @pytest.mark.parametrize("error", [FencedError("a newer run"), DataError("a bad record")])
    def test_an_error_with_another_cause_stays(self, failed: AvroConverter, error: ConnectError) -> None:
        with pytest.raises(type(error), match=str(error)):
            self._run(failed, error)


def test_validation_asks_no_registry() -> None:
    keys = {
        "value.converter": "AvroConverter",
        "value.converter.schema.registry.url": f"http://127.0.0.1:{free_port()}",
    }
    config = {"name": "c", "connector.class": "FileStreamSink", "file": "/tmp/out", "topics": "t"}

    assert inspect_connector(config | keys).errors == {}


def test_it_does_not_convert_headers() -> None:
    keys = {"header.converter": "AvroConverter", "header.converter.schema.registry.url": "http://registry"}
    config = {"name": "c", "connector.class": "FileStreamSink", "file": "/tmp/out", "topics": "t"}

    assert inspect_connector(config | keys).errors == {
        "header.converter": [
            "Invalid value AvroConverter for configuration header.converter: it does not convert headers"
        ]
    }


@pytest.mark.parametrize("converter", ["AvroConverter", "JsonSchemaConverter", "ProtobufConverter"])
def test_validation_finds_keys_that_do_not_go_together(converter: str) -> None:
    keys = {
        "value.converter": converter,
        "value.converter.schema.registry.url": "http://registry",
        "value.converter.basic.auth.credentials.source": "USER_INFO",
    }
    config = {"name": "c", "connector.class": "FileStreamSink", "file": "/tmp/out", "topics": "t"}

    assert list(inspect_connector(config | keys).errors) == ["value.converter.basic.auth.user.info"]


def test_airflow_can_load_them_without_arrow_and_spark() -> None:
    formats = [f"{form}.{name}" for form in ("avro", "json_schema", "protobuf") for name in ("converter", "glue")]
    heavy = {"pyarrow", "numpy", "pyspark", "httpx", "fastavro", "jsonschema", "google.protobuf", "grpc_tools"}
    program = f"""
import importlib, sys
for name in {formats}:
    importlib.import_module(f"airflow_kconnect.converters.{{name}}")
print(sorted({heavy} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
