"""Message types of serialized descriptors: created once in each process."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from airflow_kconnect.connect.errors import DataError

_EXTENSION = 1088
_GLUE_EXTENSIONS = {"metadata_key": 50001, "metadata_value": 50002}


@lru_cache(maxsize=1000)
def descriptor_pool(files: bytes) -> Any:
    """The ``DescriptorPool`` of a serialized ``FileDescriptorSet``.

    :raises DataError: the files do not fit together.
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(files).file:
        try:
            pool.AddSerializedFile(file.SerializeToString())
        except TypeError as error:
            raise DataError(f"The Protobuf schema is not valid: {error}") from error
    return pool


def file_names(files: bytes) -> list[str]:
    """The files of a serialized ``FileDescriptorSet``, in their order."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    return [file.name for file in FileDescriptorSet.FromString(files).file]


@lru_cache(maxsize=1000)
def message_type(files: bytes, name: str) -> Any:
    """The ``Descriptor`` of a message type.

    :param name: full name.
    """
    return descriptor_pool(files).FindMessageTypeByName(name)


def message_class(descriptor: Any) -> Any:
    """The class of the messages of a ``Descriptor``."""
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(descriptor)


def field_params(field: Any) -> dict[str, str]:
    """The ``params`` in the option ``(confluent.field_meta)`` of a field."""
    return dict(_options(field).field_meta.params)


def field_metadata(field: Any) -> tuple[str, str]:
    """The options ``metadata.metadata_key`` and ``metadata.metadata_value`` of a field; empty if there are none."""
    options = _options(field)
    return options.metadata_key, options.metadata_value


def _options(field: Any) -> Any:
    return _field_options_class().FromString(field.GetOptions().SerializeToString())


@lru_cache(maxsize=1)
def _field_options_class() -> Any:
    """A message with nothing of ``google.protobuf.FieldOptions`` but Confluent's and Amazon's extensions."""
    from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

    text, message = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_MESSAGE
    one, many = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED

    def field(name: str, number: int, type_: Any, label: Any = one, of: str | None = None) -> Any:
        return FieldDescriptorProto(name=name, number=number, type=type_, label=label, type_name=of)

    entry = DescriptorProto(name="ParamsEntry", field=[field("key", 1, text), field("value", 2, text)])
    entry.options.map_entry = True
    meta = DescriptorProto(name="Meta", nested_type=[entry])
    meta.field.append(field("params", 2, message, many, ".Meta.ParamsEntry"))
    options = DescriptorProto(name="Options", field=[field("field_meta", _EXTENSION, message, of=".Meta")])
    options.field.extend(field(name, number, text) for name, number in _GLUE_EXTENSIONS.items())
    pool = DescriptorPool()
    file = FileDescriptorProto(name="options.proto", syntax="proto3", message_type=[meta, options])
    pool.AddSerializedFile(file.SerializeToString())
    return message_class(pool.FindMessageTypeByName("Options"))
