"""Connect schemas in the making, and what the attributes of an Avro schema add to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeGuard

from airflow_kconnect.connect.data import DECIMAL, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.schemas import names
from airflow_kconnect.converters.avro.schemas.schema import AvroSchema, AvroType


@dataclass
class Draft:
    """A Connect schema in the making, as ``SchemaBuilder``."""

    type: SchemaType
    name: str | None = None
    version: int | None = None
    optional: bool = False
    parameters: dict[str, str] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()
    key_schema: ConnectSchema | None = None
    value_schema: ConnectSchema | None = None

    def built(self, doc: str | None = None, default: Any = None) -> ConnectSchema:
        """The schema."""
        return ConnectSchema(
            self.type,
            optional=self.optional,
            default=default,
            name=self.name,
            version=self.version,
            doc=doc,
            parameters=self.parameters or None,
            fields=self.fields,
            key_schema=self.key_schema,
            value_schema=self.value_schema,
        )


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def doc_of(avro: AvroSchema, draft: Draft, field_doc: str | None, settings: AvroSettings) -> str | None:
    """The doc. That of a record or enum may become a parameter.

    :param field_doc: of the field whose type it is.
    """
    own = avro.props.get("connect.doc")
    own = own if isinstance(own, str) else None
    if not settings.discard_type_doc_default:
        return own if settings.connect_meta_data else None
    if settings.connect_meta_data and avro.doc is not None:
        draft.parameters[names.TYPE_RECORD_DOC] = avro.doc
    return next((doc for doc in (field_doc, avro.doc, own) if doc is not None), None)


def set_version(avro: AvroSchema, draft: Draft, registered: int | None) -> None:
    """Connect's version, or the registry's. :raises DataError: it is invalid."""
    own = avro.props.get("connect.version")
    if own is not None and not is_number(own):
        raise DataError(f"Invalid Connect version found: {own}")
    if own is not None and draft.version is not None and int(own) != draft.version:
        raise DataError(f"Mismatched versions: {draft.name} has version {draft.version}, not {own}")
    version = int(own) if is_number(own) else registered
    if draft.version is None and version is not None and version >= 0:
        draft.version = version


def add_parameters(avro: AvroSchema, draft: Draft, settings: AvroSettings) -> None:
    """Connect's parameters, and attributes whose name begins with ``avro``. :raises DataError: they are invalid."""
    given = avro.props.get("connect.parameters")
    if settings.connect_meta_data and given is not None:
        if not isinstance(given, dict):
            raise DataError("`connect.parameters` is not a JSON object")
        if not all(isinstance(value, str) for value in given.values()):
            raise DataError("a value in `connect.parameters` is not a string")
        draft.parameters.update(given)
    draft.parameters.update({name: str(value) for name, value in avro.props.items() if name.startswith("avro")})


def set_name(avro: AvroSchema, draft: Draft) -> None:
    """Connect's name, or that of a named type. :raises DataError: it is invalid."""
    name = avro.props.get("connect.name")
    if name is None:
        is_decimal = avro.type is AvroType.FIXED and draft.name == DECIMAL
        name = None if is_decimal else avro.name
    elif not isinstance(name, str):
        raise DataError(f"Invalid schema name: {name}")
    if name is None or name.startswith(f"{names.NAMESPACE}.{names.DEFAULT_NAME}"):
        return
    if draft.name not in (None, name):
        raise DataError(f"Mismatched names: the type is {draft.name}, `connect.name` is {name}")
    draft.name = name
