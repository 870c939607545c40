"""AWS Glue's schema registry, by moto, behind a proxy that can fail requests; and what others write with it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

import botocore.session
import fastavro

from airflow_kconnect.local.ports import LOOPBACK, free_port
from tests.support.faults import Exchange, Fault, FaultProxy

REGION = "eu-central-1"
VERSION_BYTES = 18
"""Header version, compression and UUID."""


@dataclass
class Glue:
    """A registry. :param url: of its API. :param proxy: what stands there."""

    url: str
    proxy: FaultProxy
    client: Any

    def keys(self, **more: str) -> dict[str, str]:
        """A converter's keys for it."""
        return {"region": REGION, "endpoint": self.url, **more}

    def register(self, name: str, schema: Mapping[str, Any] | str, form: str = "AVRO") -> UUID:
        """A version of a schema, made by Amazon's own client."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        try:
            answer = self.client.create_schema(
                SchemaName=name, DataFormat=form, Compatibility="BACKWARD", SchemaDefinition=text
            )
        except self.client.exceptions.AlreadyExistsException:
            schema_id = {"RegistryName": "default-registry", "SchemaName": name}
            answer = self.client.register_schema_version(SchemaId=schema_id, SchemaDefinition=text)
        return UUID(answer["SchemaVersionId"])

    def text(self, version: UUID) -> str:
        """The text of a version."""
        return str(self.client.get_schema_version(SchemaVersionId=str(version))["SchemaDefinition"])


@contextmanager
def glue() -> Iterator[Glue]:
    """A registry without schemas. The environment must have credentials, whichever."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(LOOPBACK, port := free_port(), verbose=False)
    server.start()
    try:
        with FaultProxy(f"http://{LOOPBACK}:{port}") as proxy:
            client = botocore.session.Session().create_client(
                "glue", region_name=REGION, endpoint_url=proxy.url, aws_access_key_id="t", aws_secret_access_key="t"
            )
            yield Glue(proxy.url, proxy, client)
    finally:
        server.stop()


def refuse_json(status: int, code: str, message: str = "no") -> Fault:
    """Refuse a request as Amazon's APIs in JSON do."""

    def act(exchange: Exchange) -> None:
        exchange.body()
        body = json.dumps({"__type": code, "Message": message}).encode()
        exchange.answer(status, body, {"Content-Type": "application/x-amz-json-1.1"})

    return act


def framed(version: UUID, payload: bytes, *, compressed: bool = False) -> bytes:
    """A message as Amazon's serializers write it."""
    return bytes([3, 5 if compressed else 0]) + version.bytes + (zlib.compress(payload) if compressed else payload)


def avro(schema: Mapping[str, Any], value: Any) -> bytes:
    """A payload, encoded by fastavro."""
    out = BytesIO()
    fastavro.schemaless_writer(out, dict(schema), value)
    return out.getvalue()


def split(message: bytes | None) -> tuple[int, int, UUID, bytes]:
    """Header version, compression and version id of a message, and what was to be written with them."""
    assert message is not None
    payload = message[VERSION_BYTES:]
    plain = zlib.decompress(payload) if message[1] == 5 else payload
    return message[0], message[1], UUID(bytes=message[2:VERSION_BYTES]), plain


def protobuf_class(folder: Path, text: str, name: str) -> Any:
    """The class of messages of a type, from what protoc makes of a .proto file; a name without the package."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message_factory import GetMessages
    from grpc_tools import protoc

    (folder / "schema.proto").write_text(text)
    assert (
        protoc.main(["", f"-I{folder}", "--include_imports", f"--descriptor_set_out={folder}/set", "schema.proto"]) == 0
    )
    files = FileDescriptorSet.FromString((folder / "set").read_bytes()).file
    return GetMessages(files)[".".join(filter(None, [files[-1].package, name]))]


def opened(glue: Glue, message: bytes | None) -> tuple[int, int, UUID, Any]:
    """The same of a message in Avro, with its value as fastavro reads it."""
    header, compression, version, plain = split(message)
    return header, compression, version, fastavro.schemaless_reader(BytesIO(plain), json.loads(glue.text(version)))
