"""The descriptors of a registered Protobuf schema, which ``protoc`` makes in a child process."""

from __future__ import annotations

import base64
import binascii
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.machine.environment import child_environment
from airflow_kconnect.registry.schema import RegisteredSchema

MAIN_FILE = "registered_schema.proto"
_OWN = Path(__file__).parent / "protos"
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+=*\s*")
# Java's serializers register maps of generated classes in this way, which protoc does not accept. Without the option
# they are repeated messages with the same bytes.
_MAP_ENTRY = re.compile(r"\boption\s+map_entry\s*=\s*true\s*;")
# Amazon's write their own options without the parentheses that protoc wants.
_BARE_OPTION = re.compile(r"(?<![\w.(])metadata\.metadata_(?:key|value)(?=\s*=)")
_WARNING = re.compile(r"warning:|^WARNING:|^[WI][0-9]{4} ")
_SECONDS_MAX = 60
_MISSING = "Protobuf schemas need the package grpcio-tools here: pip install 'airflow-kconnect[protobuf]'"


@lru_cache(maxsize=1000)
def compiled(schema: RegisteredSchema) -> bytes:
    """A serialized ``FileDescriptorSet``: the schema's file is the last one, those it imports come before.

    :param schema: its text is a .proto file, or a ``FileDescriptorProto`` in base64.
    :raises DataError: it is not a valid schema. :raises ConfigError: protoc is not installed.
    """
    serialized = _file_of_base64(schema.text)
    if serialized is None:
        return _protoc(schema.text, _references(schema))
    from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

    main = FileDescriptorProto.FromString(serialized)
    imports = "".join(f'import "{name}";\n' for name in main.dependency)
    files = FileDescriptorSet.FromString(_protoc(f'syntax = "proto3";\n{imports}', _references(schema)))
    del files.file[-1]
    main.name = MAIN_FILE
    files.file.append(main)
    serialized_set: bytes = files.SerializeToString()
    return serialized_set


def _file_of_base64(text: str) -> bytes | None:
    """A serialized ``FileDescriptorProto``, if the text is one."""
    if not _BASE64.fullmatch(text):
        return None
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.message import DecodeError

    try:
        data = base64.b64decode("".join(text.split()), validate=True)
        FileDescriptorProto.FromString(data)
    except (binascii.Error, DecodeError) as error:
        raise DataError(f"The Protobuf schema is neither a .proto file nor a descriptor in base64: {error}") from error
    return data


def _references(schema: RegisteredSchema) -> dict[str, str]:
    """The texts of all files that a schema imports, also indirectly, by their names."""
    texts: dict[str, str] = {}
    for name, other in schema.referred():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or name == MAIN_FILE:
            raise DataError(f"The Protobuf schema has a reference with the name {name!r}, which is not a file name")
        texts[name] = other.text
    return texts


def _protoc(text: str, references: dict[str, str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="protoc-") as folder:
        described = {name: file for name, content in references.items() if (file := _file_of_base64(content))}
        for name, content in {**references, MAIN_FILE: text}.items():
            if name in described:
                continue
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_BARE_OPTION.sub(r"(\g<0>)", _MAP_ENTRY.sub("", content)), encoding="utf-8")
        out = Path(folder, ".descriptors")
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", f"-I{_OWN}", "--include_imports"]
        if described:
            files = Path(folder, ".references")
            files.write_bytes(_file_set(described))
            command.append(f"--descriptor_set_in={files}")
        command += [f"--descriptor_set_out={out}", MAIN_FILE]
        try:
            done = subprocess.run(
                command, capture_output=True, env=child_environment(), timeout=_SECONDS_MAX, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise DataError(f"protoc needs more than {_SECONDS_MAX} s for the Protobuf schema") from error
        if done.returncode == 0:
            return out.read_bytes()
    problem = done.stderr.decode(errors="replace").replace(f"{folder}/", "")
    if "No module named" in problem:
        raise ConfigError({"value.converter": [_MISSING]})
    raise DataError(f"The Protobuf schema is not valid: {_in_one_line(problem)}")


def _file_set(described: Mapping[str, bytes]) -> bytes:
    """A serialized ``FileDescriptorSet`` of serialized files, with the names by which they are imported."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

    files = FileDescriptorSet()
    for name, serialized in described.items():
        file = FileDescriptorProto.FromString(serialized)
        file.name = name
        files.file.append(file)
    serialized_set: bytes = files.SerializeToString()
    return serialized_set


def _in_one_line(problem: str) -> str:
    """The errors without warnings, which are in lines of their own."""
    lines = [line.removeprefix(MAIN_FILE + ":").strip() for line in problem.splitlines()]
    errors = [line for line in lines if line and not _WARNING.search(line)]
    return "; ".join(errors)[:500] or "protoc failed without a message"
